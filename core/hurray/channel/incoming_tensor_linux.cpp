#ifdef __linux__
#include "core/hurray/channel/incoming_tensor.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <limits>
#include <new>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/channel/channel_socket.hpp"
#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/io/stream_descriptor.hpp"
#include "core/hurray/io/system_error.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// Pages of memory start at multiples of this on every system: what is aligned to more depends on where it is mapped.
constexpr std::uint64_t smallest_page = 4096;

class ReceivedStorage final : public Storage {
public:
    ReceivedStorage(std::shared_ptr<SharedObject> object, std::shared_ptr<Lease> lease) noexcept
        : lease_(std::move(lease)), object_(std::move(object)) {}

    const SharedBacking* shared_backing() const noexcept override { return &object_->backing(); }

private:
    bool dispose() noexcept override {
        delete this;
        return true;
    }

    // The mapping ends before the peer is told.
    std::shared_ptr<Lease> lease_;
    std::shared_ptr<SharedObject> object_;
};

Result<void> check_place(std::size_t i, const BufferPlace& place, const BufferHandle& handle, std::size_t objects) {
    if (place.size != handle.byte_size) {
        return fail(Status::invalid_format, Error::no_offset, "buffer %zu: size: %llu bytes, but the descriptor says %llu", i,
                    static_cast<ull>(place.size), static_cast<ull>(handle.byte_size));
    }
    if (place.size == 0) {
        if (place.object == BufferPlace::no_object && place.offset == 0 && place.prefix == 0) return {};
        return fail(Status::invalid_format, Error::no_offset, "buffer %zu: expected no object for a buffer without bytes", i);
    }
    if (place.object >= objects) {
        return fail(Status::invalid_format, Error::no_offset, "buffer %zu: object: expected less than %zu, got %u", i, objects,
                    place.object);
    }
    if (!checked_add(place.offset, place.size)) {
        return fail(Status::invalid_format, Error::no_offset, "buffer %zu: offset: %llu and %llu bytes wrap around", i,
                    static_cast<ull>(place.offset), static_cast<ull>(place.size));
    }
    const std::uint64_t alignment = std::min<std::uint64_t>(std::max(handle.alignment, minimum_alignment), smallest_page);
    if (place.offset % alignment != 0) {
        return fail(Status::invalid_format, Error::no_offset, "buffer %zu: offset: expected a multiple of %llu, got %llu", i,
                    static_cast<ull>(alignment), static_cast<ull>(place.offset));
    }
    if (place.prefix >= minimum_alignment || place.prefix > place.size || (i != 0 && place.prefix != 0)) {
        return fail(Status::invalid_format, Error::no_offset,
                    "buffer %zu: prefix: expected at most 63 bytes within the first buffer, got %u", i, place.prefix);
    }
    return {};
}

Result<void> check_handle(std::size_t i, const BufferHandle& handle, std::uint64_t& total, const IncomingLimits& limits) {
    if (handle.sync_mode != sync_mode::producer_synced) {
        return fail(Status::invalid_sync_mode, Error::no_offset,
                    "buffer %zu: sync_mode: %02x, expected 00 (PRODUCER_SYNCED), the only one in a channel", i, handle.sync_mode);
    }
    if (handle.device_tag != device_tag::cpu || handle.memory_class != memory_class::standard) {
        return fail(Status::unsupported, Error::no_offset,
                    "buffer %zu: memory class %02x of device %02x: expected plain memory of the CPU", i, handle.memory_class,
                    handle.device_tag);
    }
    if (handle.alignment > limits.max_alignment) {
        return fail(Status::limit_exceeded, Error::no_offset, "buffer %zu: alignment: %u bytes, the limit is %u", i,
                    handle.alignment, limits.max_alignment);
    }
    const auto sum = checked_add(total, handle.byte_size);
    if (!sum || *sum > limits.max_tensor_bytes) {
        return fail(Status::limit_exceeded, Error::no_offset,
                    "buffer %zu: byte_size: %llu bytes make the tensor larger than the limit of %llu", i,
                    static_cast<ull>(handle.byte_size), static_cast<ull>(limits.max_tensor_bytes));
    }
    total = *sum;
    return {};
}

}  // namespace

Result<CheckedTensorMessage> check_tensor_message(const TensorMessage& message, const IncomingLimits& limits) {
    DecodeOptions options{.private_tags = limits.private_tags, .mode = limits.mode};
    options.max_length = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(limits.max_descriptor_length, std::numeric_limits<std::uint32_t>::max()));
    auto descriptor = decode(message.descriptor, options);
    if (!descriptor) return std::unexpected(descriptor.error());
    if (descriptor->encoded_length() != message.descriptor.size()) {
        return fail(Status::invalid_format, descriptor->encoded_length(), "descriptor: expected nothing behind its %zu bytes",
                    static_cast<std::size_t>(descriptor->encoded_length()));
    }
    if (descriptor->is_unread()) {
        return fail(Status::unsupported, Error::no_offset, "layout_tag: %02X is not known, and so is what its buffers are",
                    descriptor->layout());
    }
    const auto table = descriptor->buffers();
    if (table.size() != message.buffers.size()) {
        return fail(Status::invalid_format, Error::no_offset, "buffer_count: expected %zu as the descriptor has, got %zu",
                    table.size(), message.buffers.size());
    }
    std::uint64_t total = 0;
    std::vector<bool> used(message.object_count);
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (auto checked = check_handle(i, table[i], total, limits); !checked) return std::unexpected(checked.error());
        const BufferPlace& place = message.buffers[i];
        if (auto checked = check_place(i, place, table[i], message.object_count); !checked) return std::unexpected(checked.error());
        if (place.object != BufferPlace::no_object) used[place.object] = true;
    }
    if (const auto idle = std::ranges::find(used, false); idle != used.end()) {
        return fail(Status::invalid_format, Error::no_offset, "object %td: expected a buffer in it", idle - used.begin());
    }
    if (!message.buffers.empty() && message.buffers[0].prefix != 0) {
        // Whether elements reach into the prefix is what a stream looks for when it leaves the prefix out.
        if (const auto without = encode_for_stream(*descriptor, message.buffers[0].prefix); !without) {
            return fail(Status::invalid_format, Error::no_offset, "buffer 0: %s", without.error().message);
        }
    }
    return CheckedTensorMessage{*std::move(descriptor), message.buffers};
}

Result<std::shared_ptr<SharedObject>> ObjectCache::map(int fd, std::uint32_t alignment, std::uint64_t offset, std::uint64_t size) {
    const auto fits = [&](const SharedObject& object) { return offset <= object.size() && size <= object.size() - offset; };
    struct stat status {};
    if (::fstat(fd, &status) != 0) return std::unexpected(system_error("stat what was received", errno));
    const Key key(status.st_dev, status.st_ino);
    for (auto [at, end] = objects_.equal_range(key); at != end; ++at) {
        auto object = at->second.lock();
        if (object && fits(*object) && (reinterpret_cast<std::uintptr_t>(object->base()) + offset) % alignment == 0) return object;
    }
    auto own = duplicate_fd(fd);
    if (!own) return std::unexpected(own.error());
    auto object = SharedObject::map(std::move(*own), alignment, offset % alignment);
    if (!object) return object;
    if (!fits(**object)) {
        return fail(Status::invalid_format, Error::no_offset, "object: expected %llu bytes from %llu, it has %llu",
                    static_cast<ull>(size), static_cast<ull>(offset), static_cast<ull>((*object)->size()));
    }
    if (objects_.size() >= sweep_at_) {
        std::erase_if(objects_, [](const auto& entry) { return entry.second.expired(); });
        sweep_at_ = std::max<std::size_t>(64, 2 * objects_.size());
    }
    objects_.emplace(key, *object);
    return object;
}

Result<Tensor> incoming_tensor(const TensorMessage& message, const std::vector<FdHolder>& files, const IncomingLimits& limits,
                               ObjectCache& cache, std::shared_ptr<Lease> lease) {
    auto checked = check_tensor_message(message, limits);
    if (!checked) return std::unexpected(checked.error());
    Tensor tensor{std::move(checked->descriptor), {}};
    const auto table = tensor.descriptor.buffers();
    tensor.buffers.reserve(table.size());
    for (std::size_t i = 0; i < table.size(); ++i) {
        const BufferPlace& place = checked->buffers[i];
        Buffer buffer;
        buffer.handle = table[i];
        buffer.read_only = true;
        if (place.size != 0) {
            auto object = cache.map(files[place.object].get(), std::max(table[i].alignment, minimum_alignment), place.offset, place.size);
            if (!object) {
                return fail(object.error().code, Error::no_offset, "buffer %zu: %s", i, object.error().message);
            }
            if (limits.sealed_only && !(*object)->sealed()) {
                return fail(Status::unsupported, Error::no_offset, "buffer %zu: expected memory that is sealed against changes", i);
            }
            buffer.data = (*object)->base() + place.offset;
            buffer.prefix = place.prefix;
            buffer.storage = Ref<Storage>::adopt(new ReceivedStorage(std::move(*object), lease));
        }
        tensor.buffers.push_back(std::move(buffer));
    }
    return tensor;
}

}  // namespace hurray
#endif

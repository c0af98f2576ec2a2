#include "core/hurray/io/stream_reader.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/io/growing_buffer.hpp"
#include "core/hurray/io/stream_descriptor.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// What a descriptor may be without its bytes being there: nearly every one is shorter.
constexpr std::size_t descriptor_step = 64 * 1024;

std::unexpected<Error> ends_inside(std::uint64_t offset, const char* part, std::uint64_t have, std::uint64_t expected) {
    return fail(Status::invalid_format, offset, "the stream ends inside a tensor: %llu of %llu bytes of its %s",
                static_cast<ull>(have), static_cast<ull>(expected), part);
}

// Pinned or unified is what the memory was at the sender; here it is plain memory.
Result<Descriptor> plain_memory(Descriptor descriptor) {
    const auto table = descriptor.buffers();
    const bool plain = std::all_of(table.begin(), table.end(), [](const BufferHandle& handle) {
        return handle.memory_class == memory_class::standard;
    });
    if (plain) return descriptor;
    const auto bytes = encode_for_stream(descriptor, 0);
    if (!bytes) return std::unexpected(bytes.error());
    return decode(*bytes, whatever_was_accepted);
}

}  // namespace

StreamReader::StreamReader(std::unique_ptr<ByteSource> source, const StreamLimits& limits) noexcept
    : source_(std::move(source)), limits_(limits) {}

Result<std::optional<Tensor>> StreamReader::next() {
    if (failure_) return std::unexpected(*failure_);
    if (reading_) return fail(Status::out_of_memory, offset_, "memory ran out in the middle of an earlier tensor");
    reading_ = true;
    auto tensor = read_tensor();
    reading_ = false;
    if (!tensor) failure_ = tensor.error();
    return tensor;
}

void StreamReader::stop(const Error& error) noexcept {
    if (!failure_) failure_ = error;
}

Result<std::optional<Descriptor>> StreamReader::read_descriptor() {
    const std::uint64_t start = offset_;
    // Errors of the codec count from the start of the descriptor.
    const auto in_stream = [&](Error error) {
        if (error.offset != Error::no_offset) error.offset += start;
        return std::unexpected(error);
    };
    std::vector<std::byte> bytes(fixed_header_size);
    const auto header = read_fully(*source_, bytes);
    if (!header) return std::unexpected(header.error());
    offset_ += *header;
    if (*header == 0) return std::nullopt;
    if (*header < bytes.size()) return ends_inside(offset_, "descriptor", *header, fixed_header_size);

    DecodeOptions options{.private_tags = limits_.private_tags, .mode = limits_.mode};
    options.max_length = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(limits_.max_descriptor_length, std::numeric_limits<std::uint32_t>::max()));
    const auto length = peek_length(bytes, options);
    if (!length) return in_stream(length.error());
    while (bytes.size() < *length) {
        const std::size_t have = bytes.size();
        bytes.resize(std::min<std::size_t>(*length, std::max(descriptor_step, have * 2)));
        const auto body = read_fully(*source_, std::span(bytes).subspan(have));
        if (!body) return std::unexpected(body.error());
        offset_ += *body;
        if (have + *body < bytes.size()) return ends_inside(offset_, "descriptor", have + *body, *length);
    }
    auto descriptor = decode(bytes, options);
    if (!descriptor) return in_stream(descriptor.error());
    return std::optional<Descriptor>(*std::move(descriptor));
}

Result<void> StreamReader::check_table(const Descriptor& descriptor, std::uint64_t start) const {
    if (descriptor.is_unread()) {
        return fail(Status::unsupported, start,
                    "layout_tag: %02X is not known, and so is how long its buffers are: the stream cannot be read on",
                    descriptor.layout());
    }
    const auto table = descriptor.buffers();
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const BufferHandle& handle = table[i];
        if (handle.sync_mode != sync_mode::producer_synced) {
            return fail(Status::invalid_sync_mode, start,
                        "buffer %zu: sync_mode: %02x, expected 00 (PRODUCER_SYNCED), the only one in a stream", i,
                        handle.sync_mode);
        }
        if (handle.device_tag != device_tag::cpu) {
            return fail(Status::unsupported, start,
                        "buffer %zu: device_tag: %02x, expected 00 (CPU): a stream is read into the CPU's memory", i,
                        handle.device_tag);
        }
        if (handle.alignment > limits_.max_alignment) {
            return fail(Status::limit_exceeded, start, "buffer %zu: alignment: %u bytes, the limit is %u", i,
                        handle.alignment, limits_.max_alignment);
        }
        const auto sum = checked_add(total, handle.byte_size);
        if (!sum || *sum > limits_.max_tensor_bytes) {
            return fail(Status::limit_exceeded, start,
                        "buffer %zu: byte_size: %llu bytes make the tensor larger than the limit of %llu", i,
                        static_cast<ull>(handle.byte_size), static_cast<ull>(limits_.max_tensor_bytes));
        }
        total = *sum;
    }
    return {};
}

Result<Buffer> StreamReader::read_buffer(const BufferHandle& handle, std::size_t index) {
    GrowingBuffer memory(handle.byte_size, handle.alignment, source_->remaining().value_or(0));
    std::uint64_t have = 0;
    while (!memory.full()) {
        const auto space = memory.space();
        if (!space) return std::unexpected(space.error());
        const auto count = source_->read_some(*space);
        if (!count) return std::unexpected(count.error());
        if (*count == 0) {
            std::array<char, 32> part{};
            std::snprintf(part.data(), part.size(), "buffer %zu", index);
            return ends_inside(offset_, part.data(), have, handle.byte_size);
        }
        memory.fill(*count);
        have += *count;
        offset_ += *count;
    }
    auto buffer = memory.finish();
    if (buffer) buffer->handle.alignment = handle.alignment;
    return buffer;
}

Result<std::optional<Tensor>> StreamReader::read_tensor() {
    const std::uint64_t start = offset_;
    auto descriptor = read_descriptor();
    if (!descriptor) return std::unexpected(descriptor.error());
    if (!*descriptor) return std::nullopt;
    if (auto checked = check_table(**descriptor, start); !checked) return std::unexpected(checked.error());

    auto own = plain_memory(**std::move(descriptor));
    if (!own) return std::unexpected(own.error());
    Tensor tensor{*std::move(own), {}};
    tensor.buffers.reserve(tensor.descriptor.buffers().size());
    for (const BufferHandle& handle : tensor.descriptor.buffers()) {
        auto buffer = read_buffer(handle, tensor.buffers.size());
        if (!buffer) return std::unexpected(buffer.error());
        tensor.buffers.push_back(*std::move(buffer));
    }
    return std::optional<Tensor>(std::move(tensor));
}

}  // namespace hurray

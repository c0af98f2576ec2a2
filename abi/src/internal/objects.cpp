#include "abi/src/internal/objects.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/layout/address.hpp"
#include "core/hurray/layout/dense_view.hpp"

HurrayBufferList::~HurrayBufferList() {
    // Each slot is nulled before its buffer ends: a release callback that fails or comes back cannot end it twice.
    for (HurrayBuffer*& slot : slots) {
        if (HurrayBuffer* buffer = std::exchange(slot, nullptr)) hurray::abi::destroy_buffer(buffer, false);
    }
}

HurrayTensor::~HurrayTensor() {
    if (buffers != nullptr) hurray::abi::destroy_list(std::exchange(buffers, nullptr), false);
}

namespace hurray::abi {
namespace {

std::unexpected<Error> reaches_into_prefix(std::uint64_t lowest, std::uint32_t prefix) {
    return fail(Status::invalid_layout, Error::no_offset,
                "elements: the lowest starts at byte %llu of buffer 0, expected none in its first %u bytes, which belong to "
                "somebody else",
                static_cast<unsigned long long>(lowest), prefix);
}

bool has_byte_offset(std::uint8_t layout) {
    return (layout >= layout_tag::row_major && layout <= layout_tag::morton) || layout == layout_tag::hilbert;
}

// The bytes before memory that was lent belong to somebody else: no element may lie there, and only the data of a dense
// tensor has a byte_offset that leads past them. (Where there is a dense view, prepare_view sees to the lowest element.)
Result<void> check_prefixes(const Descriptor& descriptor, const HurrayBufferList& list) {
    for (std::size_t i = 0; i < list.slots.size(); ++i) {
        const std::uint32_t prefix = list.slots[i]->value.prefix;
        if (prefix == 0) continue;
        if (i != 0 || !has_byte_offset(descriptor.layout())) {
            return fail(Status::misaligned, Error::no_offset,
                        "buffer %zu: its first %u bytes belong to somebody else, and it has no byte_offset that leads past them; "
                        "expected memory that is aligned to %u bytes",
                        i, prefix, list.slots[i]->value.handle.alignment);
        }
        std::uint64_t lowest = descriptor.byte_offset();
        if (descriptor.layout() == layout_tag::tiled && !descriptor.is_dynamic() && !descriptor.is_opaque()) {
            auto addresses = AddressMap::make(descriptor);
            if (!addresses) return std::unexpected(addresses.error());
            if (addresses->element_count() == 0) continue;
            lowest = addresses->byte_of(addresses->lowest());
        }
        const bool has_view = has_dense_view(descriptor);
        if (!has_view && lowest < prefix) return reaches_into_prefix(lowest, prefix);
    }
    return {};
}

// The view of a dense tensor; anything else has none, which hurray_tensor_view reports.
Result<void> prepare_view(HurrayTensor& tensor, const HurrayBufferList& list) {
    const Descriptor& descriptor = tensor.descriptor.value;
    if (!has_dense_view(descriptor)) return {};
    auto dense = dense_view(descriptor);
    if (!dense) return std::unexpected(dense.error());
    const std::uint32_t bits = element_type_info(descriptor).bits;
    const HurrayBuffer& data = *list.slots[0];
    // Negative strides must not lead into the bytes before memory that was lent.
    const std::uint64_t lowest = dense->byte_offset - dense->bytes_below;
    if (dense->element_count != 0 && lowest < data.value.prefix) return reaches_into_prefix(lowest, data.value.prefix);
    HurrayView& view = tensor.view;
    view.data = data.value.data == nullptr ? nullptr : data.value.data + descriptor.byte_offset();
    view.byte_size = dense->byte_size;
    view.bytes_below = dense->bytes_below;
    view.element_count = dense->element_count;
    view.element_type = descriptor.element_type();
    view.layout = descriptor.layout();
    view.device = data.value.handle.device_tag;
    view.rank = static_cast<std::uint8_t>(descriptor.rank());
    view.bits = bits;
    view.flags = (data.value.read_only ? HURRAY_VIEW_READ_ONLY : 0) | (dense->contiguous ? HURRAY_VIEW_CONTIGUOUS : 0) |
                 (bits < 8 ? HURRAY_VIEW_PACKED : 0) |
                 ((descriptor.flags() & descriptor_flag::quantization) != 0 ? HURRAY_VIEW_QUANTIZED : 0);
    if (descriptor.rank() == 0) return {};
    // Every dimension is known to be below 2^63 (dense_view checks it), so the signed form has the same values.
    view.shape = reinterpret_cast<const std::int64_t*>(descriptor.shape().data());
    if (dense->contiguous) return {};
    if (!descriptor.strides().empty()) {
        view.strides = descriptor.strides().data();
        return {};
    }
    tensor.strides = std::make_unique<std::int64_t[]>(descriptor.rank());
    view.strides = tensor.strides.get();
    return dense_strides(descriptor, std::span(tensor.strides.get(), descriptor.rank()));
}

Result<void> check_buffers(const Descriptor& descriptor, const HurrayBufferList& list) {
    const auto table = descriptor.buffers();
    if (list.slots.size() != table.size()) {
        return fail(Status::invalid_layout, Error::no_offset, "buffer list: the descriptor has %zu buffers, the list %zu",
                    table.size(), list.slots.size());
    }
    for (std::size_t i = 0; i < table.size(); ++i) {
        const BufferHandle& have = list.slots[i]->value.handle;
        if (have.byte_size < table[i].byte_size) {
            return fail(Status::buffer_too_small, Error::no_offset, "buffer %zu: the descriptor asks for %llu bytes, it has %llu",
                        i, static_cast<unsigned long long>(table[i].byte_size),
                        static_cast<unsigned long long>(have.byte_size));
        }
        if (have.device_tag != table[i].device_tag || have.memory_class != table[i].memory_class) {
            return fail(Status::invalid_type, Error::no_offset,
                        "buffer %zu: the descriptor names device %u and memory class %u, the buffer has %u and %u", i,
                        table[i].device_tag, table[i].memory_class, have.device_tag, have.memory_class);
        }
        if (have.sync_mode != table[i].sync_mode) {
            return fail(Status::sync_mode_mismatch, Error::no_offset,
                        "buffer %zu: the descriptor names sync mode %u, the buffer has %u", i, table[i].sync_mode,
                        have.sync_mode);
        }
        const auto address = reinterpret_cast<std::uintptr_t>(list.slots[i]->value.data);
        if (table[i].byte_size != 0 && address % table[i].alignment != 0) {
            return fail(Status::misaligned, Error::no_offset, "buffer %zu: its address is no multiple of the declared %u", i,
                        table[i].alignment);
        }
    }
    return {};
}

}  // namespace

Result<void> check_address_range(const void* data, std::uint64_t byte_size) {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    if (byte_size != 0 && byte_size - 1 > std::numeric_limits<std::uintptr_t>::max() - address) {
        return fail(Status::invalid_argument, Error::no_offset, "byte_size: %llu bytes from data wrap around the address space",
                    static_cast<unsigned long long>(byte_size));
    }
    return {};
}

Result<Buffer> host_buffer(void* data, std::uint64_t byte_size, std::uint8_t read_only) {
    if (read_only > 1) {
        return fail(Status::invalid_argument, Error::no_offset, "read_only: expected 0 or 1, got %u", read_only);
    }
    if (auto checked = check_address_range(data, byte_size); !checked) return std::unexpected(checked.error());
    Buffer buffer = wrap_host_memory(data, byte_size, {});
    buffer.read_only = read_only == 1;
    return buffer;
}

Result<HurrayBuffer*> lend(Buffer buffer, void* data, HurrayReleaseCallback release, void* context) {
    std::unique_ptr<HurrayBuffer> handle(new HurrayBuffer(std::move(buffer)));
    handle->lent = new LentStorage(release, data, context);
    handle->value.storage = Ref<Storage>::adopt(handle->lent);
    return handle.release();
}

Result<void> check_sole_lender(const HurrayBuffer& buffer) {
    if (buffer.lent == nullptr) {
        return fail(Status::invalid_argument, Error::no_offset, "buffer: its memory was not lent with a release callback");
    }
    if (buffer.lent->references() != 1) {
        return fail(Status::invalid_argument, Error::no_offset, "buffer: shared already, set the policy before sharing");
    }
    return {};
}

HurrayBuffer* share_buffer(const HurrayBuffer& buffer) {
    auto* share = new HurrayBuffer(buffer.value);
    share->context_owner = buffer.context_owner;
    share->lent = buffer.lent;
    return share;
}

bool destroy_buffer(HurrayBuffer* buffer, bool deferred) noexcept {
    // The handle ends before its memory is released, so that a release callback sees the handle gone.
    Storage* storage = buffer->value.storage.detach();
    Storage* owner = buffer->context_owner.detach();
    SyncPayload sync = std::exchange(buffer->sync, SyncPayload{});
    retire(buffer);
    // Every part is ended, whether or not the one before it failed. The release of an event may run on any thread.
    bool clean = sync.end();
    clean = drop(storage, deferred) && clean;
    return drop(owner, deferred) && clean;
}

bool destroy_list(HurrayBufferList* list, bool deferred) noexcept {
    list->closing = true;
    bool clean = true;
    for (HurrayBuffer*& slot : list->slots) {
        if (HurrayBuffer* buffer = std::exchange(slot, nullptr)) clean = destroy_buffer(buffer, deferred) && clean;
    }
    retire(list);
    return clean;
}

bool destroy_context(HurrayTensorContext* context, bool deferred) noexcept {
    Storage* owner = context->owner.detach();
    retire(context);
    return drop(owner, deferred);
}

bool destroy_tensor(HurrayTensor* tensor, bool deferred) noexcept {
    HurrayBufferList* list = std::exchange(tensor->buffers, nullptr);
    Storage* owner = tensor->context_owner.detach();
    retire(tensor);
    const bool clean = list == nullptr || destroy_list(list, deferred);
    return drop(owner, deferred) && clean;
}

Result<HurrayTensor*> make_tensor(const Descriptor& descriptor, HurrayBufferList*& list) {
    if (descriptor.is_unread()) {
        return fail(Status::unsupported, Error::no_offset,
                    "descriptor: layout %02X is not known, and so is what its buffers are: there can be no tensor of it",
                    descriptor.layout());
    }
    if (auto checked = check_buffers(descriptor, *list); !checked) return std::unexpected(checked.error());
    auto tensor = std::make_unique<HurrayTensor>(descriptor);
    if (auto checked = check_prefixes(descriptor, *list); !checked) return std::unexpected(checked.error());
    if (auto prepared = prepare_view(*tensor, *list); !prepared) return std::unexpected(prepared.error());
    // From here on nothing fails: the list and its buffers become part of the tensor.
    tensor->buffers = std::exchange(list, nullptr);
    tensor->buffers->borrowed = true;
    return tensor.release();
}

Result<HurrayTensor*> make_tensor(Tensor&& source) {
    auto list = std::make_unique<HurrayBufferList>();
    list->slots.reserve(source.buffers.size());
    for (Buffer& buffer : source.buffers) {
        list->slots.push_back(new HurrayBuffer(std::move(buffer)));
        list->slots.back()->borrowed = true;
    }
    HurrayBufferList* raw = list.get();
    auto tensor = make_tensor(source.descriptor, raw);
    if (tensor) (void)list.release();
    return tensor;
}

std::unique_ptr<HurrayBufferList> share_list(const HurrayBufferList& list) {
    auto shares = std::make_unique<HurrayBufferList>();
    shares->slots.reserve(list.slots.size());
    for (const HurrayBuffer* buffer : list.slots) {
        shares->slots.push_back(share_buffer(*buffer));
        shares->slots.back()->borrowed = true;
    }
    return shares;
}

HurrayBufferList* take_list_back(HurrayTensor* tensor) noexcept {
    HurrayBufferList* list = std::exchange(tensor->buffers, nullptr);
    list->borrowed = false;
    retire(tensor);
    return list;
}

Tensor core_tensor(const HurrayTensor& tensor) {
    Tensor result{tensor.descriptor.value, {}};
    result.buffers.reserve(tensor.buffers->slots.size());
    const auto table = tensor.descriptor.value.buffers();
    for (std::size_t i = 0; i < tensor.buffers->slots.size(); ++i) {
        Buffer buffer = tensor.buffers->slots[i]->value;
        // A caller's buffer may be longer than the table says, see check_buffers; what is behind is no part of the tensor.
        buffer.handle.byte_size = table[i].byte_size;
        buffer.prefix = static_cast<std::uint32_t>(std::min<std::uint64_t>(buffer.prefix, table[i].byte_size));
        result.buffers.push_back(std::move(buffer));
    }
    return result;
}

}  // namespace hurray::abi

#include "core/hurray/validation/buffer_check.hpp"

#include <cstdint>

#include "core/hurray/layout/address.hpp"
#include "core/hurray/layout/private_layout.hpp"
#include "core/hurray/layout/tiled.hpp"

namespace hurray::validation_detail {
namespace {

using ull = unsigned long long;

bool is_dense(const Descriptor& descriptor) noexcept {
    switch (descriptor.layout()) {
        case layout_tag::row_major:
        case layout_tag::col_major:
        case layout_tag::strided:
        case layout_tag::tiled:
        case layout_tag::morton:
        case layout_tag::hilbert:
            return true;
        default:
            return false;
    }
}

// One buffer against its entry of the table.
class BufferCheck {
  public:
    BufferCheck(const Descriptor& descriptor, std::size_t index, const Buffer& buffer) noexcept
        : descriptor_(descriptor), index_(index), buffer_(buffer), declared_(descriptor.buffers()[index]) {}

    Result<void> check() const {
        if (auto checked = check_handle(); !checked) return checked;
        if (auto checked = check_size(); !checked) return checked;
        if (auto checked = check_place(); !checked) return checked;
        if (declared_.byte_size == 0) return {};
        if (buffer_.data == nullptr) {
            return fail(Status::null_pointer, Error::no_offset, "buffer %zu: expected memory for %llu bytes, got none",
                        index_, static_cast<ull>(declared_.byte_size));
        }
        if (auto checked = check_alignment(declared_.alignment, "the descriptor"); !checked) return checked;
        if (auto checked = check_alignment(buffer_.handle.alignment, "its handle"); !checked) return checked;
        return check_prefix();
    }

  private:
    // The rules for a handle of its own, which is not that of the descriptor.
    Result<void> check_handle() const {
        const auto checked = check_buffer_handle(buffer_.handle, 0, PrivateTags::allow);
        if (checked) return {};
        return fail(checked.error().code, Error::no_offset, "buffer %zu: %s", index_, checked.error().message);
    }

    Result<void> check_size() const {
        const std::uint64_t size = buffer_.handle.byte_size;
        if (size < declared_.byte_size) {
            return fail(Status::buffer_too_small, Error::no_offset,
                        "buffer %zu: byte_size: expected at least %llu as the descriptor says, got %llu", index_,
                        static_cast<ull>(declared_.byte_size), static_cast<ull>(size));
        }
        const auto own = layout_buffer_count(descriptor_.layout(), descriptor_.rank());
        if (own && index_ >= *own && size != declared_.byte_size) {
            return fail(Status::invalid_quantization, Error::no_offset,
                        "buffer %zu: byte_size: expected exactly the %llu bytes of its scales or zero points, got %llu",
                        index_, static_cast<ull>(declared_.byte_size), static_cast<ull>(size));
        }
        if (buffer_.prefix > declared_.byte_size) {
            return fail(Status::invalid_argument, Error::no_offset,
                        "buffer %zu: prefix: expected at most the %llu bytes of the buffer, got %u", index_,
                        static_cast<ull>(declared_.byte_size), buffer_.prefix);
        }
        return {};
    }

    Result<void> check_place() const {
        const BufferHandle& handle = buffer_.handle;
        if (handle.device_tag != declared_.device_tag) {
            return fail(Status::invalid_type, Error::no_offset,
                        "buffer %zu: device_tag: expected %02X as the descriptor says, got %02X", index_,
                        declared_.device_tag, handle.device_tag);
        }
        if (handle.memory_class != declared_.memory_class) {
            return fail(Status::invalid_type, Error::no_offset,
                        "buffer %zu: memory_class: expected %02X as the descriptor says, got %02X", index_,
                        declared_.memory_class, handle.memory_class);
        }
        if (handle.sync_mode != declared_.sync_mode) {
            return fail(Status::sync_mode_mismatch, Error::no_offset,
                        "buffer %zu: sync_mode: expected %02X as the descriptor says, got %02X", index_,
                        declared_.sync_mode, handle.sync_mode);
        }
        return {};
    }

    Result<void> check_alignment(std::uint32_t alignment, const char* whose) const {
        const auto address = reinterpret_cast<std::uintptr_t>(buffer_.data);
        if (address % alignment == 0) return {};
        return fail(Status::misaligned, Error::no_offset,
                    "buffer %zu: address: expected a multiple of %u, the alignment of %s, it is %u beyond one", index_,
                    alignment, whose, static_cast<unsigned>(address % alignment));
    }

    // Only where there is a byte_offset can the bytes of others be left out; see check_elements.
    Result<void> check_prefix() const {
        if (buffer_.prefix == 0 || is_private_layout(descriptor_.layout())) return {};
        if (index_ == 0 && is_dense(descriptor_)) return {};
        return fail(Status::misaligned, Error::no_offset,
                    "buffer %zu: prefix: expected none, since the buffer starts with its first entry, got %u bytes of "
                    "somebody else",
                    index_, buffer_.prefix);
    }

    const Descriptor& descriptor_;
    std::size_t index_;
    const Buffer& buffer_;
    const BufferHandle& declared_;
};

// Nested tiles that do not divide the tiles around them reach into the next ones.
Result<void> check_tiles(const Descriptor& descriptor) {
    const TiledLevels levels = tiled_levels(descriptor);
    const auto misfit = find_tile_misfit(levels.levels());
    if (!misfit) return {};
    const std::size_t k = misfit->dimension;
    return fail(Status::invalid_layout, Error::no_offset,
                "tile_shape[%zu] of level %zu: expected a divisor of the %llu of the level around it, or tiles overlap, "
                "got %llu",
                k, misfit->level, static_cast<ull>(levels[misfit->level - 1].tile_shape[k]),
                static_cast<ull>(levels[misfit->level].tile_shape[k]));
}

// Where the elements of a dense tensor lie: within the buffer, and behind the bytes that belong to somebody else.
Result<void> check_elements(const Tensor& tensor) {
    const auto map = AddressMap::make(tensor.descriptor);
    if (!map) return std::unexpected(map.error());
    if (map->element_count() == 0) return {};
    const std::uint64_t lowest = map->byte_of(map->lowest());
    const std::uint32_t prefix = tensor.buffers[0].prefix;
    if (lowest >= prefix) return {};
    return fail(Status::invalid_layout, Error::no_offset,
                "byte_offset: expected no element in the first %u bytes of buffer 0, which belong to somebody else, the "
                "lowest starts at byte %llu",
                prefix, static_cast<ull>(lowest));
}

}  // namespace

Result<void> check_buffers(const Tensor& tensor) {
    const Descriptor& descriptor = tensor.descriptor;
    if (tensor.buffers.size() != descriptor.buffers().size()) {
        return fail(Status::invalid_layout, Error::no_offset,
                    "buffers: expected %zu, as many as buffer_count of the descriptor says, got %zu",
                    descriptor.buffers().size(), tensor.buffers.size());
    }
    for (std::size_t i = 0; i < tensor.buffers.size(); ++i) {
        if (auto checked = BufferCheck(descriptor, i, tensor.buffers[i]).check(); !checked) return checked;
    }
    if (descriptor.layout() == layout_tag::composite || is_private_layout(descriptor.layout())) return {};
    if (const auto count = descriptor.element_count(); !count) return std::unexpected(count.error());
    if (!is_dense(descriptor)) return {};
    if (auto checked = check_tiles(descriptor); !checked) return checked;
    return check_elements(tensor);
}

}  // namespace hurray::validation_detail

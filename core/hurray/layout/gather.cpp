#include "core/hurray/layout/gather.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/layout/dense_view.hpp"
#include "core/hurray/layout/row_major_gather.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// Elements that lie as they shall already, unused bits at the end aside.
void copy_packed(const ElementTypeInfo& type, std::uint64_t count, const std::byte* origin, std::span<std::byte> out) {
    std::memcpy(out.data(), origin, out.size());
    const std::uint64_t in_last_group = count & ((std::uint64_t{1} << type.group_shift) - 1);
    if (in_last_group == 0) return;
    const std::uint64_t used_bits = in_last_group * type.bits;
    std::byte* group = out.data() + out.size() - type.group_bytes;
    for (std::uint64_t byte = 0; byte < type.group_bytes; ++byte) {
        const std::uint64_t used = used_bits > byte * 8 ? std::min<std::uint64_t>(used_bits - byte * 8, 8) : 0;
        group[byte] &= static_cast<std::byte>((1U << used) - 1);
    }
}

}  // namespace

Result<void> gather_row_major(const Descriptor& descriptor, std::span<const std::byte> buffer,
                              std::span<std::byte> out) {
    const auto view = dense_view(descriptor);
    if (!view) return std::unexpected(view.error());
    const ElementTypeInfo type = element_type_info(descriptor);
    const auto packed = packed_byte_size(type, view->element_count);
    if (!packed) return std::unexpected(packed.error());
    if (out.size() != *packed) {
        return fail(Status::invalid_argument, Error::no_offset, "out: expected room for %llu bytes, got %zu",
                    static_cast<ull>(*packed), out.size());
    }
    if (buffer.size() < descriptor.buffers()[0].byte_size) {
        return fail(Status::invalid_argument, Error::no_offset, "buffer: expected the %llu bytes of buffer 0, got %zu",
                    static_cast<ull>(descriptor.buffers()[0].byte_size), buffer.size());
    }
    if (view->element_count == 0) return {};
    const std::byte* origin = buffer.data() + view->byte_offset;
    if (view->contiguous) {
        copy_packed(type, view->element_count, origin, out);
        return {};
    }
    std::array<std::int64_t, max_rank> storage;
    const std::span strides = std::span(storage).first(descriptor.rank());
    if (auto filled = dense_strides(descriptor, strides); !filled) return filled;
    // The last group of a 6-bit type is three bytes even where fewer have elements.
    std::fill_n(out.end() - type.group_bytes, type.group_bytes, std::byte{0});
    RowMajorGather({origin, type.bits, descriptor.shape(), strides}).next(out, view->element_count);
    return {};
}

Result<Tensor> copy_row_major(const Tensor& tensor, std::uint32_t alignment) {
    if (alignment == 0) alignment = minimum_alignment;
    if (!std::has_single_bit(alignment) || alignment < minimum_alignment) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "alignment: expected a power of two of at least %u, got %u", minimum_alignment, alignment);
    }
    const Descriptor& source = tensor.descriptor;
    const auto view = dense_view(source);
    if (!view) return std::unexpected(view.error());
    if ((source.flags() & ~descriptor_flag::shard) != 0) {
        return fail(Status::unsupported, Error::no_offset, "flags: expected no section but shard, got %08X",
                    source.flags());
    }
    if (tensor.buffers.empty()) {
        return fail(Status::invalid_argument, Error::no_offset, "buffers: expected the descriptor's 1, got none");
    }
    const Buffer& data = tensor.buffers[0];
    if (data.handle.device_tag != device_tag::cpu) {
        return fail(Status::unsupported, Error::no_offset, "buffer 0: expected host memory, got device %02X",
                    data.handle.device_tag);
    }
    const auto packed = packed_byte_size(source.element_type(), view->element_count);
    if (!packed) return std::unexpected(packed.error());
    auto copy = allocate_buffer(*packed, alignment);
    if (!copy) return std::unexpected(copy.error());
    if (auto gathered = gather_row_major(source, data.bytes(), copy->bytes()); !gathered) {
        return std::unexpected(gathered.error());
    }
    DescriptorBuilder builder(source.element_type(), layout_tag::row_major, source.shape());
    if (source.has_shard()) builder.set_shard(source.parent_shape(), source.shard_offset());
    if (auto added = builder.add_buffer(copy->handle); !added) return std::unexpected(added.error());
    auto descriptor = builder.build();
    if (!descriptor) return std::unexpected(descriptor.error());
    Tensor result{std::move(*descriptor), {}};
    result.buffers.push_back(std::move(*copy));
    return result;
}

}  // namespace hurray

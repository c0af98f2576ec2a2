#include "core/hurray/layout/gather.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/layout/dense_view.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// The dimensions that are stepped through, outermost first. Dimensions of size 1 are left out, and neighbours that one
// stride steps through are joined.
struct Walk {
    std::array<std::uint64_t, max_rank> sizes;
    std::array<std::int64_t, max_rank> strides;
    std::size_t rank = 0;

    Walk(std::span<const std::uint64_t> shape, std::span<const std::int64_t> steps) {
        for (std::size_t k = 0; k < shape.size(); ++k) {
            if (shape[k] == 1) continue;
            if (rank != 0 && joins(shape[k], steps[k])) {
                sizes[rank - 1] *= shape[k];
                strides[rank - 1] = steps[k];
                continue;
            }
            sizes[rank] = shape[k];
            strides[rank] = steps[k];
            ++rank;
        }
    }

  private:
    [[nodiscard]] bool joins(std::uint64_t size, std::int64_t stride) const {
        std::int64_t expected = 0;
        if (__builtin_mul_overflow(stride, static_cast<std::int64_t>(size), &expected)) return false;
        return strides[rank - 1] == expected;
    }
};

// Calls row(offset of its first element, elements, stride) for every innermost row, in row-major order.
template <typename Row>
void for_each_row(const Walk& walk, Row&& row) {
    if (walk.rank == 0) {
        row(std::int64_t{0}, std::uint64_t{1}, std::int64_t{1});
        return;
    }
    const std::size_t inner = walk.rank - 1;
    std::array<std::uint64_t, max_rank> index{};
    std::int64_t offset = 0;
    for (;;) {
        row(offset, walk.sizes[inner], walk.strides[inner]);
        std::size_t k = inner;
        for (;;) {
            if (k == 0) return;
            --k;
            offset += walk.strides[k];
            if (++index[k] < walk.sizes[k]) break;
            // Back to the start of this dimension; the products are those of a reach that decode found to fit.
            offset -= static_cast<std::int64_t>(static_cast<std::uint64_t>(walk.strides[k]) * walk.sizes[k]);
            index[k] = 0;
        }
    }
}

template <std::size_t element_size>
void gather_bytes(const Walk& walk, const std::byte* origin, std::byte* to) {
    for_each_row(walk, [&](std::int64_t offset, std::uint64_t count, std::int64_t stride) {
        const std::byte* from = origin + offset * static_cast<std::int64_t>(element_size);
        if (stride == 1) {
            std::memcpy(to, from, count * element_size);
            to += count * element_size;
            return;
        }
        const std::int64_t step = stride * static_cast<std::int64_t>(element_size);
        for (std::uint64_t i = 0; i < count; ++i) {
            std::memcpy(to, from, element_size);
            to += element_size;
            // Stepping past the last element might leave the address space.
            if (i + 1 < count) from += step;
        }
    });
}

// Elements of a packed type, as bits: element e starts at bit e * bits, the least significant bit of a byte first. The
// groups are whole bytes, so that this holds on both sides of element 0.
void gather_bits(const Walk& walk, const std::byte* origin, unsigned bits, std::byte* to) {
    std::uint64_t pending = 0;
    unsigned pending_bits = 0;
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    for_each_row(walk, [&](std::int64_t offset, std::uint64_t count, std::int64_t stride) {
        std::int64_t element = offset;
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::int64_t first_bit = element * static_cast<std::int64_t>(bits);
            const std::int64_t byte = first_bit >> 3;
            const auto shift = static_cast<unsigned>(first_bit & 7);
            auto window = static_cast<std::uint64_t>(origin[byte]);
            if (shift + bits > 8) window |= static_cast<std::uint64_t>(origin[byte + 1]) << 8;
            pending |= (window >> shift & mask) << pending_bits;
            pending_bits += bits;
            while (pending_bits >= 8) {
                *to++ = static_cast<std::byte>(pending & 0xFF);
                pending >>= 8;
                pending_bits -= 8;
            }
            if (i + 1 < count) element += stride;
        }
    });
    while (pending_bits > 0) {
        *to++ = static_cast<std::byte>(pending & 0xFF);
        pending >>= 8;
        pending_bits -= std::min(pending_bits, 8U);
    }
}

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
    const ElementTypeInfo& type = *find_element_type(descriptor.element_type());
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
    std::array<std::int64_t, max_rank> strides;
    if (auto filled = dense_strides(descriptor, std::span(strides).first(descriptor.rank())); !filled) return filled;
    const Walk walk(descriptor.shape(), strides);
    switch (type.bits) {
        case 8:
            gather_bytes<1>(walk, origin, out.data());
            break;
        case 16:
            gather_bytes<2>(walk, origin, out.data());
            break;
        case 32:
            gather_bytes<4>(walk, origin, out.data());
            break;
        case 64:
            gather_bytes<8>(walk, origin, out.data());
            break;
        case 128:
            gather_bytes<16>(walk, origin, out.data());
            break;
        default:
            // The last group of a 6-bit type is three bytes even where fewer have elements.
            std::fill_n(out.end() - type.group_bytes, type.group_bytes, std::byte{0});
            gather_bits(walk, origin, type.bits, out.data());
            break;
    }
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

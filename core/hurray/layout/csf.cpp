#include "core/hurray/layout/csf.hpp"

#include "core/hurray/layout/sparse_check.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// nnz, mode_order and eight reserved bytes.
constexpr std::uint32_t mode_order_at = 8;
constexpr std::uint32_t mode_width = 4;
constexpr std::uint32_t reserved_size = 8;

constexpr std::uint32_t fields_size(std::uint32_t rank) noexcept {
    return mode_order_at + mode_width * rank + reserved_size;
}

std::uint32_t encoded_size(std::uint32_t rank, std::span<const std::uint64_t>) {
    return fields_size(rank);
}

void encode_fields(std::uint32_t, std::span<const std::uint64_t> words, WireWriter& out) {
    out.u64(words[0]);
    for (const std::uint64_t mode : words.subspan(1)) out.u32(static_cast<std::uint32_t>(mode));
    out.zeros(reserved_size);
}

std::uint32_t mode_at(const WireReader& in, std::uint32_t level) noexcept {
    return load_le<std::uint32_t>(in.here() + mode_order_at + mode_width * level);
}

// Checks as many of the levels' dimensions as there are. Ranks are at most 64.
Result<void> check_mode_order(const WireReader& in, std::uint32_t rank, std::uint32_t present) {
    std::uint64_t met = 0;
    for (std::uint32_t level = 0; level < present; ++level) {
        const std::uint32_t mode = mode_at(in, level);
        const std::uint64_t at = std::uint64_t{in.offset()} + mode_order_at + mode_width * level;
        if (mode >= rank) {
            return fail(Status::invalid_layout, at, "mode_order[%u]: expected a dimension, 0 to %u, got %u", level,
                        rank - 1, mode);
        }
        if ((met >> mode & 1) != 0) {
            return fail(Status::invalid_layout, at, "mode_order[%u]: expected each dimension once, got %u again", level,
                        mode);
        }
        met |= std::uint64_t{1} << mode;
    }
    return {};
}

// The first fault of fields that have one, or that are not all there.
[[gnu::cold, gnu::noinline]] Result<void> fields_fault(const WireReader& in, const DescriptorAssembler& out) {
    const std::uint32_t rank = out.descriptor().rank();
    if (auto checked = check_sparse_start(in, out); !checked) return checked;
    const std::uint32_t left = in.remaining() - mode_order_at;
    const std::uint32_t present = left / mode_width < rank ? left / mode_width : rank;
    if (auto checked = check_mode_order(in, rank, present); !checked) return checked;
    if (present < rank) {
        WireReader modes = in;
        modes.skip(mode_order_at);
        return truncated_array("mode_order", mode_width, rank, modes);
    }
    return check_reserved_bytes(in, mode_order_at + mode_width * rank, reserved_size, "reserved");
}

bool is_right(const WireReader& in, const DescriptorAssembler& out, std::uint32_t rank) noexcept {
    if (!in.has(fields_size(rank)) || !starts_sparse(out, load_le<std::uint64_t>(in.here()))) return false;
    std::uint64_t met = 0;
    for (std::uint32_t level = 0; level < rank; ++level) {
        const std::uint32_t mode = mode_at(in, level);
        if (mode >= rank) return false;
        met |= std::uint64_t{1} << mode;
    }
    // As many different ones as there are levels.
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - rank);
    return met == all && load_le<std::uint64_t>(in.here() + mode_order_at + mode_width * rank) == 0;
}

Result<void> decode_fields(WireReader& in, DescriptorAssembler& out) {
    const std::uint32_t rank = out.descriptor().rank();
    if (!is_right(in, out, rank)) [[unlikely]]
        return fields_fault(in, out);
    // A word for each dimension, which is wider than it is.
    out.ensure(in.remaining() + std::size_t{mode_width} * rank);
    std::uint64_t* words = out.claim_words(1 + std::size_t{rank});
    words[0] = in.u64();
    for (std::uint32_t level = 0; level < rank; ++level) words[1 + level] = in.u32();
    in.skip(reserved_size);
    return {};
}

Result<void> check_fields(const LayoutContext& context) {
    return check_own_buffer_count(context, 2 * context.descriptor.rank() + 1, "csf of this rank");
}

[[gnu::cold, gnu::noinline]] std::unexpected<Error> level_size_fault(const LayoutContext& context, std::uint32_t index,
                                                                     std::uint64_t expected, std::uint64_t byte_size) {
    return fail(Status::invalid_layout, context.handle_at(index),
                "buffer %u (pos_%u): byte_size: expected exactly %llu, 8 for each of the %llu nodes above and 8 more, "
                "got %llu",
                index, (index - 1) / 2, static_cast<ull>(expected), static_cast<ull>(expected / index_width - 1),
                static_cast<ull>(byte_size));
}

// The sizes of a level's two arrays tell how many nodes there are, and are therefore exact.
Result<void> check_positions_size(const LayoutContext& context, std::uint32_t index, std::uint64_t byte_size) {
    // Above the first level is the root.
    const std::uint64_t above = index == 1 ? index_width : context.descriptor.buffers()[index - 1].byte_size;
    const std::uint64_t expected = above + index_width;
    if (byte_size != expected) [[unlikely]]
        return level_size_fault(context, index, expected, byte_size);
    return {};
}

Result<void> check_coordinates_size(const LayoutContext& context, std::uint32_t index, std::uint64_t byte_size) {
    const std::uint32_t level = (index - 2) / 2;
    const std::uint64_t nnz = context.descriptor.layout_words()[0];
    const bool leaves = level + 1 == context.descriptor.rank();
    const std::uint64_t nodes = byte_size / index_width;
    // A node may have no child, so that a level may have more nodes than there are leaves; but each leaf has one above it.
    const bool right = leaves || nnz == 0 ? nodes == nnz : nodes != 0 && nodes < ~std::uint64_t{0} / index_width;
    if (right && byte_size % index_width == 0) [[likely]]
        return {};
    if (leaves || nnz == 0) {
        return fail(Status::invalid_layout, context.handle_at(index),
                    "buffer %u (crd_%u): byte_size: expected exactly 8 for each of %llu nodes, got %llu", index, level,
                    static_cast<ull>(nnz), static_cast<ull>(byte_size));
    }
    return fail(Status::invalid_layout, context.handle_at(index),
                "buffer %u (crd_%u): byte_size: expected 8 for each of 1 to 2^61 - 2 nodes, got %llu", index, level,
                static_cast<ull>(byte_size));
}

Result<void> check_buffer_size(const LayoutContext& context, std::uint32_t index, std::uint64_t byte_size) {
    if (index == csf_buffer::values) return check_values_size(context, context.descriptor.layout_words()[0], byte_size);
    if (index > 2 * context.descriptor.rank()) return {};
    return index % 2 == 1 ? check_positions_size(context, index, byte_size)
                          : check_coordinates_size(context, index, byte_size);
}

}  // namespace

const LayoutCodec csf_codec = {encoded_size, decode_fields, encode_fields, check_fields, check_buffer_size};

}  // namespace hurray

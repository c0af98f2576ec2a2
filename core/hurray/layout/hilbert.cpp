#include "core/hurray/layout/hilbert.hpp"

#include "core/hurray/layout/contiguous.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

std::uint32_t encoded_size(std::uint32_t, std::span<const std::uint64_t>) {
    return 8;
}

void encode_fields(std::uint32_t, std::span<const std::uint64_t> words, WireWriter& out) {
    out.u64(words[0]);
}

Result<void> check_order(std::uint32_t order, std::span<const std::uint64_t> shape, std::uint64_t at) {
    // Every size that there can be is below 2^64, and dynamic_dimension is no power of two.
    const std::uint64_t side = order != 0 && order < 64 ? std::uint64_t{1} << order : 0;
    for (std::uint32_t k = 0; k < shape.size(); ++k) {
        if (side != 0 && shape[k] == side) continue;
        if (order == 0) {
            return fail(Status::invalid_layout, at, "hilbert_order: expected at least 1, got 0");
        }
        return fail(Status::invalid_layout, at, "hilbert_order: expected shape[%u] = 2^order, got 2^%u and %s%llu", k,
                    order, shape[k] == dynamic_dimension ? "a dynamic dimension, " : "", static_cast<ull>(shape[k]));
    }
    return {};
}

Result<void> check_rank(std::uint32_t rank, std::span<const std::uint64_t> shape, std::uint64_t at) {
    if (rank != shape.size()) [[unlikely]] {
        return fail(Status::invalid_layout, at, "hilbert_rank: expected the tensor's rank %zu, got %u", shape.size(),
                    rank);
    }
    return {};
}

Result<void> decode_fields(WireReader& in, DescriptorAssembler& out) {
    if (!in.has(8)) [[unlikely]] {
        if (!in.has(4)) return truncated_field("hilbert_order", in.offset(), 4, in.remaining());
        const std::uint32_t order = load_le<std::uint32_t>(in.here());
        if (auto checked = check_order(order, out.descriptor().shape(), in.offset()); !checked) return checked;
        return truncated_field("hilbert_rank", in.offset() + 4, 4, in.remaining() - 4);
    }
    *out.claim_words(1) = in.u64();
    return {};
}

Result<void> check_fields(const LayoutContext& context) {
    const auto shape = context.descriptor.shape();
    const HilbertFields fields = hilbert_fields(context.descriptor);
    if (auto checked = check_order(fields.order, shape, context.fields_at); !checked) [[unlikely]]
        return checked;
    if (auto checked = check_rank(fields.rank, shape, context.fields_at + 4); !checked) [[unlikely]]
        return checked;
    return check_single_buffer(context);
}

}  // namespace

// Every place of the cube is that of an element, so that the room is that of a layout without gaps.
const LayoutCodec hilbert_codec = {encoded_size, decode_fields, encode_fields, check_fields,
                                   check_contiguous_buffer_size};

}  // namespace hurray

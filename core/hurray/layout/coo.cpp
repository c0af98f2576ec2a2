#include "core/hurray/layout/coo.hpp"

#include "core/hurray/layout/sparse_check.hpp"

namespace hurray {
namespace {

// nnz, is_sorted and seven reserved bytes.
constexpr std::uint32_t fields_size = 16;
constexpr std::uint32_t is_sorted_at = 8;
constexpr std::uint32_t reserved_at = 9;
constexpr std::uint32_t own_buffers = 2;

std::uint32_t encoded_size(std::uint32_t, std::span<const std::uint64_t>) {
    return fields_size;
}

void encode_fields(std::uint32_t, std::span<const std::uint64_t> words, WireWriter& out) {
    out.u64s(words);
}

// The first fault of fields that have one, or that are not all there.
[[gnu::cold, gnu::noinline]] Result<void> fields_fault(const WireReader& in, const DescriptorAssembler& out) {
    if (auto checked = check_sparse_start(in, out); !checked) return checked;
    if (!in.has(reserved_at)) return truncated_field("is_sorted", in.offset() + is_sorted_at, 1, 0);
    const auto is_sorted = static_cast<unsigned>(in.here()[is_sorted_at]);
    if (is_sorted > 1) {
        return fail(Status::invalid_layout, in.offset() + is_sorted_at, "is_sorted: expected 0 or 1, got %u", is_sorted);
    }
    return check_reserved_bytes(in, reserved_at, fields_size - reserved_at, "reserved");
}

Result<void> decode_fields(WireReader& in, DescriptorAssembler& out) {
    // is_sorted is the lowest byte of a word whose others are reserved.
    if (!in.has(fields_size) || !starts_sparse(out, load_le<std::uint64_t>(in.here())) ||
        load_le<std::uint64_t>(in.here() + is_sorted_at) > 1) [[unlikely]]
        return fields_fault(in, out);
    out.add_wire_words(in.here(), fields_size / 8);
    in.skip(fields_size);
    return {};
}

Result<void> check_fields(const LayoutContext& context) {
    return check_own_buffer_count(context, own_buffers, "coo");
}

Result<void> check_buffer_size(const LayoutContext& context, std::uint32_t index, std::uint64_t byte_size) {
    const std::uint64_t nnz = context.descriptor.layout_words()[0];
    if (index == coo_buffer::values) return check_values_size(context, nnz, byte_size);
    if (index != coo_buffer::indices) return {};
    std::uint64_t entries = 0;
    if (__builtin_mul_overflow(nnz, std::uint64_t{context.descriptor.rank()}, &entries)) entries = ~std::uint64_t{0};
    return check_index_size(context, index, entries, "indices", byte_size);
}

}  // namespace

const LayoutCodec coo_codec = {encoded_size, decode_fields, encode_fields, check_fields, check_buffer_size};

}  // namespace hurray

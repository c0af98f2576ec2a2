#include "core/hurray/layout/compressed.hpp"

#include "core/hurray/layout/sparse_check.hpp"

namespace hurray {
namespace {

// nnz and eight reserved bytes.
constexpr std::uint32_t fields_size = 16;
constexpr std::uint32_t reserved_at = 8;
constexpr std::uint32_t own_buffers = 3;

std::uint32_t encoded_size(std::uint32_t, std::span<const std::uint64_t>) {
    return fields_size;
}

void encode_fields(std::uint32_t, std::span<const std::uint64_t> words, WireWriter& out) {
    out.u64(words[0]);
    out.zeros(fields_size - reserved_at);
}

// The first fault of fields that have one, or that are not all there.
[[gnu::cold, gnu::noinline]] Result<void> fields_fault(const WireReader& in, const DescriptorAssembler& out) {
    if (auto checked = check_sparse_start(in, out); !checked) return checked;
    return check_reserved_bytes(in, reserved_at, fields_size - reserved_at, "reserved");
}

Result<void> decode_fields(WireReader& in, DescriptorAssembler& out) {
    if (!in.has(fields_size) || !starts_sparse(out, load_le<std::uint64_t>(in.here())) ||
        load_le<std::uint64_t>(in.here() + reserved_at) != 0) [[unlikely]]
        return fields_fault(in, out);
    out.add_wire_words(in.here(), 1);
    in.skip(fields_size);
    return {};
}

template <std::uint8_t layout>
Result<void> check_fields(const LayoutContext& context) {
    return check_own_buffer_count(context, own_buffers, layout == layout_tag::csr ? "csr" : "csc");
}

template <std::uint8_t layout>
Result<void> check_buffer_size(const LayoutContext& context, std::uint32_t index, std::uint64_t byte_size) {
    if (index < compressed_buffer::pointers) {
        const std::uint64_t nnz = context.descriptor.layout_words()[0];
        if (index == compressed_buffer::values) return check_values_size(context, nnz, byte_size);
        return check_index_size(context, index, nnz, compressed_indices_name(layout), byte_size);
    }
    if (index != compressed_buffer::pointers) return {};
    const std::uint64_t slices = context.descriptor.shape()[compressed_major(layout)];
    if (slices == dynamic_dimension) return {};
    return check_index_size(context, index, slices + 1, compressed_pointers_name(layout), byte_size);
}

}  // namespace

const LayoutCodec csr_codec = {encoded_size, decode_fields, encode_fields, check_fields<layout_tag::csr>,
                               check_buffer_size<layout_tag::csr>};
const LayoutCodec csc_codec = {encoded_size, decode_fields, encode_fields, check_fields<layout_tag::csc>,
                               check_buffer_size<layout_tag::csc>};

}  // namespace hurray

#include "core/hurray/layout/layout.hpp"

#include "core/hurray/layout/block_paged.hpp"
#include "core/hurray/layout/composite.hpp"
#include "core/hurray/layout/compressed.hpp"
#include "core/hurray/layout/contiguous.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/csf.hpp"
#include "core/hurray/layout/hilbert.hpp"
#include "core/hurray/layout/morton.hpp"
#include "core/hurray/layout/private_layout.hpp"
#include "core/hurray/layout/strided.hpp"
#include "core/hurray/layout/tiled.hpp"

namespace hurray {
namespace {

constexpr std::uint8_t any = max_rank;

// A scalar is row-major only, hence the least ranks of 1.
constexpr Layout layouts[] = {
    {layout_tag::row_major, "row_major", 0, any, &contiguous_codec},
    {layout_tag::col_major, "col_major", 1, any, &contiguous_codec},
    {layout_tag::strided, "strided", 1, any, &strided_codec},
    {layout_tag::tiled, "tiled", 1, any, &tiled_codec},
    {layout_tag::morton, "morton", 1, any, &morton_codec},
    {layout_tag::coo, "coo", 1, any, &coo_codec},
    {layout_tag::csr, "csr", 2, 2, &csr_codec},
    {layout_tag::csc, "csc", 2, 2, &csc_codec},
    {layout_tag::csf, "csf", 3, any, &csf_codec},
    {layout_tag::block_paged, "block_paged", 3, 3, &block_paged_codec},
    {layout_tag::composite, "composite", 1, any, &composite_codec},
    {layout_tag::hilbert, "hilbert", 2, any, &hilbert_codec},
    {layout_tag::private_first, "private_extension", 1, any, &private_layout_codec},
};

}  // namespace

constexpr std::array<const Layout*, 256> layout_of_tag = [] {
    std::array<const Layout*, 256> table{};
    for (const Layout& layout : layouts) table[layout.tag] = &layout;
    for (std::size_t tag = layout_tag::private_first; tag <= layout_tag::private_last; ++tag) {
        table[tag] = table[layout_tag::private_first];
    }
    return table;
}();

Result<void> own_buffer_count_fault(const LayoutContext& context, std::uint32_t own, const char* whose) {
    const bool quantized = (context.descriptor.flags() & descriptor_flag::quantization) != 0;
    return fail(Status::invalid_layout, context.buffer_count_at, "buffer_count: expected %s%u for %s, got %u",
                quantized ? "at least " : "", own, whose, context.buffer_count);
}

}  // namespace hurray

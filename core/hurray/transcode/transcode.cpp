#include "core/hurray/transcode/transcode.hpp"

#include "core/hurray/host_memory.hpp"
#include "core/hurray/layout/layout.hpp"
#include "core/hurray/transcode/dense_to_dense.hpp"
#include "core/hurray/transcode/paged_source.hpp"
#include "core/hurray/transcode/sparse/sparse_transcode.hpp"

namespace hurray {
namespace {

const char* name_of(std::uint8_t layout) noexcept {
    const Layout* row = find_layout(layout);
    return row == nullptr ? "unknown" : row->name;
}

enum class Family : std::uint8_t { dense, sparse, paged, other };

Family family_of(std::uint8_t layout) noexcept {
    if (is_dense_layout(layout)) return Family::dense;
    switch (layout) {
        case layout_tag::coo:
        case layout_tag::csr:
        case layout_tag::csc:
        case layout_tag::csf:
            return Family::sparse;
        case layout_tag::block_paged:
            return Family::paged;
        default:
            return Family::other;
    }
}

using Way = Result<Tensor> (*)(const Tensor&, const TranscodeSpec&, const WorkOptions&);

// How to get from one family of layouts to another; null for no way.
Way find_way(Family from, Family to) noexcept {
    if (from == Family::dense && to == Family::dense) return dense_from_dense;
    if (from == Family::dense && to == Family::sparse) return sparse_from_dense;
    if (from == Family::sparse && to == Family::dense) return dense_from_sparse;
    if (from == Family::sparse && to == Family::sparse) return sparse_from_sparse;
    if (from == Family::paged && to == Family::dense) return dense_from_paged;
    return nullptr;
}

}  // namespace

Result<Tensor> transcode(const Tensor& tensor, const TranscodeSpec& spec, const WorkOptions& options) {
    const Descriptor& source = tensor.descriptor;
    if (source.is_opaque()) {
        return fail(Status::unsupported, Error::no_offset,
                    "descriptor: opaque (of an unknown type, layout or scheme), its elements are not known");
    }
    const Family from = family_of(source.layout());
    const Way way = find_way(from, family_of(spec.layout));
    if (way == nullptr) {
        return fail(Status::unsupported, Error::no_offset, "layout: no way from %s (%02X) to %s (%02X)",
                    name_of(source.layout()), source.layout(), name_of(spec.layout), spec.layout);
    }
    if (from != Family::paged && (spec.sequence || !spec.token_counts.empty())) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "sequence, token_counts: expected none for layout %s, which has no sequences",
                    name_of(source.layout()));
    }
    if (source.is_dynamic()) return std::unexpected(source.element_count().error());
    if (auto checked = check_host_buffers(tensor); !checked) return std::unexpected(checked.error());
    return way(tensor, spec, options);
}

}  // namespace hurray

#include "core/hurray/transcode/sparse/sparse_source.hpp"

#include "core/hurray/layout/csf.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/quantization/scheme.hpp"
#include "core/hurray/transcode/dense_target.hpp"

namespace hurray::transcode_detail {

Result<SparseSource> SparseSource::make(const Tensor& tensor) {
    auto view = SparseView::make(tensor);
    if (!view) return std::unexpected(view.error());
    const Descriptor& descriptor = tensor.descriptor;
    return SparseSource{
        .view = *view,
        .order = LoopOrder(descriptor.layout(), descriptor.rank(), csf_fields(descriptor).mode_order),
        .element_count = descriptor.element_count().value_or(0)};
}

Result<void> check_zero_code(const Descriptor& descriptor) {
    if (auto checked = check_known_scheme(descriptor); !checked) return checked;
    const auto fields = quantization_fields(descriptor);
    if (!fields) return {};
    switch (fields->scheme) {
        case scheme_tag::per_tensor_affine:
            if (fields->zero_point == 0) return {};
            break;
        case scheme_tag::per_channel_affine:
        case scheme_tag::per_block_affine:
            if (fields->symmetric()) return {};
            break;
        case scheme_tag::mxfp:
            return {};
        default:
            break;
    }
    return fail(Status::unsupported, Error::no_offset,
                "quantization: expected a scheme in which bits of 0 stand for 0 (zero points of 0, symmetric, or MXFP), got "
                "%s: dequantize first",
                find_scheme(fields->scheme)->name);
}

}  // namespace hurray::transcode_detail

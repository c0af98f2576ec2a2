// One scale and one zero point for all elements. (format: per-tensor affine)
#include "core/hurray/quantization/scheme.hpp"
#include "core/hurray/quantization/scheme_types.hpp"

namespace hurray {
namespace {

constexpr SchemeFieldPlace places[] = {
    {SchemeField::scale, 4, 4},
    {SchemeField::zero_point, 8, 4},
    {SchemeField::reserved, 12, 4},
};

}  // namespace

constexpr QuantizationScheme per_tensor_affine_scheme = {
    .tag = scheme_tag::per_tensor_affine,
    .name = "per_tensor_affine",
    .size = 16,
    .flags = 0,
    .fields = places,
    .offsets = offsets_of(places),
    .storage_types = scheme_types::all_integers,
    .storage_type_names = scheme_types::all_integers_named,
    .scale_types = {},
};

}  // namespace hurray

// A scale and a zero point for each index of one dimension. (format: per-channel affine)
#include "core/hurray/quantization/scheme.hpp"
#include "core/hurray/quantization/scheme_types.hpp"

namespace hurray {
namespace {

constexpr SchemeFieldPlace places[] = {
    {SchemeField::axis, 4, 4},        {SchemeField::scale_buffer, 8, 4}, {SchemeField::zero_point_buffer, 12, 4},
    {SchemeField::scale_type, 16, 1}, {SchemeField::reserved, 17, 3},
};
constexpr std::uint8_t scale_types[] = {scheme_types::float32};

}  // namespace

constexpr QuantizationScheme per_channel_affine_scheme = {
    .tag = scheme_tag::per_channel_affine,
    .name = "per_channel_affine",
    .size = 20,
    .flags = QuantizationFields::symmetric_flag,
    .fields = places,
    .offsets = offsets_of(places),
    .storage_types = scheme_types::all_integers,
    .storage_type_names = scheme_types::all_integers_named,
    .scale_types = scale_types,
};

}  // namespace hurray

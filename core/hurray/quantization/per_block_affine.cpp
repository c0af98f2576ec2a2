// A scale and a zero point for each block of elements along one dimension. (format: per-block affine)
#include "core/hurray/quantization/scheme.hpp"
#include "core/hurray/quantization/scheme_types.hpp"

namespace hurray {
namespace {

constexpr SchemeFieldPlace places[] = {
    {SchemeField::axis, 4, 4},          {SchemeField::block_size, 8, 4},
    {SchemeField::scale_buffer, 12, 4}, {SchemeField::zero_point_buffer, 16, 4},
    {SchemeField::scale_type, 20, 1},   {SchemeField::reserved, 21, 3},
};
constexpr std::uint8_t storage_types[] = {scheme_types::int8,  scheme_types::uint8, scheme_types::int4,
                                          scheme_types::uint4, scheme_types::int2,  scheme_types::uint2};
constexpr std::uint8_t scale_types[] = {scheme_types::float16, scheme_types::bfloat16, scheme_types::float32};

}  // namespace

constexpr QuantizationScheme per_block_affine_scheme = {
    .tag = scheme_tag::per_block_affine,
    .name = "per_block_affine",
    .size = 24,
    .flags = QuantizationFields::symmetric_flag,
    .fields = places,
    .offsets = offsets_of(places),
    .storage_types = storage_types,
    .storage_type_names = "(u)int2, (u)int4 or (u)int8",
    .scale_types = scale_types,
    .least_block = 2,
    .largest_block = 1U << 31,
};

}  // namespace hurray

// Narrow numbers with a power of two for each block. (format: MXFP)
#include "core/hurray/quantization/scheme.hpp"
#include "core/hurray/quantization/scheme_types.hpp"

namespace hurray {
namespace {

constexpr SchemeFieldPlace places[] = {
    {SchemeField::axis, 4, 4},
    {SchemeField::block_size, 8, 4},
    {SchemeField::scale_buffer, 12, 4},
};
constexpr std::uint8_t storage_types[] = {
    scheme_types::float8_e4m3, scheme_types::float8_e5m2, scheme_types::float4_e2m1, scheme_types::float6_e2m3,
    scheme_types::float6_e3m2, scheme_types::int8,        scheme_types::int4,
};
constexpr std::uint8_t scale_types[] = {scheme_types::float8_e8m0};

}  // namespace

constexpr QuantizationScheme mxfp_scheme = {
    .tag = scheme_tag::mxfp,
    .name = "mxfp",
    .size = 16,
    .flags = 0,
    .fields = places,
    .offsets = offsets_of(places),
    .storage_types = storage_types,
    .storage_type_names = "float8_e4m3, float8_e5m2, float4_e2m1, float6_e2m3, float6_e3m2, int8 or int4",
    .scale_types = scale_types,
    .least_block = 16,
    .largest_block = 2048,
    .whole_blocks_only = true,
};

}  // namespace hurray

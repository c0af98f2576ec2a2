// Indices into a table of 16 numbers, with the largest absolute value of each block. (format: NF4)
#include "core/hurray/quantization/scheme.hpp"
#include "core/hurray/quantization/scheme_types.hpp"

namespace hurray {
namespace {

constexpr SchemeFieldPlace places[] = {
    {SchemeField::axis, 4, 4},
    {SchemeField::block_size, 8, 4},
    {SchemeField::scale_buffer, 12, 4},
};
constexpr std::uint8_t storage_types[] = {scheme_types::uint4};
constexpr std::uint8_t scale_types[] = {scheme_types::float32};

}  // namespace

constexpr QuantizationScheme nf4_scheme = {
    .tag = scheme_tag::nf4,
    .name = "nf4",
    .size = 16,
    .flags = 0,
    .fields = places,
    .offsets = offsets_of(places),
    .storage_types = storage_types,
    .storage_type_names = "uint4",
    .scale_types = scale_types,
    .least_block = 8,
    .largest_block = 1U << 31,
};

}  // namespace hurray

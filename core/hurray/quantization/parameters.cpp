#include "core/hurray/quantization/parameters.hpp"

#include <algorithm>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/layout/block_paged.hpp"
#include "core/hurray/quantization/scheme.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {
namespace {

std::uint64_t blocks_along(std::uint64_t size, std::uint32_t block) noexcept {
    return size / block + (size % block != 0 ? 1 : 0);
}

// Blocks of the whole tensor: no more than it has elements, so that nothing overflows once no dimension is 0.
std::optional<std::uint64_t> block_count(std::span<const std::uint64_t> shape,
                                         const QuantizationFields& fields) noexcept {
    if (std::ranges::find(shape, dynamic_dimension) != shape.end()) return std::nullopt;
    if (std::ranges::find(shape, std::uint64_t{0}) != shape.end()) return 0;
    std::uint64_t count = blocks_along(shape[fields.axis], fields.block_size);
    for (std::size_t k = 0; k < shape.size(); ++k) {
        if (k != fields.axis) count *= shape[k];
    }
    return count;
}

}  // namespace

std::optional<ParameterSizes> parameter_sizes(const Descriptor& descriptor, const QuantizationFields& fields) noexcept {
    const QuantizationScheme* scheme = find_scheme(fields.scheme);
    if (scheme == nullptr) return std::nullopt;
    if (!scheme->has(SchemeField::axis)) return ParameterSizes{};
    const auto shape = descriptor.shape();
    std::optional<std::uint64_t> entries;
    if (scheme->has_blocks() && descriptor.layout() == layout_tag::block_paged) {
        // One for each place of a token in the pool, whichever of them the table names. When those are too many to
        // count, so are the bytes.
        const BlockPagedFields paged = block_paged_fields(descriptor);
        entries = checked_mul(paged.num_pages, paged.page_size).value_or(~std::uint64_t{0});
    } else if (scheme->has_blocks()) {
        entries = block_count(shape, fields);
    } else if (shape[fields.axis] != dynamic_dimension) {
        entries = shape[fields.axis];
    }
    if (!entries) return std::nullopt;
    const ElementTypeInfo* scale = find_element_type(fields.scale_type);
    ParameterSizes sizes{.entries = *entries, .scale_width = scale == nullptr ? 0 : scale->group_bytes};
    sizes.scale_bytes = checked_mul(*entries, sizes.scale_width);
    if (scheme->has(SchemeField::zero_point_buffer) && !fields.symmetric()) {
        sizes.zero_point_width = zero_point_width;
        sizes.zero_point_bytes = checked_mul(*entries, zero_point_width);
    }
    return sizes;
}

std::optional<std::uint32_t> parameter_buffer_count(const QuantizationFields& fields) noexcept {
    const QuantizationScheme* scheme = find_scheme(fields.scheme);
    if (scheme == nullptr) return std::nullopt;
    if (!scheme->has(SchemeField::scale_buffer)) return 0;
    if (!scheme->has(SchemeField::zero_point_buffer) || fields.symmetric()) return 1;
    return fields.scale_buffer == fields.zero_point_buffer ? 1 : 2;
}

std::optional<PaddedAxis> padded_axis(const Descriptor& descriptor, const QuantizationFields& fields) noexcept {
    if (descriptor.layout() != layout_tag::row_major && descriptor.layout() != layout_tag::col_major) {
        return std::nullopt;
    }
    const QuantizationScheme* scheme = find_scheme(fields.scheme);
    if (scheme == nullptr || !scheme->has_blocks()) return std::nullopt;
    const std::uint64_t size = descriptor.shape()[fields.axis];
    if (size % fields.block_size == 0) return std::nullopt;
    return PaddedAxis{fields.axis, checked_mul(blocks_along(size, fields.block_size), fields.block_size).value_or(0)};
}

std::optional<PaddedAxis> padded_axis(const Descriptor& descriptor) noexcept {
    const auto fields = quantization_fields(descriptor);
    return fields ? padded_axis(descriptor, *fields) : std::nullopt;
}

}  // namespace hurray

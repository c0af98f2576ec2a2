// What a quantization scheme needs besides the elements: the arrays of scales and zero points, and whole blocks.
// (format: quantization)
#pragma once

#include <cstdint>
#include <optional>

#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/quantization/fields.hpp"

namespace hurray {

/// Bytes of a zero point, whatever the storage type is.
inline constexpr std::uint32_t zero_point_width = 4;

/// Sizes of the parameter arrays. Both are 0 where there are none.
struct ParameterSizes {
    /// Scales, and zero points if the scheme has them: one a channel or block; of blocks of block-paged tensors one for
    /// each place that a token has in the pool.
    std::uint64_t entries = 0;
    /// Bytes of an entry of each array.
    std::uint32_t scale_width = 0;
    std::uint32_t zero_point_width = 0;
    /// Bytes of each array; nothing when those are more than 2^64-1.
    std::optional<std::uint64_t> scale_bytes = 0;
    std::optional<std::uint64_t> zero_point_bytes = 0;
};

/// The sizes that follow from the descriptor alone; nothing while a dimension that counts is dynamic, and for schemes
/// that are not known.
/// @param descriptor header, shape and layout are there
/// @param fields of a known scheme, whose axis is below the rank and whose block size is not 0
std::optional<ParameterSizes> parameter_sizes(const Descriptor& descriptor, const QuantizationFields& fields) noexcept;

/// How many entries of the buffer table hold parameters: 0, 1, or 2; nothing for schemes that are not known.
std::optional<std::uint32_t> parameter_buffer_count(const QuantizationFields& fields) noexcept;

/// A dimension whose last block is short. In storage it has the size of its whole blocks: a row-major or column-major
/// tensor lies there as if that were its shape, and what is beyond the shape is 0.
struct PaddedAxis {
    std::uint32_t axis;
    std::uint64_t stored_size;
};

/// The dimension that is longer in storage than in the shape; nothing where there is none.
/// @param descriptor a decoded one
std::optional<PaddedAxis> padded_axis(const Descriptor& descriptor) noexcept;

/// As above, while the section is still being read; stored_size is 0 when it is more than 2^64-1.
/// @param fields as for parameter_sizes
std::optional<PaddedAxis> padded_axis(const Descriptor& descriptor, const QuantizationFields& fields) noexcept;

}  // namespace hurray

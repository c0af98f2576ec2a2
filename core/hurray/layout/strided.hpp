// Strided: an explicit step a dimension, in elements; negative and zero steps included. (format: strided)
//
// Layout words: strides[rank], signed.
#pragma once

#include <cstdint>

#include "core/hurray/layout/layout.hpp"

namespace hurray {

extern const LayoutCodec strided_codec;

/// How far the elements of a tensor reach from element (0, ..., 0), in elements to both sides. Distances above 2^64-1
/// do not fit, as products of shapes above that do not; only packed types in a buffer of more than 2^61 bytes could
/// reach as far.
struct StridedReach {
    std::uint64_t below = 0;
    std::uint64_t above = 0;
    bool below_fits = true;
    bool above_fits = true;
};

/// The reach of a tensor with elements and without dynamic dimensions.
StridedReach strided_reach(std::span<const std::uint64_t> shape, std::span<const std::int64_t> strides) noexcept;

/// Whether byte_offset leaves room for the elements before element (0, ..., 0).
/// @errors invalid_layout, at byte_offset
Result<void> check_room_below(const LayoutContext& context, const StridedReach& reach);

/// Whether `byte_size` bytes leave room for the elements from element (0, ..., 0) on. byte_offset is at most byte_size.
/// @errors invalid_layout, at the size of buffer 0
Result<void> check_room_above(const LayoutContext& context, const StridedReach& reach, std::uint64_t byte_size);

}  // namespace hurray

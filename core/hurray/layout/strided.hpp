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

}  // namespace hurray

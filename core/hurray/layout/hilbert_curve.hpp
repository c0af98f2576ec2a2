// The Hilbert curve by Skilling's transform. (format: hilbert; J. Skilling, "Programming the Hilbert curve", 2004)
//
// Coordinates have `order` bits, rank is 2 to 63, and order * rank at most 63. Nothing is checked here.
#pragma once

#include <cstdint>

namespace hurray {

/// The place on the curve of the coordinates in `x`, which are used up.
inline std::uint64_t hilbert_index(std::uint64_t* x, std::uint32_t rank, std::uint32_t order) noexcept {
    const std::uint64_t top = std::uint64_t{1} << (order - 1);
    for (std::uint64_t bit = top; bit > 1; bit >>= 1) {
        const std::uint64_t low = bit - 1;
        for (std::uint32_t i = 0; i < rank; ++i) {
            // Without a branch: which bits are set is as good as random.
            const std::uint64_t set = 0 - static_cast<std::uint64_t>((x[i] & bit) != 0);
            const std::uint64_t swap = (x[0] ^ x[i]) & low & ~set;
            x[0] ^= (low & set) | swap;
            x[i] ^= swap;
        }
    }
    for (std::uint32_t i = 1; i < rank; ++i) x[i] ^= x[i - 1];
    std::uint64_t flip = 0;
    for (std::uint64_t bit = top; bit > 1; bit >>= 1) {
        flip ^= (bit - 1) & (0 - static_cast<std::uint64_t>((x[rank - 1] & bit) != 0));
    }
    std::uint64_t index = 0;
    for (std::uint32_t b = order; b-- > 0;) {
        for (std::uint32_t d = 0; d < rank; ++d) index = index << 1 | ((x[d] ^ flip) >> b & 1);
    }
    return index;
}

/// The coordinates of a place on the curve.
inline void hilbert_coordinates(std::uint64_t index, std::uint64_t* x, std::uint32_t rank,
                                std::uint32_t order) noexcept {
    for (std::uint32_t d = 0; d < rank; ++d) {
        std::uint64_t coordinate = 0;
        std::uint64_t digits = index >> (rank - 1 - d);
        for (std::uint32_t b = 0; b < order; ++b) {
            coordinate |= (digits & 1) << b;
            digits >>= rank;
        }
        x[d] = coordinate;
    }
    const std::uint64_t last = x[rank - 1] >> 1;
    for (std::uint32_t i = rank - 1; i > 0; --i) x[i] ^= x[i - 1];
    x[0] ^= last;
    const std::uint64_t end = std::uint64_t{1} << order;
    for (std::uint64_t bit = 2; bit != end; bit <<= 1) {
        const std::uint64_t low = bit - 1;
        for (std::uint32_t i = rank; i-- > 0;) {
            const std::uint64_t set = 0 - static_cast<std::uint64_t>((x[i] & bit) != 0);
            const std::uint64_t swap = (x[0] ^ x[i]) & low & ~set;
            x[0] ^= (low & set) | swap;
            x[i] ^= swap;
        }
    }
}

}  // namespace hurray

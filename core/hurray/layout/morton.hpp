// Morton: the bits of the indices interleaved, the lowest first, make an element's place. (format: morton)
//
// Layout words: morton_bits[rank].
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/hurray/layout/layout.hpp"

namespace hurray {

extern const LayoutCodec morton_codec;

/// How many bits of each index there are in the code, one value a dimension; empty for other layouts. Valid as long as
/// the descriptor.
inline std::span<const std::uint64_t> morton_bits(const Descriptor& descriptor) noexcept {
    return descriptor.layout() == layout_tag::morton ? descriptor.layout_words() : std::span<const std::uint64_t>{};
}

/// The code of an index: bit b of dimension d is bit b * rank + d of it. Every index is below 2^bits, all bits of the
/// code below 64.
std::uint64_t morton_code(std::span<const std::uint64_t> index, std::span<const std::uint64_t> bits) noexcept;

/// Elements that the buffer has room for: 2^(sum of the bits), and with unequal bits, which leave gaps between the codes,
/// as many as the code of the last element needs when that is more. Nothing when it is more than 2^64-1. `shape` has
/// elements, no dynamic dimension and no size above 2^bits.
std::optional<std::uint64_t> morton_room(std::span<const std::uint64_t> shape,
                                         std::span<const std::uint64_t> bits) noexcept;

}  // namespace hurray

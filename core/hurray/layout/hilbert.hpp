// Hilbert: elements in the order in which a Hilbert curve visits a cube of side 2^order. (format: hilbert)
//
// Layout words: one, of hilbert_order (the low half) and hilbert_rank (the high half).
#pragma once

#include <cstdint>

#include "core/hurray/layout/layout.hpp"

namespace hurray {

extern const LayoutCodec hilbert_codec;

struct HilbertFields {
    /// Binary logarithm of every dimension's size.
    std::uint32_t order = 0;
    /// That of the tensor.
    std::uint32_t rank = 0;
};

/// All 0 for other layouts.
inline HilbertFields hilbert_fields(const Descriptor& descriptor) noexcept {
    if (descriptor.layout() != layout_tag::hilbert) return {};
    const std::uint64_t word = descriptor.layout_words()[0];
    return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
}

}  // namespace hurray

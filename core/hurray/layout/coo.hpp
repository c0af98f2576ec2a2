// COO: the values that are stored and, for each, its index. (format: COO)
//
// Layout words: nnz, is_sorted.
#pragma once

#include <cstdint>

#include "core/hurray/layout/layout.hpp"

namespace hurray {

extern const LayoutCodec coo_codec;

/// The buffers of a COO tensor.
namespace coo_buffer {
inline constexpr std::uint32_t values = 0;
/// The indices of the entries one after the other, `rank` u64 each.
inline constexpr std::uint32_t indices = 1;
}  // namespace coo_buffer

struct CooFields {
    /// Entries that are stored.
    std::uint64_t nnz = 0;
    /// Whether they are in lexicographic order of their indices.
    bool is_sorted = false;

    friend bool operator==(const CooFields&, const CooFields&) = default;
};

/// All 0 for other layouts.
inline CooFields coo_fields(const Descriptor& descriptor) noexcept {
    if (descriptor.layout() != layout_tag::coo) return {};
    const auto words = descriptor.layout_words();
    return {words[0], words[1] != 0};
}

}  // namespace hurray

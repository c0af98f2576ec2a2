// CSF: a tree with a level for each dimension, whose leaves are the values that are stored. (format: CSF)
//
// Layout words: nnz, mode_order[rank].
#pragma once

#include <cstdint>
#include <span>

#include "core/hurray/layout/layout.hpp"

namespace hurray {

extern const LayoutCodec csf_codec;

/// The buffers of a CSF tensor.
namespace csf_buffer {
inline constexpr std::uint32_t values = 0;
/// Where the children of each node of the level above start: one u64 each, and one more.
constexpr std::uint32_t positions(std::uint32_t level) noexcept {
    return 2 * level + 1;
}
/// The coordinates of a level's nodes: one u64 each.
constexpr std::uint32_t coordinates(std::uint32_t level) noexcept {
    return 2 * level + 2;
}
}  // namespace csf_buffer

struct CsfFields {
    /// Entries that are stored.
    std::uint64_t nnz = 0;
    /// The dimension of each level, the outermost first: a permutation of 0 to rank - 1. Valid as long as the
    /// descriptor.
    std::span<const std::uint64_t> mode_order = {};
};

/// All 0 for other layouts.
inline CsfFields csf_fields(const Descriptor& descriptor) noexcept {
    if (descriptor.layout() != layout_tag::csf) return {};
    const auto words = descriptor.layout_words();
    return {words[0], words.subspan(1)};
}

/// Nodes of a level, which the size of its buffer of coordinates tells.
inline std::uint64_t csf_node_count(const Descriptor& descriptor, std::uint32_t level) noexcept {
    return descriptor.buffers()[csf_buffer::coordinates(level)].byte_size / 8;
}

}  // namespace hurray

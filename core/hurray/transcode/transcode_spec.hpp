// What a transcoding shall make.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/hurray/layout/layout_tag.hpp"
#include "core/hurray/layout/tiled.hpp"

namespace hurray {

/// The layout that is wanted, and its fields. Spans are borrowed for the call.
struct TranscodeSpec {
    /// Layout tag: row_major, col_major, strided, tiled, morton, hilbert, coo, csr, csc or csf.
    std::uint8_t layout = layout_tag::row_major;
    /// strided: in elements, one a dimension, any sign. No two elements may share a place; sorted by size, each must be
    /// larger than all that the smaller ones reach over (strides of dimensions with one element do not count).
    std::span<const std::int64_t> strides = {};
    /// tiled: the levels, the outermost first, at most 8, the tiles of each a multiple of those of the next; strides in
    /// them as above.
    std::span<const TiledLevel> tiled = {};
    /// morton: bits of each index, one number a dimension; empty for as few as will do.
    std::span<const std::uint32_t> morton_bits = {};
    /// hilbert: log2 of the size of the dimensions, which says it anyway; 0 for whatever it is.
    std::uint32_t hilbert_order = 0;
    /// csf: the dimensions from the outermost level on; empty for 0, 1, 2, ...
    std::span<const std::uint32_t> mode_order = {};
    /// A block-paged source: the number of the sequence that is wanted, whose shape is [its tokens, heads, elements];
    /// nothing for all of them, one after the other, as the shape of the source says it.
    std::optional<std::uint32_t> sequence = std::nullopt;
    /// A block-paged source: the tokens of each sequence; empty where the tables tell them, see PagedView.
    std::span<const std::uint64_t> token_counts = {};
    /// Of the new buffers, a power of two of at least 64; 0 means 64.
    std::uint32_t alignment = 0;
};

}  // namespace hurray

// Tiled: a grid of tiles that are stored whole, one after the other, each with an order of its own inside; tiles may be
// tiled again. (format: tiled)
//
// Layout words, for each level from the outermost on: tile_shape[rank]; one word of outer_layout (bits 0 to 7),
// inner_layout (8 to 15) and the reserved bytes (16 to 31); outer_strides[rank] when outer_layout is strided;
// inner_strides[rank] when inner_layout is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/hurray/layout/layout.hpp"
#include "core/hurray/layout/strided.hpp"

namespace hurray {

extern const LayoutCodec tiled_codec;

/// How deep tiles of tiles may go.
inline constexpr std::size_t max_tile_levels = 8;

/// The fields of one level. Element i lies in tile i / tile_shape of the level's grid, at i mod tile_shape in it.
struct TiledLevel {
    /// Sizes of a tile, in elements, each at least 1.
    std::span<const std::uint64_t> tile_shape;
    /// Order of the tiles: row_major, col_major or strided.
    std::uint8_t outer_layout = layout_tag::row_major;
    /// Order inside a tile: likewise, or tiled: then the next level says it.
    std::uint8_t inner_layout = layout_tag::row_major;
    /// In tiles; empty unless outer_layout is strided.
    std::span<const std::int64_t> outer_strides = {};
    /// In elements; empty unless inner_layout is strided.
    std::span<const std::int64_t> inner_strides = {};
};

/// All levels, the outermost first. Refers to the words of the descriptor.
class TiledLevels {
  public:
    [[nodiscard]] std::span<const TiledLevel> levels() const noexcept { return {levels_.data(), count_}; }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] const TiledLevel& operator[](std::size_t level) const noexcept { return levels_[level]; }
    void add(const TiledLevel& level) noexcept { levels_[count_++] = level; }

  private:
    std::array<TiledLevel, max_tile_levels> levels_;
    std::size_t count_ = 0;
};

/// The levels of a tiled tensor, valid as long as the descriptor; none for other layouts.
TiledLevels tiled_levels(const Descriptor& descriptor) noexcept;

/// How far whole tiles reach from the start of tile (0, ..., 0), in elements to both sides. A tile has room for all of
/// its elements even where its strides leave some out. `shape` has elements and no dynamic dimension, tiles are not
/// empty.
StridedReach tiled_reach(std::span<const std::uint64_t> shape, std::span<const TiledLevel> levels) noexcept;

/// Where a tile is not a multiple of the tiles that it is made of: these reach beyond it, into the next one. A reader
/// takes such a descriptor at its word, a writer does not make it.
struct TileMisfit {
    /// The level of the smaller tile, at least 1.
    std::size_t level;
    std::size_t dimension;
};
std::optional<TileMisfit> find_tile_misfit(std::span<const TiledLevel> levels) noexcept;

/// The layout words of levels that a writer gave.
/// @param fields_at offset of the fields in the encoded form, for errors
/// @errors invalid_layout, at the field: no levels or more than 8; values other than one a dimension; a tag that its
///     place does not have; strides without a strided order; inner_layout and the number of levels disagree; a tile size
///     of 0; a misfit
Result<std::vector<std::uint64_t>> tiled_words(std::size_t rank, std::span<const TiledLevel> levels,
                                               std::uint64_t fields_at);

}  // namespace hurray

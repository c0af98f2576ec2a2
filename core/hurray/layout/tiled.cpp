#include "core/hurray/layout/tiled.hpp"

#include <algorithm>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/layout/contiguous.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// outer_layout, inner_layout and the reserved bytes.
constexpr std::uint32_t tags_size = 4;

bool is_outer_layout(std::uint8_t tag) noexcept {
    return tag == layout_tag::row_major || tag == layout_tag::col_major || tag == layout_tag::strided;
}

bool is_inner_layout(std::uint8_t tag) noexcept {
    return is_outer_layout(tag) || tag == layout_tag::tiled;
}

std::span<const std::int64_t> as_signed(std::span<const std::uint64_t> words) noexcept {
    return {reinterpret_cast<const std::int64_t*>(words.data()), words.size()};
}

// Words that decode made, taken apart.
TiledLevels split(std::uint32_t rank, std::span<const std::uint64_t> words) noexcept {
    TiledLevels levels;
    while (!words.empty()) {
        TiledLevel level{.tile_shape = words.first(rank),
                         .outer_layout = static_cast<std::uint8_t>(words[rank]),
                         .inner_layout = static_cast<std::uint8_t>(words[rank] >> 8)};
        words = words.subspan(rank + 1);
        if (level.outer_layout == layout_tag::strided) {
            level.outer_strides = as_signed(words.first(rank));
            words = words.subspan(rank);
        }
        if (level.inner_layout == layout_tag::strided) {
            level.inner_strides = as_signed(words.first(rank));
            words = words.subspan(rank);
        }
        levels.add(level);
    }
    return levels;
}

std::uint32_t encoded_size(std::uint32_t rank, std::span<const std::uint64_t> words) {
    return static_cast<std::uint32_t>(8 * words.size() - (8 - tags_size) * split(rank, words).size());
}

void encode_fields(std::uint32_t rank, std::span<const std::uint64_t> words, WireWriter& out) {
    while (!words.empty()) {
        out.u64s(words.first(rank));
        const auto tags = static_cast<std::uint32_t>(words[rank]);
        out.u32(tags);
        std::size_t strides = (tags & 0xFF) == layout_tag::strided ? rank : 0;
        strides += (tags >> 8 & 0xFF) == layout_tag::strided ? rank : 0;
        out.u64s(words.subspan(rank + 1, strides));
        words = words.subspan(rank + 1 + strides);
    }
}

// How many levels there are when all of them are there and their tags say where they end; 0 otherwise.
std::size_t count_levels(WireReader in, std::uint32_t rank) noexcept {
    for (std::size_t level = 1; level <= max_tile_levels; ++level) {
        if (!in.has(8 * rank + tags_size)) return 0;
        in.skip(8 * rank);
        const std::uint8_t outer = in.u8();
        const std::uint8_t inner = in.u8();
        in.skip(2);
        if (!is_outer_layout(outer) || !is_inner_layout(inner)) return 0;
        std::uint32_t strides = outer == layout_tag::strided ? rank : 0;
        strides += inner == layout_tag::strided ? rank : 0;
        if (!in.has(8 * strides)) return 0;
        in.skip(8 * strides);
        if (inner != layout_tag::tiled) return level;
    }
    return 0;
}

// Walks the fields in wire order as far as they are there, and reports the first fault.
class FaultFinder {
  public:
    FaultFinder(WireReader in, std::uint32_t rank) noexcept : in_(in), rank_(rank) {}

    Result<void> find() {
        for (level_ = 0; level_ < max_tile_levels; ++level_) {
            std::uint8_t outer = 0;
            std::uint8_t inner = 0;
            if (auto found = tile_shape(); !found) return found;
            if (auto found = tags(outer, inner); !found) return found;
            if (outer == layout_tag::strided) {
                if (auto found = strides("outer_strides"); !found) return found;
            }
            if (inner == layout_tag::strided) {
                if (auto found = strides("inner_strides"); !found) return found;
            }
            if (inner != layout_tag::tiled) break;
        }
        return {};
    }

  private:
    Result<void> tile_shape() {
        const std::uint32_t present = std::min(rank_, in_.remaining() / 8);
        for (std::uint32_t k = 0; k < present; ++k) {
            if (load_le<std::uint64_t>(in_.here() + 8 * k) == 0) {
                return fail(Status::invalid_layout, in_.offset() + 8 * k,
                            "tile_shape[%u] of level %zu: expected at least 1, got 0", k, level_ + 1);
            }
        }
        if (present < rank_) return truncated_array("tile_shape", 8, rank_, in_);
        in_.skip(8 * rank_);
        return {};
    }

    Result<void> tags(std::uint8_t& outer, std::uint8_t& inner) {
        if (!in_.has(1)) return truncated_field("outer_layout", in_.offset(), 1, 0);
        outer = in_.u8();
        if (!is_outer_layout(outer)) {
            return fail(Status::invalid_layout, in_.offset() - 1,
                        "outer_layout of level %zu: expected 01, 02 or 03 (row_major, col_major, strided), got %02X",
                        level_ + 1, outer);
        }
        if (!in_.has(1)) return truncated_field("inner_layout", in_.offset(), 1, 0);
        inner = in_.u8();
        if (!is_inner_layout(inner)) {
            return fail(
                Status::invalid_layout, in_.offset() - 1,
                "inner_layout of level %zu: expected 01, 02, 03 or 04 (row_major, col_major, strided, tiled), got %02X",
                level_ + 1, inner);
        }
        if (inner == layout_tag::tiled && level_ + 1 == max_tile_levels) {
            return fail(Status::invalid_layout, in_.offset() - 1,
                        "inner_layout of level %zu: expected at most %zu levels of tiles, got 04 (tiled) again",
                        level_ + 1, max_tile_levels);
        }
        const std::uint32_t reserved = std::min<std::uint32_t>(2, in_.remaining());
        for (std::uint32_t i = 0; i < reserved; ++i) {
            if (in_.here()[i] != std::byte{0}) {
                return fail(Status::invalid_layout, in_.offset(),
                            "reserved bytes of level %zu: expected 00, got %02X in byte %u", level_ + 1,
                            static_cast<unsigned>(in_.here()[i]), i);
            }
        }
        if (reserved < 2) return truncated_field("reserved", in_.offset(), 2, reserved);
        in_.skip(2);
        return {};
    }

    Result<void> strides(const char* field) {
        if (!in_.has(8 * rank_)) return truncated_array(field, 8, rank_, in_);
        in_.skip(8 * rank_);
        return {};
    }

    WireReader in_;
    std::uint32_t rank_;
    std::size_t level_ = 0;
};

Result<void> decode_fields(WireReader& in, DescriptorAssembler& out) {
    const std::uint32_t rank = out.descriptor().rank();
    const std::size_t levels = count_levels(in, rank);
    if (levels == 0) [[unlikely]] {
        if (auto found = FaultFinder(in, rank).find(); !found) return found;
        return fail(Status::internal, in.offset(), "tiled: was refused for no reason");
    }
    // The tags of a level take a word, which is wider than they are.
    out.ensure(in.remaining() + (8 - tags_size) * levels);
    for (std::size_t level = 0; level < levels; ++level) {
        out.add_wire_words(in.here(), rank);
        in.skip(8 * rank);
        const std::uint32_t tags = in.u32();
        *out.claim_words(1) = tags;
        std::uint32_t strides = (tags & 0xFF) == layout_tag::strided ? rank : 0;
        strides += (tags >> 8 & 0xFF) == layout_tag::strided ? rank : 0;
        out.add_wire_words(in.here(), strides);
        in.skip(8 * strides);
    }
    return {};
}

bool has_empty_tile(const TiledLevels& levels) noexcept {
    return std::ranges::any_of(levels.levels(), [](const TiledLevel& level) {
        return std::ranges::find(level.tile_shape, 0U) != level.tile_shape.end();
    });
}

bool has_reserved(std::uint32_t rank, const TiledLevels& levels) noexcept {
    // The word of the tags follows the tile's shape.
    return std::ranges::any_of(levels.levels(),
                               [&](const TiledLevel& level) { return level.tile_shape.data()[rank] >> 16 != 0; });
}

// The fields were decoded whole: written again, they are where their faults can be found.
[[gnu::cold, gnu::noinline]] Result<void> fields_fault(const LayoutContext& context) {
    const std::uint32_t rank = context.descriptor.rank();
    const auto words = context.descriptor.layout_words();
    std::vector<std::byte> bytes(context.fields_at + encoded_size(rank, words));
    WireWriter writer(bytes.data() + context.fields_at);
    encode_fields(rank, words, writer);
    const WireReader reader(bytes.data(), static_cast<std::uint32_t>(bytes.size()), context.fields_at);
    if (auto found = FaultFinder(reader, rank).find(); !found) return found;
    return fail(Status::internal, context.fields_at, "tiled: was refused for no reason");
}

Result<void> check_fields(const LayoutContext& context) {
    const TiledLevels levels = split(context.descriptor.rank(), context.descriptor.layout_words());
    // Tiles without elements reach nowhere, so that this comes before byte_offset can be judged.
    if (has_empty_tile(levels)) [[unlikely]]
        return fields_fault(context);
    if (context.element_count != 0) {
        const StridedReach reach = tiled_reach(context.descriptor.shape(), levels.levels());
        if (auto checked = check_room_below(context, reach); !checked) [[unlikely]]
            return checked;
    }
    if (has_reserved(context.descriptor.rank(), levels)) [[unlikely]]
        return fields_fault(context);
    return check_single_buffer(context);
}

Result<void> check_buffer_size(const LayoutContext& context, std::uint32_t index, std::uint64_t byte_size) {
    if (index != 0 || context.element_count == 0) return {};
    const TiledLevels levels = split(context.descriptor.rank(), context.descriptor.layout_words());
    return check_room_above(context, tiled_reach(context.descriptor.shape(), levels.levels()), byte_size);
}

std::optional<std::uint64_t> product(std::span<const std::uint64_t> shape) noexcept {
    std::optional<std::uint64_t> result = 1;
    for (const std::uint64_t size : shape) {
        result = checked_mul(*result, size);
        if (!result) break;
    }
    return result;
}

// The reach of a grid of tiles, in tiles, or of a tile, in elements.
StridedReach reach_of(std::uint8_t layout, std::span<const std::uint64_t> shape,
                      std::span<const std::int64_t> strides) noexcept {
    if (layout == layout_tag::strided) return strided_reach(shape, strides);
    const auto count = product(shape);
    return {.above = count.value_or(0) - 1, .above_fits = count.has_value()};
}

// distance * unit + more, none of which need fit.
struct Distance {
    std::uint64_t value;
    bool fits;
};
Distance extended(Distance distance, std::optional<std::uint64_t> unit, Distance more) noexcept {
    if (!distance.fits || !more.fits) return {~std::uint64_t{0}, false};
    if (distance.value == 0) return more;
    const auto scaled = unit ? checked_mul(distance.value, *unit) : std::nullopt;
    const auto sum = scaled ? checked_add(*scaled, more.value) : std::nullopt;
    return {sum.value_or(~std::uint64_t{0}), sum.has_value()};
}

}  // namespace

TiledLevels tiled_levels(const Descriptor& descriptor) noexcept {
    if (descriptor.layout() != layout_tag::tiled) return {};
    return split(descriptor.rank(), descriptor.layout_words());
}

StridedReach tiled_reach(std::span<const std::uint64_t> shape, std::span<const TiledLevel> levels) noexcept {
    const TiledLevel& last = levels.back();
    StridedReach reach = reach_of(last.inner_layout, last.tile_shape, last.inner_strides);
    std::array<std::uint64_t, max_rank> grid;
    for (std::size_t i = levels.size(); i-- > 0;) {
        const TiledLevel& level = levels[i];
        const auto whole = i == 0 ? shape : levels[i - 1].tile_shape;
        for (std::size_t k = 0; k < whole.size(); ++k) {
            const std::uint64_t size = level.tile_shape[k];
            grid[k] = whole[k] / size + (whole[k] % size != 0 ? 1 : 0);
        }
        const StridedReach tiles =
            reach_of(level.outer_layout, std::span(grid).first(whole.size()), level.outer_strides);
        const auto tile = product(level.tile_shape);
        const std::uint64_t tile_end = tile.value_or(0) - 1;
        const Distance above{std::max(reach.above, tile_end), reach.above_fits && tile.has_value()};
        const Distance below{reach.below, reach.below_fits};
        const Distance all_above = extended({tiles.above, tiles.above_fits}, tile, above);
        const Distance all_below = extended({tiles.below, tiles.below_fits}, tile, below);
        reach = {all_below.value, all_above.value, all_below.fits, all_above.fits};
    }
    return reach;
}

std::optional<TileMisfit> find_tile_misfit(std::span<const TiledLevel> levels) noexcept {
    for (std::size_t level = 1; level < levels.size(); ++level) {
        for (std::size_t k = 0; k < levels[level].tile_shape.size(); ++k) {
            if (levels[level - 1].tile_shape[k] % levels[level].tile_shape[k] != 0) return TileMisfit{level, k};
        }
    }
    return std::nullopt;
}

Result<std::vector<std::uint64_t>> tiled_words(std::size_t rank, std::span<const TiledLevel> levels,
                                               std::uint64_t fields_at) {
    std::vector<std::uint64_t> words;
    if (levels.empty()) {
        return fail(Status::invalid_layout, fields_at, "tile_shape: expected 1 to %zu levels, got none",
                    max_tile_levels);
    }
    std::uint64_t at = fields_at;
    const auto count_fault = [&](const char* field, std::size_t level, std::size_t expected, std::size_t got) {
        return fail(Status::invalid_layout, at, "%s of level %zu: expected %zu values, got %zu", field, level + 1,
                    expected, got);
    };
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const TiledLevel& level = levels[i];
        if (level.tile_shape.size() != rank) return count_fault("tile_shape", i, rank, level.tile_shape.size());
        for (std::size_t k = 0; k < rank; ++k) {
            const std::uint64_t size = level.tile_shape[k];
            if (size == 0) {
                return fail(Status::invalid_layout, at + 8 * k,
                            "tile_shape[%zu] of level %zu: expected at least 1, got 0", k, i + 1);
            }
            if (i != 0 && levels[i - 1].tile_shape[k] % size != 0) {
                return fail(Status::invalid_layout, at + 8 * k,
                            "tile_shape[%zu] of level %zu: expected a divisor of %llu, the tile of level %zu, got %llu",
                            k, i + 1, static_cast<ull>(levels[i - 1].tile_shape[k]), i, static_cast<ull>(size));
            }
        }
        words.insert(words.end(), level.tile_shape.begin(), level.tile_shape.end());
        at += 8 * rank;
        if (!is_outer_layout(level.outer_layout)) {
            return fail(Status::invalid_layout, at,
                        "outer_layout of level %zu: expected 01, 02 or 03 (row_major, col_major, strided), got %02X",
                        i + 1, level.outer_layout);
        }
        const bool last = i + 1 == levels.size();
        if (!is_inner_layout(level.inner_layout) || (level.inner_layout == layout_tag::tiled) == last ||
            (!last && i + 1 == max_tile_levels)) {
            return fail(Status::invalid_layout, at + 1,
                        "inner_layout of level %zu: expected %s, and at most %zu levels, got %02X of %zu levels",
                        i + 1, last ? "01, 02 or 03 for the last level" : "04 (tiled), since a level follows",
                        max_tile_levels, level.inner_layout, levels.size());
        }
        words.push_back(level.outer_layout | static_cast<std::uint64_t>(level.inner_layout) << 8);
        at += tags_size;
        const auto add_strides = [&](std::span<const std::int64_t> strides) {
            for (const std::int64_t stride : strides) words.push_back(static_cast<std::uint64_t>(stride));
            at += 8 * strides.size();
        };
        const std::size_t outer = level.outer_layout == layout_tag::strided ? rank : 0;
        if (level.outer_strides.size() != outer) return count_fault("outer_strides", i, outer, level.outer_strides.size());
        add_strides(level.outer_strides);
        const std::size_t inner = level.inner_layout == layout_tag::strided ? rank : 0;
        if (level.inner_strides.size() != inner) return count_fault("inner_strides", i, inner, level.inner_strides.size());
        add_strides(level.inner_strides);
    }
    return words;
}

const LayoutCodec tiled_codec = {encoded_size, decode_fields, encode_fields, check_fields, check_buffer_size};

}  // namespace hurray

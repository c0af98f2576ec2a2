#include "core/hurray/transcode/hilbert_copy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "core/hurray/layout/hilbert_states.hpp"
#include "core/hurray/layout/hilbert_walk.hpp"
#include "core/hurray/transcode/blocks.hpp"
#include "core/hurray/transcode/element_kind.hpp"
#include "core/hurray/transcode/place_tables.hpp"

namespace hurray::transcode_detail {
namespace {

// A copy between a curve and a tensor whose places are sums over the dimensions.
struct HilbertCopy {
    const HilbertAddress& curve;
    const AddressMap& other;
    bool to_curve;
    const SourceSide& from;
    const TargetSide& to;
    const Packing& packing;
    Work& work;
};

// Whether the places of the other tensor are sums over the bits of the indices.
bool is_sum_over_bits(const AddressMap& other) {
    const auto shape = other.shape();
    for (std::uint32_t k = 0; k < shape.size(); ++k) {
        std::vector<std::uint64_t> units;
        add_units(other, k, units);
        const auto fits = [&](std::uint64_t unit) { return unit >= shape[k] || std::has_single_bit(unit); };
        if (!std::ranges::all_of(units, fits)) return false;
    }
    return true;
}

// Levels of the curve that one table covers, for each state: about 64 elements.
constexpr std::uint32_t table_levels(std::uint32_t rank) noexcept {
    return rank == 2 ? 3 : rank == 3 ? 2 : 1;
}

// By tables: of the states and how they follow from each other, of the places in the other tensor for each half of the
// dimensions at each level, and of those of the elements of a small cube in each state.
template <std::uint32_t rank, bool to_curve>
class CubeCopy {
  public:
    explicit CubeCopy(const HilbertCopy& copy)
        : copy_(copy), order_(copy.curve.order()), levels_(std::min(table_levels(rank), order_)) {
        for (std::uint32_t level = 0; level < order_; ++level) {
            for (std::uint32_t halves = 0; halves < parts; ++halves) {
                std::int64_t& share = shares_[level][halves];
                for (std::uint32_t k = 0; k < rank; ++k) {
                    if ((halves >> k & 1) != 0) share += copy.other.offset_along(k, std::uint64_t{1} << level);
                }
            }
        }
        fill_cubes();
    }

    bool run() {
        return with_kind(copy_.packing, [&](const auto& kind) { return run_for(kind); });
    }

  private:
    static constexpr std::size_t parts = std::size_t{1} << rank;
    static constexpr std::uint32_t most_levels = 63 / rank;
    static constexpr const HilbertStates<rank>& states = hilbert_states<rank>;

    // Of a cube in a state: that of each part in turn. The smallest cubes come first.
    void fill_cubes() {
        cubes_.assign(states.count, 0);
        cube_ = 1;
        for (std::uint32_t level = 0; level < levels_; ++level) {
            std::vector<std::int64_t> larger;
            larger.reserve(cubes_.size() * parts);
            for (std::size_t state = 0; state < states.count; ++state) {
                for (std::size_t digit = 0; digit < parts; ++digit) {
                    const std::int64_t share = shares_[level][states.halves[state][digit]];
                    const std::int64_t* part = cubes_.data() + states.next[state][digit] * cube_;
                    for (std::size_t i = 0; i < cube_; ++i) larger.push_back(share + part[i]);
                }
            }
            cubes_ = std::move(larger);
            cube_ *= parts;
        }
    }

    template <typename Kind>
    bool run_for(const Kind& kind) {
        // The way down to the cube where the copy is.
        struct Level {
            std::size_t digit = 0;
            std::size_t state = 0;
            std::int64_t offset = 0;
        };
        std::array<Level, most_levels + 1> way{};
        const std::uint32_t depth = order_ - levels_;
        const auto enter = [&](std::uint32_t level) {
            for (; level < depth; ++level) {
                const Level& here = way[level];
                const std::size_t half = states.halves[here.state][here.digit];
                way[level + 1] = {0, states.next[here.state][here.digit],
                                  here.offset + shares_[order_ - 1 - level][half]};
            }
        };
        enter(0);
        std::uint64_t place = 0;
        const std::uint64_t bytes = copy_.packing.bytes_of(cube_);
        while (true) {
            const Level& cube = way[depth];
            copy_cube(kind, cubes_.data() + cube.state * cube_, cube.offset, place);
            place += cube_;
            if (!copy_.work.advance(bytes)) return false;
            std::uint32_t level = depth;
            while (level > 0 && way[level - 1].digit + 1 == parts) --level;
            if (level == 0) return true;
            ++way[level - 1].digit;
            enter(level - 1);
        }
    }

    template <typename Kind>
    void copy_cube(const Kind& kind, const std::int64_t* places, std::int64_t offset, std::uint64_t place) const noexcept {
        const std::byte* from = copy_.from.base;
        std::byte* to = copy_.to.base;
        if constexpr (to_curve) {
            const std::uint64_t from_start = copy_.from.at(offset);
            const std::uint64_t to_start = copy_.to.at(static_cast<std::int64_t>(place));
#pragma GCC unroll 8
            for (std::size_t i = 0; i < cube_; ++i) {
                kind.copy(from, from_start + static_cast<std::uint64_t>(places[i]), to, to_start + i);
            }
        } else {
            const std::uint64_t from_start = copy_.from.at(static_cast<std::int64_t>(place));
            const std::uint64_t to_start = copy_.to.at(offset);
#pragma GCC unroll 8
            for (std::size_t i = 0; i < cube_; ++i) {
                kind.copy(from, from_start + i, to, to_start + static_cast<std::uint64_t>(places[i]));
            }
        }
    }

    const HilbertCopy& copy_;
    std::uint32_t order_;
    std::uint32_t levels_;
    std::array<std::array<std::int64_t, parts>, most_levels> shares_{};
    std::size_t cube_ = 1;
    // Places in the other tensor, one cube for each state.
    std::vector<std::int64_t> cubes_;
};

template <std::uint32_t rank>
bool copy_cubes(const HilbertCopy& copy) {
    return copy.to_curve ? CubeCopy<rank, true>(copy).run() : CubeCopy<rank, false>(copy).run();
}

// Element by element.
bool copy_elements(const HilbertCopy& copy) {
    const std::uint32_t rank = copy.curve.rank();
    HilbertWalk walk(rank, copy.curve.order());
    std::array<std::uint64_t, max_rank> last{};
    std::array<std::int64_t, max_rank> shares{};
    std::int64_t offset = 0;
    std::int64_t place = 0;
    constexpr std::uint64_t piece = 256;
    const auto count = static_cast<std::int64_t>(copy.other.element_count());
    do {
        for (std::uint32_t k = 0; k < rank; ++k) {
            const std::uint64_t x = walk.coordinates()[k];
            if (x == last[k]) continue;
            offset -= shares[k];
            shares[k] = copy.other.offset_along(k, x);
            offset += shares[k];
            last[k] = x;
        }
        copy_element(copy.from.base, copy.from.at(copy.to_curve ? offset : place), copy.to.base,
                     copy.to.at(copy.to_curve ? place : offset), copy.packing);
        ++place;
        const std::uint64_t in_piece = (static_cast<std::uint64_t>(place) - 1) % piece + 1;
        if ((in_piece == piece || place == count) && !copy.work.advance(copy.packing.bytes_of(in_piece))) return false;
    } while (walk.next());
    return true;
}

}  // namespace

bool copy_hilbert(const AddressMap& from_map, const SourceSide& from, const AddressMap& to_map, const TargetSide& to,
                  const Packing& packing, Work& work) {
    const bool to_curve = !to_map.is_separable();
    if (to_curve && !from_map.is_separable()) {
        // The same shape makes it the same curve.
        std::uint64_t done = 0;
        const std::uint64_t count = from_map.element_count();
        // Whole groups.
        const std::uint64_t piece = std::max<std::uint64_t>(Work::interval / packing.group_bytes, 1) << packing.group_shift;
        while (done < count) {
            const std::uint64_t elements = std::min(piece, count - done);
            const auto offset = static_cast<std::int64_t>(done);
            copy_run(from.base, from.at(offset), to.base, to.at(offset), elements, packing);
            if (!work.advance(packing.bytes_of(elements))) return false;
            done += elements;
        }
        return true;
    }
    const AddressMap& curve_map = to_curve ? to_map : from_map;
    const AddressMap& other = to_curve ? from_map : to_map;
    return curve_map.visit([&](const auto& curve) {
        if constexpr (std::is_same_v<decltype(curve), const HilbertAddress&>) {
            const HilbertCopy copy{curve, other, to_curve, from, to, packing, work};
            if (curve.rank() > 4 || !is_sum_over_bits(other)) return copy_elements(copy);
            return curve.rank() == 2 ? copy_cubes<2>(copy) : curve.rank() == 3 ? copy_cubes<3>(copy) : copy_cubes<4>(copy);
        } else {
            return false;
        }
    });
}

}  // namespace hurray::transcode_detail

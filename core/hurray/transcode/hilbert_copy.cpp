#include "core/hurray/transcode/hilbert_copy.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "core/hurray/layout/hilbert_walk.hpp"
#include "core/hurray/transcode/blocks.hpp"
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

    // Copies by a table from where `place` on the curve, and the offset of the other tensor, are.
    void copy(const CopyTable& table, std::uint64_t place, std::int64_t offset) const noexcept {
        const auto on_curve = static_cast<std::int64_t>(place);
        table.copy(from.base, from.at(to_curve ? offset : on_curve), to.base, to.at(to_curve ? on_curve : offset));
    }
};

// Levels of the curve that one table covers: what is left of it is walked through cell by cell. None for ranks with too
// many states.
std::uint32_t table_levels(std::uint32_t rank, std::uint32_t order) noexcept {
    constexpr std::array<std::uint32_t, 5> most = {0, 0, 5, 3, 2};
    return rank < most.size() ? std::min(most[rank], order) : 0;
}

// Whether all cubes of side 2^levels look the same in the other tensor.
bool has_equal_cubes(const AddressMap& other, std::uint32_t levels) {
    const std::uint64_t side = std::uint64_t{1} << levels;
    for (std::uint32_t k = 0; k < other.shape().size(); ++k) {
        std::vector<std::uint64_t> units;
        add_units(other, k, units);
        std::ranges::sort(units);
        for (std::size_t i = 0; i < units.size(); ++i) {
            const bool fits = units[i] < side ? side % units[i] == 0 : units[i] % side == 0;
            if (!fits || (i != 0 && units[i] % units[i - 1] != 0)) return false;
        }
    }
    return true;
}

// Tables of a cube for each of the states that a curve can have there.
class CubeTables {
  public:
    CubeTables(const HilbertCopy& copy, std::uint32_t levels) : copy_(copy), levels_(levels), tables_(1 << 13) {}

    const CopyTable& of(const HilbertState& state) {
        auto& table = tables_[state.small_key()];
        if (!table) table = make(state);
        return *table;
    }

  private:
    [[nodiscard]] std::unique_ptr<CopyTable> make(const HilbertState& state) const {
        const std::uint32_t rank = copy_.curve.rank();
        std::vector<Run> runs;
        HilbertWalk walk(rank, levels_, state);
        std::int64_t place = 0;
        do {
            std::int64_t offset = 0;
            for (std::uint32_t k = 0; k < rank; ++k) offset += copy_.other.offset_along(k, walk.coordinates()[k]);
            runs.push_back(copy_.to_curve ? Run{offset, place, 1} : Run{place, offset, 1});
            ++place;
        } while (walk.next());
        // Of packed elements, nothing is known about the places of cubes in the other tensor.
        const bool whole_bytes = copy_.packing.group_shift == 0;
        const bool at_groups = whole_bytes || copy_.packing.is_first(static_cast<std::uint64_t>(place));
        return std::make_unique<CopyTable>(std::move(runs), copy_.packing, copy_.to_curve ? whole_bytes : at_groups,
                                           copy_.to_curve ? at_groups : whole_bytes);
    }

    const HilbertCopy& copy_;
    std::uint32_t levels_;
    std::vector<std::unique_ptr<CopyTable>> tables_;
};

bool copy_cubes(const HilbertCopy& copy, std::uint32_t levels) {
    const std::uint32_t rank = copy.curve.rank();
    CubeTables tables(copy, levels);
    HilbertWalk walk(rank, copy.curve.order() - levels);
    const std::uint64_t count = std::uint64_t{1} << (rank * levels);
    std::uint64_t place = 0;
    do {
        std::int64_t offset = 0;
        for (std::uint32_t k = 0; k < rank; ++k) offset += copy.other.offset_along(k, walk.coordinates()[k] << levels);
        copy.copy(tables.of(walk.state()), place, offset);
        place += count;
        if (!copy.work.advance(copy.packing.bytes_of(count))) return false;
    } while (walk.next());
    return true;
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
            CopyTable({{0, 0, elements}}, packing, true, true)
                .copy(from.base, from.at(static_cast<std::int64_t>(done)), to.base,
                      to.at(static_cast<std::int64_t>(done)));
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
            const std::uint32_t levels = table_levels(curve.rank(), curve.order());
            if (levels != 0 && has_equal_cubes(other, levels)) return copy_cubes(copy, levels);
            return copy_elements(copy);
        } else {
            return false;
        }
    });
}

}  // namespace hurray::transcode_detail

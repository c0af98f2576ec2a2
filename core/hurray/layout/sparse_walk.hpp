// Walking through the entries of a sparse tensor in the order in which they are stored, with every rule of the format
// checked on the way but one: that no two entries of an unsorted COO tensor have the same index.
//
// `use` is called with the index, one value a dimension, and the position in the values, which is less than nnz; it may
// return false to stop. `pace` is called now and then with how many entries of index arrays were read, and returns false
// to stop. Nothing outside the arrays is read, whatever is in them, even when they change meanwhile.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

#include "core/hurray/layout/sparse_arrays.hpp"

namespace hurray::sparse_walk {

template <typename Use>
inline bool give(Use& use, std::span<const std::uint64_t> index, std::uint64_t position) {
    if constexpr (std::is_void_v<decltype(use(index, position))>) {
        use(index, position);
        return true;
    } else {
        return use(index, position);
    }
}

/// For who need not be asked.
struct NoPace {
    bool operator()(std::uint64_t) const noexcept { return true; }
};

template <typename Use, typename Pace>
Result<void> walk(const CooArrays& arrays, Use& use, Pace& pace) {
    const auto rank = static_cast<std::uint32_t>(arrays.shape.size());
    std::array<std::uint64_t, max_rank> index{};
    const std::span<const std::uint64_t> given(index.data(), rank);
    std::uint64_t at = 0;
    for (std::uint64_t entry = 0; entry < arrays.nnz; ++entry) {
        // Whether the index is known to lie behind that of the entry before.
        bool behind = !arrays.is_sorted || entry == 0;
        for (std::uint32_t k = 0; k < rank; ++k, ++at) {
            const std::uint64_t i = arrays.indices[at];
            if (i >= arrays.shape[k]) [[unlikely]]
                return sparse_fault::coo_bounds(arrays, entry, k, i);
            if (!behind) {
                if (i < index[k]) [[unlikely]]
                    return sparse_fault::coo_order(arrays, entry, k);
                behind = i > index[k];
            }
            index[k] = i;
        }
        if (!behind) [[unlikely]]
            return sparse_fault::coo_duplicate(arrays, entry, entry - 1);
        if (!give(use, given, entry) || !pace(rank)) return {};
    }
    return {};
}

template <typename Use, typename Pace>
Result<void> walk(const CompressedArrays& arrays, Use& use, Pace& pace) {
    std::array<std::uint64_t, 2> index{};
    std::uint64_t& major = index[arrays.major];
    std::uint64_t& minor = index[1 - arrays.major];
    std::uint64_t begin = arrays.pointers[0];
    if (begin != 0) [[unlikely]]
        return sparse_fault::pointer(arrays, 0, 0, begin);
    for (major = 0; major < arrays.slices; ++major) {
        const std::uint64_t end = arrays.pointers[major + 1];
        if (end < begin || end > arrays.nnz) [[unlikely]]
            return sparse_fault::pointer(arrays, major + 1, begin, end);
        // The least that the next one may be. Sizes are less than 2^64 - 1.
        std::uint64_t least = 0;
        for (std::uint64_t entry = begin; entry < end; ++entry) {
            minor = arrays.indices[entry];
            if (minor < least || minor >= arrays.minor_size) [[unlikely]]
                return sparse_fault::compressed_index(arrays, entry, minor);
            least = minor + 1;
            if (!give(use, index, entry)) return {};
        }
        if (!pace(end - begin + 1)) return {};
        begin = end;
    }
    if (begin != arrays.nnz) [[unlikely]]
        return sparse_fault::pointer(arrays, arrays.slices, 0, begin);
    return {};
}

template <typename Use, typename Pace>
Result<void> walk(const CsfArrays& arrays, Use& use, Pace& pace) {
    if (auto checked = check_csf_ends(arrays); !checked) [[unlikely]]
        return checked;
    // The nodes to come below one node, and the least that the next coordinate may be.
    struct Siblings {
        std::uint64_t next;
        std::uint64_t end;
        std::uint64_t least;
    };
    std::array<Siblings, max_rank> siblings;
    std::array<std::uint64_t, max_rank> index{};
    const std::span<const std::uint64_t> given(index.data(), arrays.rank);
    const std::uint32_t leaves = arrays.rank - 1;
    siblings[0] = {0, arrays.levels[0].coordinates.size(), 0};
    for (std::uint32_t level = 0;;) {
        Siblings& here = siblings[level];
        if (here.next == here.end) {
            if (level == 0) return {};
            --level;
            continue;
        }
        const CsfArrays::Level& arrays_here = arrays.levels[level];
        const std::uint64_t node = here.next++;
        const std::uint64_t coordinate = arrays_here.coordinates[node];
        if (coordinate < here.least || coordinate >= arrays_here.size) [[unlikely]]
            return sparse_fault::coordinate(arrays, level, node, coordinate);
        here.least = coordinate + 1;
        index[arrays_here.dimension] = coordinate;
        if (level == leaves) {
            if (!give(use, given, node) || !pace(1)) return {};
            continue;
        }
        ++level;
        const CsfArrays::Level& below = arrays.levels[level];
        const std::uint64_t begin = below.positions[node];
        const std::uint64_t end = below.positions[node + 1];
        if (end < begin || end > below.coordinates.size()) [[unlikely]]
            return sparse_fault::position(arrays, level, node + 1, begin, end);
        siblings[level] = {begin, end, 0};
        if (!pace(2)) return {};
    }
}

}  // namespace hurray::sparse_walk

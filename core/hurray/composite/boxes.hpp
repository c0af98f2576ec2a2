// Boxes in an index space: whether they cover it without overlap, and which one an index lies in. (format: composite,
// partition)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hurray {

/// The indices of low[k] to low[k] + size[k] - 1 in every dimension k; none when a size is 0. One value a dimension
/// each. Refers to memory of others.
struct Box {
    const std::uint64_t* low;
    const std::uint64_t* size;

    [[nodiscard]] std::uint64_t high(std::size_t k) const noexcept { return low[k] + size[k]; }
    [[nodiscard]] bool contains(std::span<const std::uint64_t> index) const noexcept {
        for (std::size_t k = 0; k < index.size(); ++k) {
            if (index[k] < low[k] || index[k] - low[k] >= size[k]) return false;
        }
        return true;
    }
};

/// Why boxes are no partition.
struct CoverFault {
    enum class Kind : std::uint8_t { gap, overlap };
    Kind kind;
    /// Two boxes that overlap; nothing where it is only known that some do.
    struct Pair {
        std::size_t first;
        std::size_t second;
    };
    std::optional<Pair> pair = {};
};

/// How many comparisons of two boxes along one dimension are made before it is decided otherwise that boxes are a
/// partition, for a number of boxes.
constexpr std::uint64_t default_cover_budget(std::size_t boxes) noexcept {
    return (std::uint64_t{1} << 24) + 64 * std::uint64_t{boxes};
}

/// Finds out whether the boxes cover a space exactly and without overlap; a box without indices covers nothing and
/// overlaps nothing. Takes O(n log n) time and then `budget` steps at most, whatever the boxes are: a sweep that does
/// not come to its end in these gives way to an identity of polynomials that holds for partitions, and for others with
/// a probability below 2^-50.
/// @param shape of the space, with fewer than 2^64 indices in all
/// @param boxes within the shape
/// @returns nothing for a partition
std::optional<CoverFault> find_cover_fault(std::span<const std::uint64_t> shape, std::span<const Box> boxes,
                                           std::uint64_t budget);

/// Finds the box that an index lies in. O(log n) where boxes lie as in a grid or are cut from one another; never more
/// than O(n).
///
/// Refers to the boxes' memory. Thread rule: may be read by any number of threads.
class BoxIndex {
  public:
    BoxIndex() = default;
    /// @param boxes that have no index in common
    BoxIndex(std::span<const std::uint64_t> shape, std::vector<Box> boxes);

    /// The number of the box; nothing for an index outside of all.
    /// @param index one value a dimension
    [[nodiscard]] std::optional<std::size_t> find(std::span<const std::uint64_t> index) const noexcept;

  private:
    // Between the boxes order_[begin, middle) and order_[middle, end): where those on either side end and start along a
    // dimension. Node `middle` is the only one that is split there.
    struct Node {
        std::uint64_t left_high = 0;
        std::uint64_t right_low = 0;
        std::uint32_t dimension = 0;
    };
    // As many boxes are looked at one by one.
    static constexpr std::size_t leaf_size = 4;

    void split(std::size_t begin, std::size_t end, std::span<const std::uint64_t> shape);

    std::vector<Box> boxes_;
    std::vector<std::size_t> order_;
    std::vector<Node> nodes_;
};

}  // namespace hurray

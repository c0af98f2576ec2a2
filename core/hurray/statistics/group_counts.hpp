// N:M sparsity: how many of each M consecutive elements are not 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hurray::statistics_detail {

/// Counts, for several sizes of groups at a time, the most elements of a group that are not 0. Groups are consecutive
/// elements of the last dimension and start at multiples of their size.
class GroupCounts {
  public:
    /// @param row size of the last dimension; 0 for none
    explicit GroupCounts(std::uint64_t row) noexcept;

    /// Whether there is a size that divides the rows; else nothing need be counted.
    [[nodiscard]] bool applies() const noexcept { return size_count_ != 0; }

    /// Takes the next numbers in row-major order of all elements. All calls but the last hand over a multiple of
    /// most_elements.
    void add(std::span<const double> numbers) noexcept;

    /// Takes the next element that is not 0, by its number in row-major order; these ascend. Elements of one way or the
    /// other are handed over, not of both.
    void add_nonzero(std::uint64_t number) noexcept;

    struct Pattern {
        std::uint8_t n = 0;
        std::uint8_t m = 0;
    };
    /// The smallest group of which never more than half is not 0, and how much of it that is; 0 and 0 for none, and
    /// where all elements are 0.
    [[nodiscard]] Pattern pattern() const noexcept;

    /// The largest group.
    static constexpr std::uint64_t most_elements = 32;

  private:
    // Sizes that divide the rows, and what was found of each.
    std::array<std::uint8_t, 4> sizes_{};
    std::size_t size_count_ = 0;
    std::array<std::uint32_t, 4> most_{};
    // The group that add_nonzero is in, and how many it has so far.
    std::array<std::uint64_t, 4> group_{};
    std::array<std::uint32_t, 4> in_group_{};
};

}  // namespace hurray::statistics_detail

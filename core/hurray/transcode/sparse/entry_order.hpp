// Putting the entries of a sparse tensor in order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/transcode/options.hpp"

namespace hurray::transcode_detail {

/// Numbers the indices of a shape in the order of nested loops over its dimensions. Numbers are less than the count of
/// elements, so that they fit into 64 bits.
class IndexNumber {
  public:
    /// @param shape without a dynamic dimension, with a product that fits into 64 bits; if a size is 0, there is no index
    ///     that could be asked for
    /// @param order the dimensions from the outermost loop to the innermost; each once
    IndexNumber(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> order) noexcept;

    /// @param index one value a dimension, within the shape
    [[nodiscard]] std::uint64_t of(const std::uint64_t* index) const noexcept {
        std::uint64_t number = 0;
        for (std::size_t k = 0; k < rank_; ++k) number += index[k] * strides_[k];
        return number;
    }
    /// The index of a number.
    void index(std::uint64_t number, std::uint64_t* out) const noexcept {
        for (std::size_t loop = 0; loop < rank_; ++loop) {
            const std::uint64_t dimension = order_[loop];
            out[dimension] = number / strides_[dimension];
            number -= out[dimension] * strides_[dimension];
        }
    }

  private:
    std::size_t rank_;
    std::array<std::uint64_t, max_rank> order_;
    std::array<std::uint64_t, max_rank> strides_;
};

/// An entry: the number of its index, and the position of its value.
struct NumberedEntry {
    std::uint64_t number;
    std::uint64_t position;
};

/// The entries in the memory in which sort_entries left them.
using Sorted = std::span<NumberedEntry>;

/// Sorts entries by their numbers; those with the same number stay in order. Takes time linear in their count.
/// @param scratch as long as `entries`
/// @param most the largest number that there can be
/// @param work counts the entries once for each pass over them, see sort_passes
/// @returns `entries` or `scratch`
/// @errors cancelled
Result<Sorted> sort_entries(std::span<NumberedEntry> entries, std::span<NumberedEntry> scratch, std::uint64_t most,
                            Work& work);

/// Two entries with the same index.
struct DuplicateEntry {
    std::uint64_t number;
    std::uint64_t position;
    /// The first one that has it.
    std::uint64_t earlier;
};

/// Of all entries that have the index of an earlier one, the one with the lowest position.
/// @param sorted as sort_entries left them, their positions having ascended before
std::optional<DuplicateEntry> find_duplicate(std::span<const NumberedEntry> sorted) noexcept;

/// How many passes sort_entries makes at most.
std::uint64_t sort_passes(std::uint64_t most) noexcept;

}  // namespace hurray::transcode_detail

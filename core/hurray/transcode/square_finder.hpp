// Squares of elements that are turned around in the processor's registers.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/hurray/transcode/copy_table.hpp"

namespace hurray::transcode_detail {

/// Looks for squares in a block: elements whose rows are runs in the source, and whose columns are runs in the target.
class SquareFinder {
  public:
    /// @param steps of single elements
    SquareFinder(const std::vector<Steps>& steps, const Packing& packing);

    /// The table of the largest squares that there are; nothing when there are none.
    [[nodiscard]] std::optional<CopyTable> find();

  private:
    std::optional<CopyTable> find_of(std::size_t side);

    Packing packing_;
    // Each factor 2 of a number of steps for itself, and what is left of the numbers.
    std::vector<Steps> halves_;
    std::vector<Steps> others_;
};

}  // namespace hurray::transcode_detail

// Slices in NumPy's syntax: "0", "-1", "2:10", "::-1", "..." with commas between the dimensions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// The chosen indices of one dimension: first, first + step, ...
struct SliceRange {
    std::uint64_t first = 0;
    std::int64_t step = 1;
    std::uint64_t count = 0;
    /// A single index: the dimension goes.
    bool single = false;
};

/// One range a dimension of `shape`. Throws a Failure with exit code 2 for what is no slice and for an index outside.
std::vector<SliceRange> parse_slice(std::string_view text, std::span<const std::uint64_t> shape);
/// The shape of what is chosen.
std::vector<std::uint64_t> sliced_shape(std::span<const SliceRange> ranges);

/// Gives the row-major places of the chosen elements, in order.
class SliceWalk {
  public:
    SliceWalk(std::vector<SliceRange> ranges, std::span<const std::uint64_t> shape);
    bool next(std::uint64_t& place);

  private:
    std::vector<SliceRange> ranges_;
    std::vector<std::uint64_t> strides_;
    std::vector<std::uint64_t> position_;
    bool done_ = false;
};

}  // namespace cli

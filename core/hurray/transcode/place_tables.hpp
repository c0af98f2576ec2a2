// Copying elements whose places are sums of one number for each dimension, whatever these are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/hurray/layout/address.hpp"
#include "core/hurray/transcode/copy_table.hpp"
#include "core/hurray/transcode/dense_side.hpp"

namespace hurray::transcode_detail {

/// The shares of one dimension's indices in the places of both tensors.
class PlaceTable {
  public:
    /// @param most indices that it has room for
    PlaceTable(const AddressMap& from, const AddressMap& to, std::uint32_t dimension, std::uint64_t most)
        : from_map_(&from), to_map_(&to), dimension_(dimension), from_(most), to_(most) {}

    /// Makes it hold indices start to start + length - 1.
    void fill(std::uint64_t start, std::uint64_t length) noexcept;

    [[nodiscard]] std::uint64_t length() const noexcept { return length_; }
    [[nodiscard]] std::int64_t from(std::uint64_t i) const noexcept { return from_[i]; }
    [[nodiscard]] std::int64_t to(std::uint64_t i) const noexcept { return to_[i]; }
    [[nodiscard]] const std::int64_t* from() const noexcept { return from_.data(); }
    [[nodiscard]] const std::int64_t* to() const noexcept { return to_.data(); }

  private:
    const AddressMap* from_map_;
    const AddressMap* to_map_;
    std::uint32_t dimension_;
    std::uint64_t start_ = 0;
    std::uint64_t length_ = 0;
    std::vector<std::int64_t> from_;
    std::vector<std::int64_t> to_;
};

/// Copies the elements of all combinations of indices that the tables hold, of which there is at least one.
/// @param tables at most 64
void copy_places(std::span<const PlaceTable> tables, const SourceSide& from, const TargetSide& to,
                 const Packing& packing) noexcept;

/// Copies one element.
/// @param from, to numbers of elements from the bases
void copy_element(const std::byte* from_base, std::uint64_t from, std::byte* to_base, std::uint64_t to,
                  const Packing& packing) noexcept;

}  // namespace hurray::transcode_detail

// A box of a row-major tensor as rows of elements, and copies of packed elements between places within bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/hurray/descriptor/descriptor.hpp"

namespace hurray {

/// A box in a row-major tensor, cut into the longest runs of elements that follow one another in both: in the box
/// itself, row-major, and in the whole.
///
/// Refers to nothing. Thread rule: may be read by any number of threads.
class RowMajorRegion {
  public:
    /// @param whole the tensor's shape, with fewer than 2^64 elements
    /// @param low, shape of the box, which lies in the whole
    RowMajorRegion(std::span<const std::uint64_t> whole, std::span<const std::uint64_t> low,
                   std::span<const std::uint64_t> shape) noexcept;

    /// Elements of the box.
    [[nodiscard]] std::uint64_t element_count() const noexcept { return count_; }
    /// The number of the box's first element in the whole.
    [[nodiscard]] std::uint64_t start() const noexcept { return start_; }
    /// The whole's row-major strides, in elements.
    [[nodiscard]] std::span<const std::uint64_t> strides() const noexcept { return {strides_.data(), rank_}; }
    /// Whether the box is one run.
    [[nodiscard]] bool is_one_run() const noexcept { return run_ == count_; }

    /// Calls `use(in_whole, in_box, count)` for every run, in the order of both; stops with what is not a value.
    template <typename Use>
    auto for_each_run(Use&& use) const -> decltype(use(std::uint64_t{}, std::uint64_t{}, std::uint64_t{})) {
        if (count_ == 0) return {};
        std::array<std::uint64_t, max_rank> index{};
        std::uint64_t at = start_;
        for (std::uint64_t done = 0;;) {
            if (auto used = use(at, done, run_); !used) return used;
            done += run_;
            if (done == count_) return {};
            std::size_t k = outer_;
            while (true) {
                --k;
                at += strides_[k];
                if (++index[k] != shape_[k]) break;
                at -= shape_[k] * strides_[k];
                index[k] = 0;
            }
        }
    }

  private:
    std::size_t rank_;
    // Dimensions in front of those that a run goes through.
    std::size_t outer_ = 0;
    std::uint64_t run_ = 1;
    std::uint64_t count_ = 1;
    std::uint64_t start_ = 0;
    std::array<std::uint64_t, max_rank> shape_{};
    std::array<std::uint64_t, max_rank> strides_{};
};

/// Copies `count` elements of `bits` bits each, packed from the lowest bit, from one bit to another, wherever these are
/// within their bytes. All other bits stay as they are.
void copy_bits(const std::byte* from, std::uint64_t from_bit, std::byte* to, std::uint64_t to_bit,
               std::uint64_t bit_count) noexcept;

}  // namespace hurray

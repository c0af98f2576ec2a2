// The Hilbert curve cell by cell, each in a few steps from the one before it. (format: hilbert)
//
// Skilling's transform works on each bit of the coordinates in turn, the highest first: what the digits of one level
// (the rank bits of an index that lie together) do to all lower ones is to exchange coordinates and to turn some of them
// around. Kept as such, it need not be worked out for every element again.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

namespace hurray {

/// How a cell of the curve lies in space: which coordinate each bit of a Gray code is, and which of them are turned
/// around.
class HilbertState {
  public:
    /// That of the whole curve.
    constexpr explicit HilbertState(std::uint32_t rank) noexcept : rank_(rank), axis_{} {
        for (std::uint32_t i = 0; i < rank; ++i) axis_[i] = static_cast<std::uint8_t>(i);
    }

    /// The Gray code of the part of a cell with a digit; coordinate i has bit rank - 1 - i.
    [[nodiscard]] constexpr std::uint64_t code(std::uint64_t digit) const noexcept {
        return digit ^ digit >> 1 ^ std::uint64_t{odd_} << (rank_ - 1);
    }
    /// The coordinate that bit i of a Gray code from the top is, and its value.
    [[nodiscard]] constexpr std::uint32_t axis(std::uint32_t i) const noexcept { return axis_[i]; }
    [[nodiscard]] constexpr bool value(std::uint32_t i, std::uint64_t code) const noexcept {
        return ((code >> (rank_ - 1 - i) ^ flipped_ >> i) & 1) != 0;
    }

    /// The state of the part with a digit.
    [[nodiscard]] constexpr HilbertState part(std::uint64_t digit) const noexcept {
        HilbertState next = *this;
        const std::uint64_t gray = code(digit);
        for (std::uint32_t i = 0; i < rank_; ++i) {
            if ((gray >> (rank_ - 1 - i) & 1) != 0) {
                next.flipped_ ^= 1;
            } else {
                std::swap(next.axis_[0], next.axis_[i]);
                const std::uint64_t differ = (next.flipped_ ^ next.flipped_ >> i) & 1;
                next.flipped_ ^= differ | differ << i;
            }
        }
        next.odd_ = (digit & 1) != 0;
        return next;
    }

    /// A number below 2^13 for each state, up to rank 4.
    [[nodiscard]] constexpr std::uint32_t small_key() const noexcept {
        std::uint32_t key = odd_ ? 1 : 0;
        for (std::uint32_t i = 0; i < rank_; ++i) key = key << 2 | axis_[i];
        return key << rank_ | static_cast<std::uint32_t>(flipped_);
    }

  private:
    std::uint32_t rank_;
    bool odd_ = false;
    // Bit i: coordinate axis_[i] is turned around.
    std::uint64_t flipped_ = 0;
    std::array<std::uint8_t, 63> axis_;
};

/// Walks along a curve of 2 to 63 dimensions and order * rank at most 63; order 0 has the one cell.
///
/// Thread rule: one thread at a time.
class HilbertWalk {
  public:
    HilbertWalk(std::uint32_t rank, std::uint32_t order) noexcept : HilbertWalk(rank, order, HilbertState(rank)) {}
    /// As above, inside a cell with a state.
    HilbertWalk(std::uint32_t rank, std::uint32_t order, const HilbertState& state) noexcept
        : rank_(rank), order_(order), states_(fill(state)) {
        for (std::uint32_t level = 0; level < order; ++level) enter(level);
    }

    /// Of the cell where the walk is: one value a dimension.
    [[nodiscard]] const std::uint64_t* coordinates() const noexcept { return x_.data(); }
    /// The state of that cell, for a walk inside it.
    [[nodiscard]] HilbertState state() const noexcept {
        return order_ == 0 ? states_[0] : states_[order_ - 1].part(digits_[order_ - 1]);
    }

    /// To the next cell, which differs by one in one coordinate; false when there is none.
    bool next() noexcept {
        std::uint32_t level = order_;
        while (level > 0 && digits_[level - 1] + 1 == std::uint64_t{1} << rank_) --level;
        if (level == 0) return false;
        --level;
        const std::uint64_t digit = ++digits_[level];
        // One bit of a Gray code changes, that of the zeros at the end of the number.
        const auto i = rank_ - 1 - static_cast<std::uint32_t>(std::countr_zero(digit));
        x_[states_[level].axis(i)] ^= std::uint64_t{1} << (order_ - 1 - level);
        for (++level; level < order_; ++level) {
            digits_[level] = 0;
            enter(level);
        }
        return true;
    }

  private:
    static constexpr std::uint32_t most_levels = 31;

    static std::array<HilbertState, most_levels> fill(const HilbertState& whole) noexcept {
        return [&]<std::size_t... i>(std::index_sequence<i...>) {
            return std::array<HilbertState, most_levels>{(static_cast<void>(i), whole)...};
        }(std::make_index_sequence<most_levels>());
    }

    // Sets the state of a level from that above it, and the bits of its first part.
    void enter(std::uint32_t level) noexcept {
        if (level != 0) states_[level] = states_[level - 1].part(digits_[level - 1]);
        const HilbertState& state = states_[level];
        const std::uint64_t code = state.code(digits_[level]);
        const std::uint32_t bit = order_ - 1 - level;
        for (std::uint32_t i = 0; i < rank_; ++i) {
            std::uint64_t& x = x_[state.axis(i)];
            x = (x & ~(std::uint64_t{1} << bit)) | std::uint64_t{state.value(i, code)} << bit;
        }
    }

    std::uint32_t rank_;
    std::uint32_t order_;
    // From the highest bit of the coordinates to the lowest.
    std::array<HilbertState, most_levels> states_;
    std::array<std::uint64_t, most_levels> digits_{};
    std::array<std::uint64_t, 63> x_{};
};

}  // namespace hurray

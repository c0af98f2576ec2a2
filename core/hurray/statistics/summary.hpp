// Counts, range and moments of numbers that come in blocks.
#pragma once

#include <cstdint>
#include <span>

namespace hurray::statistics_detail {

/// What is known of some numbers. That of several groups is the sum of theirs. (Chan, Golub, LeVeque: updating formulae
/// for the sample variance)
class Summary {
  public:
    /// @param scale a power of two that moments are worked out with, so that squares neither overflow nor vanish
    explicit Summary(double scale = 1) noexcept : scale_(scale) {}

    /// Takes a block: best a few thousand numbers, which stay in the cache for the passes over them.
    void add(std::span<const double> numbers) noexcept;
    /// Takes `count` zeros.
    void add_zeros(std::uint64_t count) noexcept;

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    /// Numbers other than 0, NaN among them.
    [[nodiscard]] std::uint64_t nonzero() const noexcept { return nonzero_; }
    [[nodiscard]] bool has_nan() const noexcept { return nan_ != 0; }
    [[nodiscard]] bool has_inf() const noexcept { return inf_ != 0; }
    /// Whether there is a number that is not NaN; the range is that of these.
    [[nodiscard]] bool has_range() const noexcept { return least_ <= most_; }
    [[nodiscard]] double least() const noexcept { return least_; }
    [[nodiscard]] double most() const noexcept { return most_; }
    [[nodiscard]] double largest_magnitude() const noexcept;
    /// Whether there is a mean: of one number at least, and of finite ones only.
    [[nodiscard]] bool has_moments() const noexcept { return count_ != 0 && nan_ == 0 && inf_ == 0; }
    [[nodiscard]] double mean() const noexcept { return mean_ / scale_; }
    /// Of the whole population.
    [[nodiscard]] double deviation() const noexcept;

    /// The scale with which the moments should be worked out again; 1 where they are right as they are.
    [[nodiscard]] double better_scale() const noexcept;

  private:
    void combine(std::uint64_t count, double mean, double squares) noexcept;

    double scale_;
    std::uint64_t count_ = 0;
    std::uint64_t nonzero_ = 0;
    std::uint64_t nan_ = 0;
    std::uint64_t inf_ = 0;
    // Nothing yet: an empty range.
    double least_ = __builtin_inf();
    double most_ = -__builtin_inf();
    // Of the scaled numbers: the mean, and the sum of the squared distances from it.
    double mean_ = 0;
    double squares_ = 0;
};

}  // namespace hurray::statistics_detail

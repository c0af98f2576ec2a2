#include "core/hurray/statistics/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace hurray::statistics_detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Sums are kept in so many places at a time, so that the compiler can use vectors for them: it may not change the order
// of floating-point additions by itself.
constexpr std::size_t lanes = 8;
using Lanes = std::array<double, lanes>;

double sum_of(const Lanes& parts) noexcept {
    return ((parts[0] + parts[4]) + (parts[1] + parts[5])) + ((parts[2] + parts[6]) + (parts[3] + parts[7]));
}

// Calls `use(lane, number)`.
template <typename Use>
void for_each_lane(std::span<const double> numbers, Use&& use) noexcept {
    std::size_t i = 0;
    for (; i + lanes <= numbers.size(); i += lanes) {
        for (std::size_t lane = 0; lane < lanes; ++lane) use(lane, numbers[i + lane]);
    }
    for (std::size_t lane = 0; i < numbers.size(); ++i, ++lane) use(lane, numbers[i]);
}

}  // namespace

void Summary::add(std::span<const double> numbers) noexcept {
    if (numbers.empty()) return;
    Lanes least;
    Lanes most;
    Lanes sum{};
    std::array<std::uint64_t, lanes> zeros{};
    std::array<std::uint64_t, lanes> nans{};
    std::array<std::uint64_t, lanes> infs{};
    least.fill(infinity);
    most.fill(-infinity);
    const double scale = scale_;
    for_each_lane(numbers, [&](std::size_t lane, double x) {
        // NaN is neither less nor more than anything.
        least[lane] = x < least[lane] ? x : least[lane];
        most[lane] = x > most[lane] ? x : most[lane];
        zeros[lane] += x == 0 ? 1 : 0;
        nans[lane] += x != x ? 1 : 0;
        infs[lane] += std::fabs(x) == infinity ? 1 : 0;
        sum[lane] += x * scale;
    });
    std::uint64_t zero = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        least_ = std::min(least_, least[lane]);
        most_ = std::max(most_, most[lane]);
        zero += zeros[lane];
        nan_ += nans[lane];
        inf_ += infs[lane];
    }
    nonzero_ += numbers.size() - zero;
    // Beside NaN or infinity there is no mean, now or later.
    if (nan_ != 0 || inf_ != 0) {
        count_ += numbers.size();
        return;
    }
    const auto count = static_cast<double>(numbers.size());
    const double guess = sum_of(sum) / count;
    Lanes squares{};
    Lanes rest{};
    for_each_lane(numbers, [&](std::size_t lane, double x) {
        const double distance = x * scale - guess;
        rest[lane] += distance;
        squares[lane] += distance * distance;
    });
    // What rounding left of the guess.
    const double correction = sum_of(rest) / count;
    combine(numbers.size(), guess + correction, std::max(sum_of(squares) - count * correction * correction, 0.0));
}

void Summary::add_zeros(std::uint64_t count) noexcept {
    if (count == 0) return;
    least_ = std::min(least_, 0.0);
    most_ = std::max(most_, 0.0);
    combine(count, 0, 0);
}

void Summary::combine(std::uint64_t count, double mean, double squares) noexcept {
    const std::uint64_t both = count_ + count;
    const double share = static_cast<double>(count) / static_cast<double>(both);
    const double distance = mean - mean_;
    mean_ += distance * share;
    squares_ += squares + distance * distance * share * static_cast<double>(count_);
    count_ = both;
}

double Summary::largest_magnitude() const noexcept {
    return std::max(std::fabs(least_), std::fabs(most_));
}

double Summary::deviation() const noexcept {
    return std::sqrt(squares_ / static_cast<double>(count_)) / scale_;
}

double Summary::better_scale() const noexcept {
    if (!has_moments() || scale_ != 1) return 1;
    const double largest = largest_magnitude();
    // Squares of distances, and sums of 2^64 of them, stay below 2^1024 and above 2^-1022 in between.
    if (largest > std::ldexp(1.0, 470)) return std::ldexp(1.0, -600);
    if (largest < std::ldexp(1.0, -450) && largest != 0) return std::ldexp(1.0, 600);
    return 1;
}

}  // namespace hurray::statistics_detail

#include "core/hurray/statistics/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace hurray::statistics_detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Numbers of one vector register. Sums are kept in several places at a time, which the compiler may not do by itself:
// it may not change the order of floating-point additions.
using Vector [[gnu::vector_size(16)]] = double;
constexpr std::size_t width = 2;
constexpr std::size_t lanes = 4;
using Lanes = std::array<Vector, lanes>;
constexpr std::size_t step = width * lanes;

Lanes all(double x) noexcept {
    Lanes parts;
    parts.fill(Vector{x, x});
    return parts;
}

double sum_of(const Lanes& parts) noexcept {
    const Vector sum = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    return sum[0] + sum[1];
}

// Calls `use(lane, vector)` for as many whole steps as there are, and returns where they end.
template <typename Use>
std::size_t for_each_vector(std::span<const double> numbers, Use&& use) noexcept {
    std::size_t i = 0;
    for (; i + step <= numbers.size(); i += step) {
#pragma GCC unroll 4
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            Vector x;
            std::memcpy(&x, numbers.data() + i + width * lane, sizeof x);
            use(lane, x);
        }
    }
    return i;
}

struct Range {
    double least = infinity;
    double most = -infinity;
    double sum = 0;
};

// Finite numbers, and their sum scaled; with others the sum is not finite either.
Range range_of(std::span<const double> numbers, double scale) noexcept {
    Lanes least = all(infinity);
    Lanes most = all(-infinity);
    Lanes sum = all(0);
    const Vector scales = {scale, scale};
    std::size_t i = for_each_vector(numbers, [&](std::size_t lane, Vector x) {
        least[lane] = x < least[lane] ? x : least[lane];
        most[lane] = x > most[lane] ? x : most[lane];
        sum[lane] += x * scales;
    });
    Range range{.sum = sum_of(sum)};
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        for (std::size_t k = 0; k < width; ++k) {
            range.least = std::min(range.least, least[lane][k]);
            range.most = std::max(range.most, most[lane][k]);
        }
    }
    for (; i < numbers.size(); ++i) {
        // NaN is neither less nor more than anything.
        if (numbers[i] < range.least) range.least = numbers[i];
        if (numbers[i] > range.most) range.most = numbers[i];
        range.sum += numbers[i] * scale;
    }
    return range;
}

struct Spread {
    /// Of the distances from a guess at the mean, and of their squares.
    double distances = 0;
    double squares = 0;
    double zeros = 0;
};

Spread spread_of(std::span<const double> numbers, double scale, double guess) noexcept {
    Lanes distances = all(0);
    Lanes squares = all(0);
    Lanes zeros = all(0);
    const Vector scales = {scale, scale};
    const Vector guesses = {guess, guess};
    const Vector zero = {0, 0};
    const Vector one = {1, 1};
    std::size_t i = for_each_vector(numbers, [&](std::size_t lane, Vector x) {
        const Vector distance = x * scales - guesses;
        distances[lane] += distance;
        squares[lane] += distance * distance;
        zeros[lane] += x == zero ? one : zero;
    });
    Spread spread{sum_of(distances), sum_of(squares), sum_of(zeros)};
    for (; i < numbers.size(); ++i) {
        const double distance = numbers[i] * scale - guess;
        spread.distances += distance;
        spread.squares += distance * distance;
        spread.zeros += numbers[i] == 0 ? 1 : 0;
    }
    return spread;
}

}  // namespace

void Summary::add(std::span<const double> numbers) noexcept {
    if (numbers.empty()) return;
    const Range range = range_of(numbers, scale_);
    least_ = std::min(least_, range.least);
    most_ = std::max(most_, range.most);
    const auto count = static_cast<double>(numbers.size());
    const double guess = range.sum / count;
    const Spread spread = spread_of(numbers, scale_, guess);
    nonzero_ += numbers.size() - static_cast<std::uint64_t>(spread.zeros);
    // Numbers that are not finite make a sum that is not; so may finite ones that are large.
    if (!std::isfinite(range.sum)) {
        for (const double x : numbers) {
            nan_ += std::isnan(x) ? 1 : 0;
            inf_ += std::isinf(x) ? 1 : 0;
        }
    }
    // What rounding left of the guess.
    const double correction = spread.distances / count;
    combine(numbers.size(), guess + correction, std::max(spread.squares - count * correction * correction, 0.0));
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

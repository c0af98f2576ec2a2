#include "sample.hpp"

#include <algorithm>

#include "../shared/interrupt.hpp"

namespace cli::report {
namespace {

constexpr std::uint64_t most_of_slow = std::uint64_t{1} << 16;
// A multiple of every block size that is tried.
constexpr std::uint64_t piece = 4096;
// Fewer rows than this would say little of a tensor.
constexpr std::uint64_t least_rows = 16;

// The middle of part i of k equal parts of n.
std::uint64_t middle(std::uint64_t i, std::uint64_t k, std::uint64_t n) {
    return i * (n / k) + i * (n % k) / k + n / k / 2;
}

}  // namespace

hurray::Result<Sample> sample_of(const Values& values, std::uint64_t most) {
    Sample sample;
    sample.total = values.count();
    if (values.slow()) most = std::min(most, most_of_slow);
    if (sample.total == 0) {
        sample.complete = true;
        return sample;
    }
    const std::uint64_t rows = values.shape().size() < 2 ? 1 : values.shape()[0];
    const std::uint64_t columns = sample.total / rows;
    std::uint64_t distance = columns;
    if (sample.total <= most) {
        sample.complete = true;
        sample.rows = rows;
        sample.columns = columns;
    } else if (columns <= most / least_rows) {
        sample.rows = most / columns;
        sample.columns = columns;
    } else {
        sample.pieces = true;
        sample.columns = distance = std::max<std::uint64_t>(std::min(piece, most / least_rows), 1);
        sample.rows = std::max<std::uint64_t>(most / sample.columns, 1);
    }
    const std::uint64_t places = sample.complete ? rows : sample.total / distance;
    sample.rows = std::min(sample.rows, places);
    sample.values.resize(static_cast<std::size_t>(sample.rows * sample.columns));
    for (std::uint64_t i = 0; i < sample.rows; ++i) {
        check_interrupt();
        const std::uint64_t row = sample.complete ? i : middle(i, sample.rows, places);
        const std::span<double> into(sample.values.data() + i * sample.columns,
                                     static_cast<std::size_t>(sample.columns));
        if (auto done = values.read(row * distance, into); !done) return done.error();
    }
    return sample;
}

}  // namespace cli::report

// How often values occur.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cli::report {

struct Histogram {
    /// Ends of the axis: the least and the greatest finite value.
    double low = 0;
    double high = 0;
    /// Equal parts of the axis. Empty where no value is finite.
    std::vector<std::uint64_t> bins;
    std::uint64_t finite = 0;
    std::uint64_t zeros = 0;
    std::uint64_t nans = 0;
    std::uint64_t positive_infinities = 0;
    std::uint64_t negative_infinities = 0;

    double edge(std::size_t bin) const;
};

struct Range {
    double low;
    double high;
};

/// `known`: the range of all elements where the values are a sample. `whole`: they are integers, of which each has a
/// bin where they are few.
Histogram histogram_of(std::span<const double> values, const std::optional<Range>& known, bool whole);

/// A drawing with an accessible name, and the numbers as a table. `id` is unique on the page.
std::string histogram_html(const Histogram& histogram, const std::string& id, const std::string& name);
/// The same in the size of a word, for tables; decoration only.
std::string sparkline(const Histogram& histogram);

}  // namespace cli::report

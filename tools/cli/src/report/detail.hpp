// One tensor looked at closely.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../shared/input.hpp"
#include "../shared/progress.hpp"
#include "histogram.hpp"
#include "memory_order.hpp"
#include "quantization.hpp"
#include "sample.hpp"

namespace cli::report {

/// What is said of every tensor; texts are escaped.
struct Facts {
    std::uint64_t index = 0;
    std::string name;
    std::string type;
    std::string shape;
    std::string layout;
    std::string quantization;
    std::uint64_t bytes = 0;
    /// HURRAY_DIMENSION_DYNAMIC where it is not known.
    std::uint64_t elements = 0;
    std::uint8_t element_type = 0;
    bool quantized = false;
};
Facts facts_of(const Entry& entry);

struct Detail {
    std::optional<HurrayStatistics> statistics;
    /// The statistics are those of the sample: those of all elements would take too much memory.
    bool statistics_of_sample = false;
    /// Why there are no statistics, or no values at all; empty where there are.
    std::string no_statistics;
    std::string no_values;
    std::uint64_t sampled = 0;
    std::uint64_t total = 0;
    /// Without its values.
    Sample sample;
    bool slow = false;
    Histogram histogram;
    /// One for each of attempts(); empty for tensors that are no floating-point numbers or quantized already.
    std::vector<Cost> costs;
    std::optional<Steps> steps;
};

/// `most`: elements of the sample. The entry is looked at until the meter's user stops it, which throws.
Detail detail_of(const Entry& entry, const Facts& facts, std::uint64_t most, Meter& meter);

/// Both as HTML. `open`: whether it is unfolded. `order`: the id of the picture of its memory order; may be empty.
std::string detail_html(const Facts& facts, const Detail& detail, bool open, const std::string& order);

/// Rows of a table of costs: bits, RMS, largest error, signal to noise.
std::string cost_cells(const Cost& cost, bool best);

}  // namespace cli::report

#include "histogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "../shared/text.hpp"
#include "html.hpp"

namespace cli::report {
namespace {

constexpr std::size_t most_bins = 60;

// Where a value lies on the axis, 0 to 1. In halves: the distance of the ends may be beyond float64.
double share_of(double value, double low, double high) {
    return (value / 2 - low / 2) / (high / 2 - low / 2);
}

struct Frame {
    double left = 56;
    double top = 10;
    double width = 650;
    double height = 150;
};

double height_of(std::uint64_t count, std::uint64_t most, double full) {
    if (count == 0) return 0;
    return full * std::log10(1.0 + static_cast<double>(count)) / std::log10(1.0 + static_cast<double>(most));
}

std::string axis_number(double value) {
    const double magnitude = std::abs(value);
    if (magnitude >= 1000 && magnitude < 1e7) {
        return (value < 0 ? "−" : "") + grouped(static_cast<std::uint64_t>(magnitude + 0.5));
    }
    return value == 0 ? "0" : fmt::format("{:.4g}", value);
}

std::string count_axis(std::uint64_t most, const Frame& frame) {
    std::string svg;
    std::uint64_t power = 1;
    std::vector<std::uint64_t> marks;
    while (true) {
        marks.push_back(power);
        if (power > most / 10) break;
        power *= 10;
    }
    // No more lines than can be read.
    const std::size_t step = (marks.size() + 5) / 6;
    for (std::size_t i = 0; i < marks.size(); i += step) {
        const double y = frame.top + frame.height - height_of(marks[i], most, frame.height);
        svg += fmt::format("<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\"/>", place(frame.left),
                           place(frame.left + frame.width), place(y));
        const std::string label = marks[i] < 10'000 ? fmt::format("{}", marks[i])
                                                    : fmt::format("10<tspan class=\"up\" dy=\"-4\">{}</tspan>", i);
        svg += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
                           place(frame.left - 6), place(y + 4), label);
    }
    return svg;
}

std::string value_axis(const Histogram& histogram, const Frame& frame) {
    std::string svg;
    const double base = frame.top + frame.height;
    svg += fmt::format("<line class=\"axis\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>", place(frame.left),
                       place(frame.left + frame.width), place(base), place(base));
    const auto mark = [&](double value, double share, const char* anchor) {
        const double x = frame.left + share * frame.width;
        svg += fmt::format("<line class=\"axis\" x1=\"{0}\" x2=\"{0}\" y1=\"{1}\" y2=\"{2}\"/>", place(x), place(base),
                           place(base + 4));
        svg += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>", place(x),
                           place(base + 17), anchor, axis_number(value));
    };
    if (histogram.low == histogram.high) {
        mark(histogram.low, 0.5, "middle");
        return svg;
    }
    const bool zero = histogram.low < 0 && histogram.high > 0;
    const double at_zero = zero ? share_of(0, histogram.low, histogram.high) : -1;
    mark(histogram.low, 0, "start");
    for (const double share : {0.25, 0.5, 0.75}) {
        // Next to 0 there is no room for another number.
        if (zero && std::abs(share - at_zero) < 0.12) continue;
        mark(histogram.low + share * (histogram.high - histogram.low), share, "middle");
    }
    if (zero && at_zero > 0.1 && at_zero < 0.9) mark(0, at_zero, "middle");
    mark(histogram.high, 1, "end");
    return svg;
}

}  // namespace

double Histogram::edge(std::size_t bin) const {
    if (bin == bins.size()) return high;
    const auto number = static_cast<double>(bin);
    const auto count = static_cast<double>(bins.size());
    if (std::isfinite(high - low)) return low + (high - low) * number / count;
    return low * (1 - number / count) + high * (number / count);
}

Histogram histogram_of(std::span<const double> values, const std::optional<Range>& known, bool whole) {
    Histogram result;
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const double value : values) {
        if (std::isnan(value)) {
            ++result.nans;
        } else if (std::isinf(value)) {
            ++(value > 0 ? result.positive_infinities : result.negative_infinities);
        } else {
            ++result.finite;
            if (value == 0) ++result.zeros;
            low = std::min(low, value);
            high = std::max(high, value);
        }
    }
    if (result.finite == 0) return result;
    if (known && std::isfinite(known->low) && std::isfinite(known->high)) {
        low = std::min(low, known->low);
        high = std::max(high, known->high);
    }
    result.low = low;
    result.high = high;
    std::size_t count = low == high ? 1 : most_bins;
    // Beyond, not every integer and a half is a float64.
    constexpr double exact_integers = 0x1p51;
    if (whole && std::abs(low) < exact_integers && std::abs(high) < exact_integers) {
        // As many integers in each bin, none on an edge.
        const double integers = high - low + 1;
        const double width = std::ceil(integers / static_cast<double>(most_bins));
        count = static_cast<std::size_t>(std::ceil(integers / width));
        result.low = low - 0.5;
        result.high = result.low + static_cast<double>(count) * width;
    }
    result.bins.resize(count);
    for (const double value : values) {
        if (!std::isfinite(value)) continue;
        const double share = result.low == result.high ? 0 : share_of(value, result.low, result.high);
        const auto bin = static_cast<std::size_t>(share * static_cast<double>(count));
        ++result.bins[std::min(bin, count - 1)];
    }
    return result;
}

std::string histogram_html(const Histogram& histogram, const std::string& id, const std::string& name) {
    if (histogram.bins.empty()) return "<p class=\"none\">No value is finite: there is no histogram.</p>\n";
    const Frame frame;
    const std::uint64_t most = *std::ranges::max_element(histogram.bins);
    const auto peak = static_cast<std::size_t>(std::ranges::max_element(histogram.bins) - histogram.bins.begin());
    std::string html = fmt::format(
        "<svg class=\"histogram\" viewBox=\"0 0 720 190\" role=\"img\" aria-labelledby=\"{0}-name {0}-words\">"
        "<title id=\"{0}-name\">Histogram of {1}</title><desc id=\"{0}-words\">{2} finite values from {3} to {4} in "
        "{5}; "
        "most of them, {6}, from {7} to {8}. Counts on a logarithmic scale.</desc>",
        id, name, grouped(histogram.finite), axis_number(histogram.low), axis_number(histogram.high),
        count_text(histogram.bins.size(), "bin"), grouped(most), axis_number(histogram.edge(peak)),
        axis_number(histogram.edge(peak + 1)));
    html += count_axis(most, frame);
    const double width = frame.width / static_cast<double>(histogram.bins.size());
    const double gap = std::min(1.5, width * 0.15);
    for (std::size_t i = 0; i < histogram.bins.size(); ++i) {
        if (histogram.bins[i] == 0) continue;
        const double height = std::max(height_of(histogram.bins[i], most, frame.height), 1.0);
        html += fmt::format(
            "<rect class=\"bar\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{} to {}: {}</title></rect>",
            place(frame.left + static_cast<double>(i) * width + gap / 2), place(frame.top + frame.height - height),
            place(width - gap), place(height), axis_number(histogram.edge(i)), axis_number(histogram.edge(i + 1)),
            grouped(histogram.bins[i]));
    }
    html += value_axis(histogram, frame) + "</svg>\n";
    html +=
        "<details class=\"numbers\"><summary>The histogram as a table</summary>\n<table class=\"bins\"><thead><tr>"
        "<th scope=\"col\">From</th><th scope=\"col\">To</th><th scope=\"col\">Values</th></tr></thead><tbody>\n";
    for (std::size_t i = 0; i < histogram.bins.size(); ++i) {
        html += fmt::format(
            "<tr><td data-value=\"{}\">{}</td><td data-value=\"{}\">{}</td><td data-value=\"{}\">{}</td></tr>\n",
            exact(histogram.edge(i)), axis_number(histogram.edge(i)), exact(histogram.edge(i + 1)),
            axis_number(histogram.edge(i + 1)), histogram.bins[i], grouped(histogram.bins[i]));
    }
    return html + "</tbody></table></details>\n";
}

std::string sparkline(const Histogram& histogram) {
    if (histogram.bins.empty()) return "";
    constexpr double width = 84;
    constexpr double height = 18;
    const std::uint64_t most = *std::ranges::max_element(histogram.bins);
    const double step = width / static_cast<double>(histogram.bins.size());
    std::string path = fmt::format("M0 {}", place(height));
    for (std::size_t i = 0; i < histogram.bins.size(); ++i) {
        path += fmt::format("V{}H{}", place(height - height_of(histogram.bins[i], most, height - 1)),
                            place(static_cast<double>(i + 1) * step));
    }
    return fmt::format("<svg class=\"spark\" viewBox=\"0 0 84 18\" aria-hidden=\"true\"><path d=\"{}V{}Z\"/></svg>",
                       path, place(height));
}

}  // namespace cli::report

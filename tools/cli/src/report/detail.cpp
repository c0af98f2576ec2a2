#include "detail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "../shared/exit.hpp"
#include "../shared/interrupt.hpp"
#include "../shared/summary.hpp"
#include "../shared/text.hpp"
#include "html.hpp"

namespace cli::report {
namespace {

bool is_float(std::uint8_t type) {
    return type == HURRAY_TYPE_FLOAT16 || type == HURRAY_TYPE_BFLOAT16 || type == HURRAY_TYPE_FLOAT32 ||
           type == HURRAY_TYPE_FLOAT64;
}

bool is_integer(std::uint8_t type) {
    return (type >= HURRAY_TYPE_INT8 && type <= HURRAY_TYPE_BOOL) ||
           (type >= HURRAY_TYPE_INT4 && type <= HURRAY_TYPE_UINT2);
}

// The user's Ctrl-C is no property of a tensor.
void check_stop(const hurray::Error& error) {
    check_interrupt();
    if (error.code() == HURRAY_ERR_CANCELLED) throw Failure(interrupted, "report", error);
}

std::string words_of(const hurray::Error& error) {
    return fmt::format("{}: {}", error.name(), error.message());
}

constexpr std::uint32_t wanted = HURRAY_STATISTICS_NNZ | HURRAY_STATISTICS_SPARSITY | HURRAY_STATISTICS_RANGE |
                                 HURRAY_STATISTICS_MOMENTS | HURRAY_STATISTICS_NAN_INF;
// Those that complex numbers have, too.
constexpr std::uint32_t without_order = HURRAY_STATISTICS_NNZ | HURRAY_STATISTICS_SPARSITY | HURRAY_STATISTICS_NAN_INF;

void add_statistics(const hurray::Tensor& tensor, std::uint64_t bytes, Meter& meter, Detail& detail) {
    const auto progress = [&](std::uint64_t done, std::uint64_t total) { return meter.part(done, total, bytes); };
    hurray::WorkOptions work;
    work.memory_limit = memory_limit;
    work.progress = progress;
    auto statistics = tensor.statistics(wanted, work);
    if (!statistics && statistics.error().code() == HURRAY_ERR_UNSUPPORTED)
        statistics = tensor.statistics(without_order, work);
    if (statistics) {
        detail.statistics = *statistics;
        return;
    }
    check_stop(statistics.error());
    if (statistics.error().code() == HURRAY_ERR_LIMIT_EXCEEDED)
        detail.statistics_of_sample = true;
    else
        detail.no_statistics = words_of(statistics.error());
}

void add_sample_statistics(const Sample& sample, Detail& detail) {
    const std::uint64_t shape[] = {sample.values.size()};
    hurray::DenseSpec spec;
    spec.element_type = HURRAY_TYPE_FLOAT64;
    spec.shape = shape;
    spec.read_only = true;
    const auto numbers = hurray::Tensor::from_host(spec, const_cast<double*>(sample.values.data()),
                                                   sample.values.size() * sizeof(double), [] {});
    if (!numbers) return;
    if (const auto statistics = numbers->statistics(wanted)) detail.statistics = *statistics;
}

void add_values(const hurray::Tensor& tensor, const Facts& facts, bool quantized, std::uint64_t most, Meter& meter,
                Detail& detail) {
    const auto values = Values::of(tensor, meter, 0);
    if (!values) {
        check_stop(values.error());
        detail.no_values = values.error().message();
        return;
    }
    auto sample = sample_of(*values, most);
    if (!sample) {
        check_stop(sample.error());
        detail.no_values = words_of(sample.error());
        return;
    }
    detail.slow = values->slow();
    detail.total = sample->total;
    detail.sampled = sample->values.size();
    if (detail.statistics_of_sample) add_sample_statistics(*sample, detail);
    std::optional<Range> range;
    if (detail.statistics && (detail.statistics->computed_mask & HURRAY_STATISTICS_RANGE) != 0) {
        range = Range{detail.statistics->value_min, detail.statistics->value_max};
    }
    detail.histogram = histogram_of(sample->values, range, is_integer(facts.element_type) && !quantized);
    if (is_float(facts.element_type) && !quantized) detail.costs = costs_of(*sample);
    sample->values = {};
    detail.sample = std::move(*sample);
}

std::string fact(std::string_view name, const std::string& value, const std::string& more = "") {
    return fmt::format("<div><dt>{}</dt><dd>{}{}</dd></div>", name, value,
                       more.empty() ? "" : "<small>" + more + "</small>");
}

std::string number_fact(std::string_view name, double value) {
    return fmt::format("<div><dt>{}</dt><dd data-value=\"{}\">{}</dd></div>", name, exact(value), number_text(value));
}

std::string statistics_html(const Facts& facts, const Detail& detail) {
    std::string html;
    if (!detail.no_statistics.empty()) {
        html += fmt::format("<p class=\"none\">No statistics: {}</p>\n", shown(detail.no_statistics));
    }
    html += "<dl class=\"facts numbers-of\">";
    if (detail.statistics) {
        const HurrayStatistics& statistics = *detail.statistics;
        if ((statistics.computed_mask & HURRAY_STATISTICS_RANGE) != 0) {
            html += number_fact("Minimum", statistics.value_min) + number_fact("Maximum", statistics.value_max);
        }
        if ((statistics.computed_mask & HURRAY_STATISTICS_MOMENTS) != 0) {
            html +=
                number_fact("Mean", statistics.value_mean) + number_fact("Standard deviation", statistics.value_stddev);
        }
        if ((statistics.computed_mask & HURRAY_STATISTICS_SPARSITY) != 0) {
            const std::uint64_t zeros = detail.total - std::min(detail.total, statistics.nnz);
            const bool known = detail.total != 0 && (statistics.computed_mask & HURRAY_STATISTICS_NNZ) != 0;
            html += fmt::format("<div><dt>Zeros</dt><dd data-value=\"{}\">{:.4g}%{}</dd></div>",
                                exact(statistics.sparsity_ratio), 100 * statistics.sparsity_ratio,
                                known && !detail.statistics_of_sample ? "<small>" + grouped(zeros) + "</small>" : "");
        }
    }
    if (detail.no_values.empty() && detail.sampled != 0) {
        const Histogram& histogram = detail.histogram;
        const auto count = [&](std::string_view name, std::uint64_t number, bool bad) {
            html += fmt::format("<div><dt>{}</dt><dd data-value=\"{}\"{}>{}{}</dd></div>", name, number,
                                bad && number != 0 ? " class=\"warning\"" : "", grouped(number),
                                detail.sampled < detail.total ? "<small>in the sample</small>" : "");
        };
        if (!detail.statistics) count("Zeros", histogram.zeros, false);
        if (!is_integer(facts.element_type) || facts.quantized) {
            count("NaN", histogram.nans, true);
            count("+Infinity", histogram.positive_infinities, true);
            count("−Infinity", histogram.negative_infinities, true);
        }
    }
    html += "</dl>\n";
    if (detail.statistics && detail.sampled < detail.total) {
        const bool nan =
            (detail.statistics->computed_mask & HURRAY_STATISTICS_NAN_INF) != 0 && !detail.statistics_of_sample;
        if (nan && (detail.statistics->has_nan != 0 || detail.statistics->has_inf != 0)) {
            html += fmt::format("<p class=\"warning\">Among all elements there {}{}{}.</p>\n",
                                detail.statistics->has_nan != 0 ? "is NaN" : "",
                                detail.statistics->has_nan != 0 && detail.statistics->has_inf != 0 ? " and "
                                : detail.statistics->has_nan == 0                                  ? "is "
                                                                                                   : "",
                                detail.statistics->has_inf != 0 ? "infinity" : "");
        }
    }
    return html;
}

std::string sample_words(const Detail& detail) {
    if (detail.sampled == detail.total) return "";
    std::string text =
        fmt::format("<p class=\"note sampled\">A sample: {} of {} elements, in {} {} of {}, spread evenly",
                    grouped(detail.sampled), grouped(detail.total), grouped(detail.sample.rows),
                    detail.sample.pieces ? "pieces" : "rows", grouped(detail.sample.columns));
    if (detail.slow) text += "; few, since they can only be read one by one";
    return text + (detail.statistics_of_sample ? ". The statistics are of the sample, too.</p>\n"
                                               : ". The statistics are of all elements.</p>\n");
}

std::string costs_html(const Detail& detail) {
    if (detail.costs.empty()) return "";
    double best = -1;
    for (const Cost& cost : detail.costs) {
        if (cost.refused.empty()) best = std::max(best, std::min(cost.signal_to_noise(), 1e300));
    }
    std::string html =
        "<h4>If it were quantized</h4>\n<div class=\"scroll\"><table class=\"costs\"><thead><tr><th "
        "scope=\"col\">Scheme</th>"
        "<th scope=\"col\" class=\"number\">Bits per element</th><th scope=\"col\" class=\"number\">RMS error</th>"
        "<th scope=\"col\" class=\"number\">Largest error</th><th scope=\"col\" class=\"number\">SQNR, "
        "dB</th></tr></thead><tbody>\n";
    for (std::size_t i = 0; i < detail.costs.size(); ++i) {
        const Cost& cost = detail.costs[i];
        html +=
            fmt::format("<tr><th scope=\"row\" title=\"{}\">{}</th>{}</tr>\n", attempts()[i].words, attempts()[i].name,
                        cost_cells(cost, cost.refused.empty() && cost.signal_to_noise() >= best));
    }
    return html + "</tbody></table></div>\n";
}

std::string steps_html(const Facts& facts, const std::optional<Steps>& steps) {
    if (!facts.quantized) return "";
    std::string html = fmt::format("<h4>Quantization</h4>\n<p>{}</p>\n", facts.quantization);
    if (!steps) return html;
    html += "<dl class=\"facts\">";
    if (steps->count == 1) {
        html += number_fact("Step", steps->least);
    } else {
        html += fact("Scales", grouped(steps->count),
                     steps->seen < steps->count ? grouped(steps->seen) + " looked at" : "");
        html += number_fact("Smallest step", steps->least) + number_fact("Median step", steps->median) +
                number_fact("Largest step", steps->greatest);
    }
    return html + "</dl>\n";
}

}  // namespace

Facts facts_of(const Entry& entry) {
    Facts facts;
    facts.index = entry.index;
    facts.name = entry.info ? shown(entry.name) : fmt::format("#{}", entry.index);
    const hurray::DescriptorRef descriptor = entry.descriptor();
    const auto info = take(descriptor.info(), facts.name);
    facts.element_type = info.element_type;
    facts.type = hurray::type_name(info.element_type);
    facts.shape = escaped(shape_text(shape_of(info)));
    facts.layout = escaped(layout_text(descriptor));
    facts.quantization = escaped(quantization_text(descriptor));
    facts.quantized = !facts.quantization.empty();
    facts.bytes = entry.byte_size();
    facts.elements = info.element_count;
    return facts;
}

Detail detail_of(const Entry& entry, const Facts& facts, std::uint64_t most, Meter& meter) {
    Detail detail;
    const hurray::Item& item = entry.item();
    hurray::Tensor merged;
    const hurray::Tensor* tensor = &item.tensor;
    if (item.composite) {
        const auto progress = [&](std::uint64_t, std::uint64_t) { return !is_interrupted(); };
        hurray::WorkOptions work;
        work.memory_limit = memory_limit;
        work.progress = progress;
        auto made = item.composite.merged(work);
        if (!made) {
            check_stop(made.error());
            detail.no_values = words_of(made.error());
            return detail;
        }
        merged = std::move(*made);
        tensor = &merged;
    }
    if (facts.elements == HURRAY_DIMENSION_DYNAMIC) {
        detail.no_values = "the shape is dynamic: there are no elements yet";
        return detail;
    }
    add_statistics(*tensor, facts.bytes, meter, detail);
    add_values(*tensor, facts, facts.quantized && !item.composite, most, meter, detail);
    if (facts.quantized) detail.steps = steps_of(*tensor);
    meter.advance(facts.bytes);
    return detail;
}

std::string cost_cells(const Cost& cost, bool best) {
    if (!cost.refused.empty()) {
        return fmt::format("<td colspan=\"4\" class=\"none\">not possible: {}</td>", shown(cost.refused, 160));
    }
    const double ratio = cost.signal_to_noise();
    return fmt::format(
        "<td class=\"number\" data-value=\"{}\">{:.2f}</td><td class=\"number\" data-value=\"{}\">{:.3g}</td>"
        "<td class=\"number\" data-value=\"{}\">{:.3g}</td><td class=\"number{}\" data-value=\"{}\">{}</td>",
        exact(cost.bits), cost.bits, exact(cost.rms), cost.rms, exact(cost.largest), cost.largest, best ? " best" : "",
        exact(ratio), std::isinf(ratio) ? "exact" : fmt::format("{:.1f}", ratio));
}

std::string detail_html(const Facts& facts, const Detail& detail, bool open, const std::string& order) {
    std::string html = fmt::format(
        "<details class=\"tensor\" id=\"t{}\"{}><summary><h3><bdi>{}</bdi></h3> <span>{} {}</span> "
        "<span>{}</span></summary>\n<div class=\"inner\">\n",
        facts.index, open ? " open" : "", facts.name, facts.type, facts.shape, size_text(facts.bytes));
    html += fmt::format("<p class=\"note\">Layout {}{}{}; {}; {}.</p>\n",
                        order.empty() ? "" : fmt::format("<a href=\"#{}\">", order), facts.layout,
                        order.empty() ? "" : "</a>",
                        facts.elements == HURRAY_DIMENSION_DYNAMIC
                            ? "dynamic shape"
                            : grouped(facts.elements) + (facts.elements == 1 ? " element" : " elements"),
                        fmt::format("{} bytes", grouped(facts.bytes)));
    html += statistics_html(facts, detail);
    html += sample_words(detail);
    if (!detail.no_values.empty()) {
        html += fmt::format("<p class=\"none\">No histogram: {}</p>\n", shown(detail.no_values));
    } else if (detail.total == 0) {
        html += "<p class=\"none\">There are no elements.</p>\n";
    } else {
        html += histogram_html(detail.histogram, fmt::format("h{}", facts.index), facts.name);
    }
    html += steps_html(facts, detail.steps);
    html += costs_html(detail);
    return html + "</div></details>\n";
}

}  // namespace cli::report

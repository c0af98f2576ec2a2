// stats: range, mean, zeros and the like of each tensor.
#include <fmt/format.h>

#include "../shared/exit.hpp"
#include "../shared/json_writer.hpp"
#include "../shared/output.hpp"
#include "../shared/progress.hpp"
#include "../shared/table.hpp"
#include "../shared/text.hpp"
#include "commands.hpp"

namespace cli {
namespace {

struct Options {
    std::string path;
    std::vector<std::string> patterns;
    InputOptions input;
    bool json = false;
};

constexpr std::uint32_t countable = HURRAY_STATISTICS_NNZ | HURRAY_STATISTICS_SPARSITY | HURRAY_STATISTICS_NAN_INF;
constexpr std::uint32_t everything =
    countable | HURRAY_STATISTICS_RANGE | HURRAY_STATISTICS_MOMENTS | HURRAY_STATISTICS_NM_SPARSITY;

// Either statistics, or why there are none.
struct Numbers {
    std::optional<HurrayStatistics> values;
    std::string obstacle;
};

Numbers numbers_of(const hurray::Tensor& tensor, const hurray::WorkOptions& work, const std::string& subject) {
    // Complex numbers have no order, and wide ones no arithmetic here: what can be counted is counted.
    hurray::Error error;
    for (const std::uint32_t mask : {everything, countable}) {
        auto statistics = tensor.statistics(mask, work);
        if (statistics) return {*statistics, ""};
        error = statistics.error();
        if (error.code() != HURRAY_ERR_UNSUPPORTED) break;
    }
    if (error.code() == HURRAY_ERR_CANCELLED) throw Failure(interrupted, "", "interrupted");
    // Composites and private types are what they are; anything else is wrong with the input.
    if (error.code() != HURRAY_ERR_UNSUPPORTED) throw Failure(unreadable, subject, error);
    return {std::nullopt, error.message()};
}

Numbers numbers_of(const Entry& entry, Meter& meter, const std::string& subject) {
    const std::uint64_t bytes = entry.byte_size();
    const auto progress = [&](std::uint64_t done, std::uint64_t total) { return meter.part(done, total, bytes); };
    hurray::WorkOptions work;
    work.progress = progress;
    const hurray::Item& item = entry.item();
    if (item.tensor) return numbers_of(item.tensor, work, subject);
    auto merged = item.composite.merged(work);
    if (merged) return numbers_of(*merged, work, subject);
    if (merged.error().code() == HURRAY_ERR_CANCELLED) throw Failure(interrupted, "", "interrupted");
    return {std::nullopt, merged.error().message()};
}

std::string percent(double ratio) { return fmt::format("{:.1f}%", 100 * ratio); }

void add_row(Table& table, const Entry& entry, const Numbers& numbers) {
    const auto info = take(entry.descriptor().info(), entry.label());
    std::vector<std::string> cells = {entry.label(), hurray::type_name(info.element_type), fmt::format("{}", info.element_count)};
    if (!numbers.values) {
        cells.resize(9);
        cells.back() = shortened(numbers.obstacle, 60);
        table.add(std::move(cells));
        return;
    }
    const HurrayStatistics& values = *numbers.values;
    const auto has = [&](std::uint32_t bit) { return (values.computed_mask & bit) != 0; };
    const auto number = [&](std::uint32_t bit, double value) { return has(bit) ? number_text(value) : std::string("-"); };
    cells.push_back(number(HURRAY_STATISTICS_RANGE, values.value_min));
    cells.push_back(number(HURRAY_STATISTICS_RANGE, values.value_max));
    cells.push_back(number(HURRAY_STATISTICS_MOMENTS, values.value_mean));
    cells.push_back(number(HURRAY_STATISTICS_MOMENTS, values.value_stddev));
    cells.push_back(has(HURRAY_STATISTICS_SPARSITY) ? percent(values.sparsity_ratio) : "-");
    std::string notes;
    const auto note = [&](bool applies, const std::string& text) {
        if (applies) notes += (notes.empty() ? "" : ", ") + text;
    };
    note(values.has_nan != 0, "NaN");
    note(values.has_inf != 0, "inf");
    note(values.nm_m != 0, fmt::format("{}:{} sparse", values.nm_n, values.nm_m));
    cells.push_back(notes);
    table.add(std::move(cells));
}

void write_json(JsonWriter& json, const Entry& entry, const Numbers& numbers) {
    const auto info = take(entry.descriptor().info(), entry.label());
    json.begin_object().field("index", entry.index).key("name");
    if (entry.info) json.text(entry.name);
    else json.null();
    json.field("type", hurray::type_name(info.element_type)).field("elements", info.element_count).key("statistics");
    if (!numbers.values) {
        json.null().field("obstacle", numbers.obstacle).end_object();
        return;
    }
    const HurrayStatistics& values = *numbers.values;
    json.begin_object().field("computed_mask", values.computed_mask);
    const auto put = [&](std::uint32_t bit, const char* name, auto value) {
        json.key(name);
        if ((values.computed_mask & bit) == 0) json.null();
        else if constexpr (std::same_as<decltype(value), double>) json.number(value);
        else if constexpr (std::same_as<decltype(value), bool>) json.boolean(value);
        else json.integer(value);
    };
    put(HURRAY_STATISTICS_NNZ, "nnz", values.nnz);
    put(HURRAY_STATISTICS_SPARSITY, "sparsity_ratio", values.sparsity_ratio);
    put(HURRAY_STATISTICS_RANGE, "value_min", values.value_min);
    put(HURRAY_STATISTICS_RANGE, "value_max", values.value_max);
    put(HURRAY_STATISTICS_RANGE, "value_abs_max", values.value_abs_max);
    put(HURRAY_STATISTICS_MOMENTS, "value_mean", values.value_mean);
    put(HURRAY_STATISTICS_MOMENTS, "value_stddev", values.value_stddev);
    put(HURRAY_STATISTICS_NM_SPARSITY, "nm_n", std::uint64_t{values.nm_n});
    put(HURRAY_STATISTICS_NM_SPARSITY, "nm_m", std::uint64_t{values.nm_m});
    put(HURRAY_STATISTICS_NAN_INF, "has_nan", values.has_nan != 0);
    put(HURRAY_STATISTICS_NAN_INF, "has_inf", values.has_inf != 0);
    json.end_object().end_object();
}

int run(const Options& options) {
    Input input = Input::open(options.path, options.input.with_blocks("float32"));
    if (input.kind() == InputKind::descriptor) throw Failure(usage, input.path(), "is a descriptor alone, without data");
    Meter meter("reading", input.size());
    Table table({{"NAME", false, Colour::cyan, true},
                 {"TYPE"},
                 {"ELEMENTS", true},
                 {"MIN", true},
                 {"MAX", true},
                 {"MEAN", true},
                 {"STDDEV", true},
                 {"ZEROS", true},
                 {"NOTES", false, Colour::yellow, true}});
    JsonWriter json;
    if (options.json) json.begin_object().field("format", input.format()).key("tensors").begin_array();
    Entry entry;
    std::uint64_t count = 0;
    while (input.next(entry)) {
        if (!is_wanted(options.patterns, entry)) continue;
        ++count;
        const Numbers numbers = numbers_of(entry, meter, input.path() + ": " + entry.label());
        meter.advance(entry.byte_size());
        if (options.json) write_json(json, entry, numbers);
        else add_row(table, entry, numbers);
    }
    meter.clear();
    if (count == 0 && !options.patterns.empty()) {
        throw Failure(usage, input.path(), "there is no tensor of such a name").with_hint("hurray ls lists them");
    }
    if (options.json) {
        json.end_array().end_object().finish();
    } else {
        table.print();
    }
    return good;
}

}  // namespace

void add_stats(CLI::App& app, Request& request) {
    const auto options = std::make_shared<Options>();
    CLI::App& command = *app.add_subcommand("stats", "Print range, mean, deviation and zeros of tensors");
    command.add_option("INPUT", options->path, "File or stream; - for standard input")->required();
    command.add_option("NAME", options->patterns, "Only tensors of these names; * and ? stand for anything");
    command.add_flag("--json", options->json, "Print JSON");
    add_input_options(command, options->input);
    add_examples(command, {{"hurray stats model.safetensors", "all tensors; of quantized ones the numbers that they stand for"},
                           {"hurray stats model.hrry '*.bias'", "some of them"},
                           {"hurray stats --json model.hrry | jq '.tensors[] | select(.statistics.has_nan)'", "those with NaN"}});
    command.callback([options, &request] {
        request.json = options->json;
        request.run = [options] { return run(*options); };
    });
}

}  // namespace cli

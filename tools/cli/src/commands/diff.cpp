// diff: two files or streams: structure first, then values with a tolerance.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "../shared/elements.hpp"
#include "../shared/exit.hpp"
#include "../shared/interrupt.hpp"
#include "../shared/json_writer.hpp"
#include "../shared/metadata.hpp"
#include "../shared/output.hpp"
#include "../shared/progress.hpp"
#include "../shared/summary.hpp"
#include "../shared/terminal.hpp"
#include "../shared/text.hpp"
#include "../shared/wire_fields.hpp"
#include "commands.hpp"

namespace cli {
namespace {

struct Options {
    std::string left;
    std::string right;
    std::vector<std::string> only;
    InputOptions input;
    double rtol = 0;
    double atol = 0;
    bool values_only = false;
    bool structure_only = false;
    bool json = false;
};

// One thing that is different. `what` is a word for programs.
struct Difference {
    std::string tensor;
    std::string what;
    std::string left;
    std::string right;
    std::string text;
};

struct ValueDifference {
    std::uint64_t count = 0;
    double largest = 0;
    std::uint64_t place = 0;
};

constexpr std::uint64_t between_checks = 1 << 16;

std::string index_text(std::uint64_t place, const std::vector<std::uint64_t>& shape) {
    std::vector<std::uint64_t> index(shape.size());
    for (std::size_t d = shape.size(); d-- > 0;) {
        index[d] = place % shape[d];
        place /= shape[d];
    }
    return shape_text(index);
}

class Comparison {
  public:
    Comparison(const Options& options, std::uint64_t bytes) : options_(options), meter_("comparing", bytes) {}

    void structure(const std::string& tensor, const std::string& what, const std::string& left, const std::string& right) {
        if (left == right) return;
        differences_.push_back({tensor, what, left, right, fmt::format("{}: {} and {}", what, left, right)});
    }
    void missing(const std::string& tensor, bool in_left) {
        differences_.push_back({tensor, in_left ? "missing_left" : "missing_right", "", "",
                                fmt::format("only in {}", in_left ? options_.right : options_.left)});
    }
    void pair(const Entry& left, const Entry& right) {
        check_interrupt();
        ++compared_;
        const std::string label = left.info ? left.label() : right.label();
        const hurray::DescriptorRef a = left.descriptor();
        const hurray::DescriptorRef b = right.descriptor();
        const auto left_info = take(a.info(), label);
        const auto right_info = take(b.info(), label);
        const bool same_shape = std::ranges::equal(shape_of(left_info), shape_of(right_info));
        structure(label, "shape", shape_text(shape_of(left_info)), shape_text(shape_of(right_info)));
        if (!options_.values_only) {
            structure(label, "type", hurray::type_name(left_info.element_type), hurray::type_name(right_info.element_type));
            structure(label, "layout", layout_text(a), layout_text(b));
            structure(label, "quantization", none_or(quantization_text(a)), none_or(quantization_text(b)));
        }
        if (!options_.structure_only && same_shape) values(label, left, right);
        meter_.advance(left.byte_size());
    }
    void metadata(const Input& left, const Input& right) {
        const auto a = texts_of(left);
        const auto b = texts_of(right);
        for (const auto& [key, value] : a) {
            const auto other = b.find(key);
            structure("", "metadata " + printable(key), value, other == b.end() ? "nothing" : other->second);
        }
        for (const auto& [key, value] : b) {
            if (!a.contains(key)) structure("", "metadata " + printable(key), "nothing", value);
        }
    }
    const std::vector<Difference>& differences() const { return differences_; }
    std::uint64_t compared() const { return compared_; }
    void done() { meter_.clear(); }

  private:
    static std::string none_or(std::string text) { return text.empty() ? "none" : text; }

    static std::map<std::string, std::string> texts_of(const Input& input) {
        std::map<std::string, std::string> texts;
        for (auto& [key, value] : metadata_texts(input)) texts.emplace(std::move(key), std::move(value));
        return texts;
    }

    void values(const std::string& label, const Entry& left, const Entry& right) {
        // Groups have no elements; their members were compared one by one where they have names.
        const auto elements = [&](const Entry& entry) -> std::optional<Elements> {
            const auto progress = [&](std::uint64_t done, std::uint64_t total) {
                return meter_.part(done, total, entry.byte_size());
            };
            hurray::WorkOptions work;
            work.progress = progress;
            try {
                return Elements::of(entry.item(), false, work, label);
            } catch (const Failure& failure) {
                if (!failure.error() || failure.error()->code() != HURRAY_ERR_UNSUPPORTED) throw;
                return std::nullopt;
            }
        };
        const auto a = elements(left);
        const auto b = elements(right);
        if (!a || !b) {
            stored_bytes(label, left.item(), right.item());
            return;
        }
        const ValueDifference found = compare(*a, *b, left.byte_size());
        if (found.count == 0) return;
        Difference difference{label, "values", a->text(found.place), b->text(found.place), ""};
        difference.text = fmt::format("values: {} of {} differ, most at {}: {} and {} (by {:.6g})", found.count,
                                      count_text(a->count(), "element"), index_text(found.place, a->shape()), difference.left,
                                      difference.right, found.largest);
        differences_.push_back(std::move(difference));
    }

    // What has no numbers has bytes: private types and schemes.
    void stored_bytes(const std::string& label, const hurray::Item& left, const hurray::Item& right) {
        if (left.composite && right.composite) {
            const auto count = take(left.composite.info(), label).member_count;
            structure(label, "members", fmt::format("{}", count), fmt::format("{}", take(right.composite.info(), label).member_count));
            for (std::uint32_t i = 0; i < count; ++i) {
                const auto other = right.composite.member(i);
                if (!other) return;
                stored_bytes(fmt::format("{} member {}", label, i), take(left.composite.member(i), label), *other);
            }
            return;
        }
        if (!left.tensor || !right.tensor) {
            structure(label, "kind", left.tensor ? "tensor" : "composite", right.tensor ? "tensor" : "composite");
            return;
        }
        for (std::uint32_t i = 0;; ++i) {
            const auto a = left.tensor.buffer(i);
            const auto b = right.tensor.buffer(i);
            if (!a && !b) return;
            const auto x = a ? take(a->bytes(), label) : hurray::Span<const std::uint8_t>();
            const auto y = b ? take(b->bytes(), label) : hurray::Span<const std::uint8_t>();
            const bool same = x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size()) == 0);
            if (!same) {
                differences_.push_back({label, "bytes", "", "", fmt::format("the bytes of buffer {} differ", i)});
                return;
            }
        }
    }

    ValueDifference compare(const Elements& a, const Elements& b, std::uint64_t bytes) {
        ValueDifference found;
        const bool same_type = a.type() == b.type();
        if (same_type && a.bytes().size() == b.bytes().size() &&
            (a.bytes().empty() || std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0)) {
            return found;
        }
        // Integers of 64 bits are not told apart as doubles.
        const bool exact = same_type && options_.rtol == 0 && options_.atol == 0 &&
                           (a.type() == HURRAY_TYPE_INT64 || a.type() == HURRAY_TYPE_UINT64);
        for (std::uint64_t i = 0; i < a.count(); ++i) {
            if (i % between_checks == 0 && !meter_.part(i, a.count(), bytes)) check_interrupt();
            if (exact && std::memcmp(a.bytes().data() + 8 * i, b.bytes().data() + 8 * i, 8) == 0) continue;
            double distance = 0;
            if (a.is_complex() || b.is_complex()) {
                distance = distance_of(a.complex(i), b.complex(i));
            } else {
                distance = exact ? std::max(1.0, std::abs(a.number(i) - b.number(i))) : distance_of(a.number(i), b.number(i));
            }
            if (distance == 0) continue;
            if (found.count++ == 0 || distance > found.largest) {
                found.largest = distance;
                found.place = i;
            }
        }
        return found;
    }

    // 0 where the two are the same within the tolerance; as NumPy's isclose has it, but NaN is NaN's equal.
    double distance_of(double x, double y) const {
        if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
        const double distance = std::abs(x - y);
        if (std::isnan(distance) || std::isinf(distance)) return HUGE_VAL;
        return distance <= options_.atol + options_.rtol * std::abs(y) ? 0 : distance;
    }
    double distance_of(std::complex<double> x, std::complex<double> y) const {
        if (x == y) return 0;
        const double real = distance_of(x.real(), y.real());
        const double imaginary = distance_of(x.imag(), y.imag());
        return std::max(real, imaginary);
    }

    const Options& options_;
    Meter meter_;
    std::vector<Difference> differences_;
    std::uint64_t compared_ = 0;
};

// Files have names: what has the same one belongs together.
void compare_files(Input& left, Input& right, const Options& options, Comparison& comparison) {
    Entry entry;
    for (std::uint64_t i = 0; left.go_to(i), left.next(entry); ++i) {
        if (!is_wanted(options.only, entry)) continue;
        const auto other = right.file().find(entry.name);
        if (!other) {
            comparison.missing(entry.label(), false);
            continue;
        }
        Entry same;
        right.go_to(*other);
        (void)right.next(same);
        comparison.pair(entry, same);
    }
    for (std::uint64_t i = 0; right.go_to(i), right.next(entry); ++i) {
        if (is_wanted(options.only, entry) && !left.file().find(entry.name)) comparison.missing(entry.label(), true);
    }
    if (!options.values_only && options.only.empty()) comparison.metadata(left, right);
}

// Streams have places.
void compare_by_place(Input& left, Input& right, const Options& options, Comparison& comparison) {
    Entry a;
    Entry b;
    while (true) {
        const bool more_left = left.next(a);
        const bool more_right = right.next(b);
        if (!more_left && !more_right) return;
        const Entry& any = more_left ? a : b;
        if (!is_wanted(options.only, any)) continue;
        if (more_left && more_right) comparison.pair(a, b);
        else comparison.missing(any.label(), !more_left);
    }
}

void compare_descriptors(const Input& left, const Input& right, Comparison& comparison) {
    const auto fields = [](const Input& input) {
        const auto descriptor = take(input.decode(), input.path());
        std::map<std::string, std::string> values;
        for (const WireField& field : wire_fields(descriptor, input.bytes())) {
            // Reserved fields have no names of their own, and nothing in them.
            if (field.name != "reserved") values[field.name] = field.value;
        }
        return values;
    };
    const auto a = fields(left);
    const auto b = fields(right);
    for (const auto& [name, value] : a) comparison.structure("", name, value, b.contains(name) ? b.at(name) : "nothing");
    for (const auto& [name, value] : b) {
        if (!a.contains(name)) comparison.structure("", name, "nothing", value);
    }
}

void print_json(const Options& options, const Comparison& comparison) {
    JsonWriter json;
    json.begin_object().field("left", options.left).field("right", options.right).field("compared", comparison.compared());
    json.field("same", comparison.differences().empty()).key("differences").begin_array();
    for (const Difference& difference : comparison.differences()) {
        json.begin_object().field("tensor", difference.tensor).field("what", difference.what);
        json.field("left", difference.left).field("right", difference.right).field("text", difference.text).end_object();
    }
    json.end_array().end_object().finish();
}

void print_text(const Comparison& comparison) {
    for (const Difference& difference : comparison.differences()) {
        print("{}{}\n", difference.tensor.empty() ? "" : coloured(Colour::bold, difference.tensor) + ": ", difference.text);
    }
    const std::string compared = count_text(comparison.compared(), "tensor") + " compared";
    if (comparison.differences().empty()) print("{}: {}\n", compared, coloured(Colour::green, "no differences"));
    else print("{}: {}\n", compared, coloured(Colour::red, count_text(comparison.differences().size(), "difference")));
}

int run(const Options& options) {
    if (options.left == "-" && options.right == "-") throw Failure(usage, "", "only one of the two can be standard input");
    const InputOptions opening = options.input.with_blocks(options.values_only ? "float32" : "raw");
    Input left = Input::open(options.left, opening);
    Input right = Input::open(options.right, opening);
    Comparison comparison(options, left.size());
    const bool descriptors = left.kind() == InputKind::descriptor;
    if (descriptors != (right.kind() == InputKind::descriptor)) {
        throw Failure(usage, "", "one is a descriptor alone, the other has data");
    }
    if (descriptors) compare_descriptors(left, right, comparison);
    else if (left.is_file() && right.is_file()) compare_files(left, right, options, comparison);
    else compare_by_place(left, right, options, comparison);
    comparison.done();
    if (options.json) print_json(options, comparison);
    else print_text(comparison);
    return comparison.differences().empty() ? good : finding;
}

}  // namespace

void add_diff(CLI::App& app, Request& request) {
    const auto options = std::make_shared<Options>();
    CLI::App& command = *app.add_subcommand("diff", "Compare two files or streams: structure, then values with a tolerance");
    command.add_option("LEFT", options->left, "File, stream or descriptor; - for standard input")->required();
    command.add_option("RIGHT", options->right, "What it is compared with")->required();
    command.add_option("--rtol", options->rtol, "Values may differ by this part of RIGHT's")
        ->type_name("NUMBER")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command.add_option("--atol", options->atol, "and by this much")
        ->type_name("NUMBER")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command.add_option("--only", options->only, "Only tensors of this name; * and ? stand for anything; may be given several times")
        ->type_name("NAME")
        ->allow_extra_args(false);
    auto* values = command.add_flag("--values-only", options->values_only,
                                    "Other types, layouts, schemes and metadata are no differences: only the numbers count");
    command.add_flag("--structure-only", options->structure_only, "Do not look at values")->excludes(values);
    command.add_flag("--json", options->json, "Print JSON");
    add_input_options(command, options->input);
    add_examples(command, {{"hurray diff a.safetensors b.safetensors", "bit for bit; exit code 1 when anything is different"},
                           {"hurray diff --values-only --atol 0.01 model.hrry int8.hrry", "what quantization has changed"},
                           {"hurray diff a.bin b.bin", "two descriptors, field by field"}});
    command.callback([options, &request] {
        request.json = options->json;
        request.run = [options] { return run(*options); };
    });
}

}  // namespace cli

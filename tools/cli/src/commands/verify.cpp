// verify: every problem of a file or stream, on one of three levels.
#include <fmt/format.h>

#include <map>

#include "../shared/descriptor_json.hpp"
#include "../shared/exit.hpp"
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
    std::uint32_t level = HURRAY_VALIDATE_DATA;
    bool json = false;
};

const std::map<std::string, std::uint32_t> levels = {{"descriptor", HURRAY_VALIDATE_DESCRIPTOR},
                                                     {"buffers", HURRAY_VALIDATE_BUFFERS},
                                                     {"data", HURRAY_VALIDATE_DATA}};

const char* level_name(std::uint32_t level) {
    for (const auto& [name, value] : levels) {
        if (value == level) return name.c_str();
    }
    return "";
}

struct Problem {
    std::uint64_t index;
    std::optional<std::string> name;
    std::string label;
    hurray::Error error;
};

class Verifier {
  public:
    Verifier(const Input& input, std::uint32_t level)
        : level_(level), meter_("verifying", input.size()) {}

    void check(const Entry& entry) {
        ++count_;
        try {
            item(entry, entry.item(), entry.label());
        } catch (const Failure& failure) {
            if (!failure.error() || failure.code() == interrupted) throw;
            add(entry, entry.label(), *failure.error());
        }
    }
    // A stream that cannot be read on.
    void broken(std::uint64_t index, const hurray::Error& error) {
        problems_.push_back({index, std::nullopt, fmt::format("#{}", index), error});
    }
    const std::vector<Problem>& problems() const { return problems_; }
    std::uint64_t count() const { return count_; }
    void done() { meter_.clear(); }

  private:
    void add(const Entry& entry, const std::string& label, const hurray::Error& error) {
        problems_.push_back({entry.index, entry.info ? std::optional(entry.name) : std::nullopt, label, error});
    }

    void item(const Entry& entry, const hurray::Item& what, const std::string& label) {
        if (what.composite) {
            // Whether the members fit was checked when it was put together. A file's are entries of their own.
            if (entry.info) return;
            const auto info = take(what.composite.info(), label);
            for (std::uint32_t i = 0; i < info.member_count; ++i) {
                item(entry, take(what.composite.member(i), label), fmt::format("{} member {}", label, i));
            }
            return;
        }
        const std::uint64_t size = bytes(what.tensor);
        const auto progress = [&](std::uint64_t at, std::uint64_t total) { return meter_.part(at, total, size); };
        hurray::WorkOptions work;
        work.progress = progress;
        const auto outcome = what.tensor.validate(level_, work);
        meter_.advance(size);
        if (outcome) return;
        if (outcome.error().code() == HURRAY_ERR_CANCELLED) throw Failure(interrupted, "", "interrupted");
        add(entry, label, outcome.error());
    }

    static std::uint64_t bytes(const hurray::Tensor& tensor) {
        std::uint64_t total = 0;
        for (std::uint32_t i = 0;; ++i) {
            const auto buffer = tensor.buffer(i);
            if (!buffer) return total;
            if (const auto info = buffer->info()) total += info->byte_size;
        }
    }

    std::uint32_t level_;
    Meter meter_;
    std::vector<Problem> problems_;
    std::uint64_t count_ = 0;
};

void print_json(const Input& input, const Options& options, const Verifier& verifier) {
    JsonWriter json;
    json.begin_object().field("path", input.path()).field("format", input.format());
    json.field("level", level_name(options.level)).field("tensors", verifier.count());
    json.field("good", verifier.problems().empty()).key("problems").begin_array();
    for (const Problem& problem : verifier.problems()) {
        json.begin_object().field("index", problem.index).key("name");
        if (problem.name) json.text(*problem.name);
        else json.null();
        json.field("where", problem.label).field("code", problem.error.code()).field("error", problem.error.name());
        json.field("message", problem.error.message()).key("offset");
        if (const auto offset = problem.error.offset()) json.integer(*offset);
        else json.null();
        json.end_object();
    }
    json.end_array().end_object().finish();
}

void print_text(const Input& input, const Options& options, const Verifier& verifier) {
    for (const Problem& problem : verifier.problems()) {
        print("{}: {}: {}\n", coloured(Colour::bold, problem.label), coloured(Colour::red, problem.error.name()),
              printable(problem.error.message()));
    }
    const std::string what = fmt::format("{}: {}, level {}", input.path(), count_text(verifier.count(), "tensor"),
                                         level_name(options.level));
    if (verifier.problems().empty()) {
        print("{}: {}\n", what, coloured(Colour::green, "no problems"));
    } else {
        print("{}: {}\n", what, coloured(Colour::red, count_text(verifier.problems().size(), "problem")));
    }
}

int run(const Options& options) {
    Input input = Input::open(options.path, options.input);
    Verifier verifier(input, options.level);
    if (input.kind() == InputKind::descriptor) {
        if (!options.patterns.empty()) throw Failure(usage, input.path(), "is a descriptor alone, which has no name");
        (void)take(input.decode(), input.path());
        if (options.json) print_json(input, options, verifier);
        else print("{}: a descriptor: {}\n", input.path(), coloured(Colour::green, "no problems"));
        return good;
    }
    Entry entry;
    while (true) {
        try {
            if (!input.next(entry)) break;
        } catch (const Failure& failure) {
            // What starts as a stream is one, and what is wrong further on is a finding.
            if (input.is_file() || !failure.error() || entry.index == 0) throw;
            verifier.broken(entry.index, *failure.error());
            break;
        }
        if (is_wanted(options.patterns, entry)) verifier.check(entry);
    }
    verifier.done();
    if (options.json) print_json(input, options, verifier);
    else print_text(input, options, verifier);
    return verifier.problems().empty() ? good : finding;
}

}  // namespace

void add_verify(CLI::App& app, Request& request) {
    const auto options = std::make_shared<Options>();
    CLI::App& command = *app.add_subcommand("verify", "Check a file or stream and list every problem");
    command.add_option("INPUT", options->path, "File, stream or descriptor; - for standard input")->required();
    command.add_option("NAME", options->patterns, "Only tensors of these names; * and ? stand for anything");
    command
        .add_option("-l,--level", options->level,
                    "How much is looked at: descriptor; buffers: their sizes and places, too; data: what is in them, too")
        ->type_name("LEVEL")
        ->transform(CLI::CheckedTransformer(levels))
        ->default_str("data");
    command.add_flag("--json", options->json, "Print JSON");
    add_input_options(command, options->input);
    add_examples(command, {{"hurray verify model.hrry", "everything, the data included; exit code 1 when anything is wrong"},
                           {"hurray verify --level buffers model.gguf", "without reading the data"},
                           {"hurray verify --json model.hrry 'layers.*'", "some tensors, for other programs"}});
    command.callback([options, &request] {
        request.json = options->json;
        request.run = [options] { return run(*options); };
    });
}

}  // namespace cli

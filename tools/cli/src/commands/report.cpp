// report: one HTML page about a file.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "../report/detail.hpp"
#include "../report/page.hpp"
#include "../shared/atomic_output.hpp"
#include "../shared/exit.hpp"
#include "../shared/interrupt.hpp"
#include "../shared/output.hpp"
#include "../shared/progress.hpp"
#include "../shared/text.hpp"
#include "commands.hpp"

namespace cli {
namespace {

struct Options {
    std::string path;
    std::string output;
    std::vector<std::string> patterns;
    InputOptions input;
    std::uint64_t limit = 100;
    std::uint64_t sample = std::uint64_t{1} << 20;
};

struct Place {
    std::uint64_t bytes;
    std::uint64_t index;
};

// The tensors that are looked at closely: as many as there may be of the largest.
std::vector<Place> largest(std::vector<Place> sizes, std::uint64_t limit) {
    std::ranges::stable_sort(sizes, std::ranges::greater{}, &Place::bytes);
    if (sizes.size() > limit) sizes.resize(static_cast<std::size_t>(limit));
    return sizes;
}

void look_at(const Entry& entry, const report::Facts& facts, std::uint64_t sample, Meter& meter, report::Page& page) {
    if (entry.item().tensor) page.add_order(facts, entry.item().tensor);
    page.add_detail(facts, report::detail_of(entry, facts, sample, meter));
}

std::string file_page(Input& input, const Options& options) {
    report::Page page(input, options.limit, false, !options.patterns.empty());
    std::vector<Place> sizes;
    Entry entry;
    while (input.next(entry)) {
        if (!is_wanted(options.patterns, entry)) continue;
        const report::Facts facts = report::facts_of(entry);
        page.add(facts, entry.name);
        sizes.push_back({facts.bytes, entry.index});
    }
    const std::vector<Place> chosen = largest(sizes, options.limit);
    std::uint64_t total = 0;
    for (const auto& [bytes, index] : chosen) total += bytes;
    Meter meter("reporting", total);
    for (const auto& [bytes, index] : chosen) {
        Entry one;
        input.go_to(index);
        (void)input.next(one);
        look_at(one, report::facts_of(one), options.sample, meter, page);
    }
    // A layout that only small tensors have is to be seen, too.
    if (chosen.size() < sizes.size()) {
        input.rewind();
        while (input.next(entry)) {
            if (!is_wanted(options.patterns, entry)) continue;
            const report::Facts facts = report::facts_of(entry);
            if (page.wants_order(facts) && entry.item().tensor) page.add_order(facts, entry.item().tensor);
        }
    }
    return page.finish();
}

// Streams come once: what is looked at closely are the first tensors.
std::string stream_page(Input& input, const Options& options) {
    report::Page page(input, options.limit, true, !options.patterns.empty());
    Meter meter("reporting", 0);
    std::uint64_t looked_at = 0;
    Entry entry;
    while (input.next(entry)) {
        if (!is_wanted(options.patterns, entry)) continue;
        const report::Facts facts = report::facts_of(entry);
        page.add(facts, entry.label());
        if (looked_at < options.limit) {
            ++looked_at;
            look_at(entry, facts, options.sample, meter, page);
        } else if (page.wants_order(facts) && entry.item().tensor) {
            page.add_order(facts, entry.item().tensor);
        }
    }
    return page.finish();
}

// The page takes the place of a file, and of nothing else: a device or folder of that name stays.
void check_place(const std::string& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) {
        throw Failure(failed, path, "is there, and is no file").with_hint("-o - writes to standard output");
    }
}

void write_page(const std::string& path, std::string_view bytes) {
    AtomicOutput file(path);
    while (!bytes.empty()) {
        check_interrupt();
        const ssize_t count = ::write(file.fd(), bytes.data(), bytes.size());
        if (count < 0 && errno != EINTR) throw Failure(failed, path, std::strerror(errno));
        if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    file.commit();
}

int run(const Options& options) {
    // Before all the work.
    if (options.output != "-") check_place(options.output);
    Input input = Input::open(options.path, options.input);
    if (input.kind() == InputKind::descriptor) {
        throw Failure(usage, input.path(), "is a descriptor alone").with_hint("hurray inspect shows it");
    }
    const std::string page = input.is_file() ? file_page(input, options) : stream_page(input, options);
    if (options.output == "-") {
        standard_output().write(page);
        standard_output().flush();
    } else {
        write_page(options.output, page);
    }
    return good;
}

}  // namespace

void add_report(CLI::App& app, Request& request) {
    const auto options = std::make_shared<Options>();
    CLI::App& command = *app.add_subcommand(
        "report", "Make one HTML page about a file: bytes, histograms, memory order, quantization error");
    command.add_option("INPUT", options->path, "File or stream; - for standard input")->required();
    command.add_option("-o,--output", options->output, "The page; - for standard output")->required();
    command.add_option("--tensors", options->patterns,
                       "Only tensors of these names; * and ? stand for anything, #3 for the fourth");
    command
        .add_option("--limit", options->limit,
                    "How many tensors are looked at closely: the largest, of streams the first")
        ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1'000'000}))
        ->capture_default_str();
    command
        .add_option("--sample", options->sample,
                    "Elements of a tensor that histograms and quantization errors are made of, at most")
        ->check(CLI::Range(std::uint64_t{1024}, std::uint64_t{1} << 26))
        ->capture_default_str();
    add_input_options(command, options->input);
    add_examples(
        command,
        {{"hurray report model.safetensors -o model.html", "everything about the largest 100 tensors"},
         {"hurray report model.gguf -o q.html --tensors '*attn_q*'", "some tensors only"},
         {"hurray report model.hrry -o - --limit 0 > overview.html", "no histograms, only where the bytes are"}});
    command.callback([options, &request] { request.run = [options] { return run(*options); }; });
}

}  // namespace cli

// doctor: which library was found, what it chose, what else is on this machine, and whether it works.
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "../shared/exit.hpp"
#include "../shared/json_writer.hpp"
#include "../shared/output.hpp"
#include "../shared/processor.hpp"
#include "../shared/self_test.hpp"
#include "../shared/subprocess.hpp"
#include "../shared/terminal.hpp"
#include "../shared/text.hpp"
#include "../version.hpp"
#include "commands.hpp"

namespace cli {
namespace {

struct Options {
    bool json = false;
};

struct Tool {
    const char* what;
    std::vector<std::string> command;
};

struct Found {
    std::string what;
    /// Empty where it was not found.
    std::string version;
};

// What prints a program's version.
const std::vector<Tool>& toolchains() {
    static const std::vector<Tool> tools = {
        {"C++ (g++)", {"g++", "--version"}},      {"clang", {"clang-19", "--version"}}, {"Java", {"javac", "--version"}},
        {"Go", {"go", "version"}},                {".NET", {"dotnet", "--version"}},    {"Zig", {"zig", "version"}},
        {"Python", {"python3", "--version"}},     {"Bazel", {"bazel", "--version"}},
    };
    return tools;
}

const std::vector<Tool>& bindings() {
    static const std::vector<Tool> packages = {
        {"Python (hurray)",
         {"python3", "-c", "import hurray; print(getattr(hurray, '__version__', 'a version that it does not tell'))"}},
        {"C (pkg-config hurray)", {"pkg-config", "--modversion", "hurray"}},
        {"Go (hurray.dev/go/hurray)", {"go", "list", "-m", "-f", "{{.Path}} {{.Version}}", "hurray.dev/go/hurray"}},
    };
    return packages;
}

std::vector<Found> look_for(const std::vector<Tool>& tools) {
    std::vector<Found> found;
    for (const Tool& tool : tools) {
        const auto text = output_of(tool.command);
        found.push_back({tool.what, text ? printable(first_line(*text)) : ""});
    }
    return found;
}

struct Diagnosis {
    HurrayRuntimeInfo library{};
    std::string path;
    Kernels kernels;
    std::vector<Found> toolchains;
    std::vector<Found> bindings;
    std::vector<SelfTest> tests;

    bool healthy() const {
        return std::ranges::all_of(tests, [](const SelfTest& test) { return test.failure.empty(); });
    }
};

Diagnosis examine() {
    Diagnosis result;
    result.library = take(hurray::runtime_info(), "the library", failed);
    result.path = result.library.library_path;
    char real[PATH_MAX];
    if (::realpath(result.path.c_str(), real) != nullptr) result.path = real;
    result.kernels = kernels();
    result.toolchains = look_for(toolchains());
    result.bindings = look_for(bindings());
    result.tests = run_self_tests();
    return result;
}

void print_json(const Diagnosis& diagnosis) {
    JsonWriter json;
    json.begin_object().field("program_version", program_version).field("healthy", diagnosis.healthy());
    json.key("library").begin_object().field("path", diagnosis.path).field("version", diagnosis.library.version);
    json.field("c_abi_version", diagnosis.library.c_abi_version).field("program_c_abi_version", HURRAY_C_ABI_VERSION);
    json.field("build_id", diagnosis.library.build_id).field("handle_checks", diagnosis.library.handle_checks != 0).end_object();
    json.key("kernels").begin_object().field("chosen", diagnosis.kernels.chosen).key("sets").begin_array();
    for (const VectorSet& set : diagnosis.kernels.sets) {
        json.begin_object().field("name", set.name).field("needs", set.needs).field("there", set.there).end_object();
    }
    json.end_array().end_object();
    const auto list = [&](const char* name, const std::vector<Found>& all) {
        json.key(name).begin_array();
        for (const Found& each : all) {
            json.begin_object().field("name", each.what).key("version");
            if (each.version.empty()) json.null();
            else json.text(each.version);
            json.end_object();
        }
        json.end_array();
    };
    list("toolchains", diagnosis.toolchains);
    list("bindings", diagnosis.bindings);
    json.key("self_test").begin_array();
    for (const SelfTest& test : diagnosis.tests) {
        json.begin_object().field("name", test.name).field("passed", test.failure.empty()).key("failure");
        if (test.failure.empty()) json.null();
        else json.text(test.failure);
        json.end_object();
    }
    json.end_array().end_object().finish();
}

void row(const std::string& name, const std::string& value) { print("  {:<26} {}\n", name, value); }
void heading(const char* text) { print("{}\n", coloured(Colour::bold, text)); }

void print_text(const Diagnosis& diagnosis) {
    heading("Library");
    row("path", printable(diagnosis.path));
    row("version", diagnosis.library.version);
    row("C ABI", fmt::format("{} (this program was built for {})", diagnosis.library.c_abi_version, HURRAY_C_ABI_VERSION));
    row("build", diagnosis.library.build_id);
    row("checks of handles", diagnosis.library.handle_checks != 0 ? "on" : "off");
    heading("Kernels");
    row("chosen", diagnosis.kernels.chosen);
    for (const VectorSet& set : diagnosis.kernels.sets) {
        row("  " + set.name, fmt::format("{}: needs {}", set.there ? "runs here" : "not here", set.needs));
    }
    const auto list = [&](const char* name, const std::vector<Found>& all) {
        heading(name);
        for (const Found& each : all) {
            row(each.what, each.version.empty() ? coloured(Colour::dim, "not found") : each.version);
        }
    };
    list("Toolchains", diagnosis.toolchains);
    list("Bindings", diagnosis.bindings);
    heading("Self-test");
    for (const SelfTest& test : diagnosis.tests) {
        row(test.name, test.failure.empty() ? coloured(Colour::green, "pass") : coloured(Colour::red, "FAIL") + " " + test.failure);
    }
}

int run(const Options& options) {
    const Diagnosis diagnosis = examine();
    if (options.json) print_json(diagnosis);
    else print_text(diagnosis);
    return diagnosis.healthy() ? good : finding;
}

}  // namespace

void add_doctor(CLI::App& app, Request& request) {
    const auto options = std::make_shared<Options>();
    CLI::App& command = *app.add_subcommand("doctor", "Say which library is used and whether it works, and what else is here");
    command.add_flag("--json", options->json, "Print JSON");
    add_examples(command, {{"hurray doctor", "library, kernels, toolchains, bindings, self-test; exit code 1 when a test fails"},
                           {"hurray doctor --json", "for a report of a problem"}});
    command.callback([options, &request] {
        request.json = options->json;
        request.run = [options] { return run(*options); };
    });
}

}  // namespace cli

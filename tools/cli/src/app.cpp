#include "app.hpp"

#include "commands/commands.hpp"
#include "help_formatter.hpp"
#include "version.hpp"

namespace cli {
namespace {

constexpr const char* about =
    "Looks into files and streams of tensors, checks them, and turns one format into another.\n"
    "\n"
    "Inputs are model files (.hrry, safetensors, GGUF, .npy, .npz), Hurray streams and single\n"
    "descriptors (.bin); what one is, is seen from its content. \"-\" is standard input.";

constexpr const char* closing =
    "Exit codes: 0 good; 1 a finding (verify, diff); 2 wrong usage; 3 input that is no supported\n"
    "format or cannot be read as it; 4 the work could not be done; 130 interrupted.\n"
    "\n"
    "Environment: NO_COLOR, when set, switches colours off.\n"
    "\n"
    "Every command has --help with examples: hurray convert --help";

}  // namespace

void add_input_options(CLI::App& command, InputOptions& options) {
    command.add_option("--as", options.as, "What the input is, where its content does not tell: auto, file, stream or descriptor")
        ->type_name("KIND")
        ->check(CLI::IsMember({"auto", "file", "stream", "descriptor"}))
        ->capture_default_str();
    command.add_flag("--private-tags", options.private_tags, "Accept private layouts, schemes and devices");
    command.add_flag("--no-map", options.no_map, "Read a file instead of mapping it: for network file systems");
    command.add_option("--blocks", options.blocks,
                       "Quantized blocks of GGUF that no scheme of Hurray says: raw, float32 or float16. what needs "
                       "numbers (cat, stats, diff --values-only, convert --dequantize) takes float32 unless told otherwise")
        ->type_name("WAY")
        ->check(CLI::IsMember({"raw", "float32", "float16"}));
    command.add_flag("--permissive", options.permissive, "Accept types, layouts and schemes that are not known");
}

void add_examples(CLI::App& command, const std::vector<std::pair<std::string, std::string>>& examples) {
    std::string text = "Examples:\n";
    for (const auto& [line, meaning] : examples) text += "  " + line + "\n      " + meaning + "\n";
    text.pop_back();
    command.footer(text);
}

std::unique_ptr<CLI::App> make_app(Request& request) {
    auto app = std::make_unique<CLI::App>(about, "hurray");
    app->footer(closing);
    app->set_version_flag("--version", std::string("hurray ") + program_version, "Print the program's version and exit");
    app->require_subcommand(1);
    app->formatter(std::make_shared<HelpFormatter>());
    add_ls(*app, request);
    add_inspect(*app, request);
    add_cat(*app, request);
    add_stats(*app, request);
    add_verify(*app, request);
    add_convert(*app, request);
    add_diff(*app, request);
    add_report(*app, request);
    add_doctor(*app, request);
    add_completion(*app, request);
    add_man(*app, request);
    return app;
}

}  // namespace cli

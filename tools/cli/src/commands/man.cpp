// man: the manual page in roff, from the program's own definitions.
#include <fmt/format.h>

#include "../help_formatter.hpp"
#include "../shared/output.hpp"
#include "../shared/text.hpp"
#include "../version.hpp"
#include "commands.hpp"

namespace cli {
namespace {

// Text as roff takes it: no line starts with a dot or quote, backslashes and minus signs are escaped.
std::string roff(std::string_view text) {
    std::string result;
    bool line_start = true;
    for (const char c : text) {
        if (line_start && (c == '.' || c == '\'')) result += "\\&";
        line_start = c == '\n';
        if (c == '\\') result += "\\e";
        else if (c == '-') result += "\\-";
        else result += c;
    }
    return result;
}

void option(std::string& page, const CLI::Option& option) {
    page += ".TP\n";
    if (option.get_positional()) {
        page += "\\fI" + roff(option.get_name(true)) + "\\fR\n";
    } else {
        std::string names;
        for (const std::string& name : option.get_snames()) names += (names.empty() ? "" : ", ") + ("\\fB\\-" + roff(name)) + "\\fR";
        for (const std::string& name : option.get_lnames()) names += (names.empty() ? "" : ", ") + ("\\fB\\-\\-" + roff(name)) + "\\fR";
        const std::string value = value_name(option);
        if (!value.empty()) names += " \\fI" + roff(value) + "\\fR";
        page += names + "\n";
    }
    page += roff(full_description(option)) + "\n";
}

// A footer: paragraphs; indented lines as they are.
void footer(std::string& page, const std::string& text) {
    bool literal = false;
    for (const std::string& line : split(text, '\n')) {
        const bool indented = line.starts_with("  ");
        if (indented != literal) page += indented ? ".nf\n" : ".fi\n";
        literal = indented;
        if (line.empty()) page += ".PP\n";
        else page += roff(line) + "\n";
    }
    if (literal) page += ".fi\n";
}

void paragraphs(std::string& page, const std::string& text) {
    for (const std::string& line : split(text, '\n')) page += line.empty() ? ".PP\n" : roff(line) + "\n";
}

std::string usage_of(const CLI::App& command) {
    std::string text = "\\fBhurray " + command.get_name() + "\\fR [\\fIoptions\\fR]";
    for (const CLI::Option* option : command.get_options()) {
        if (!option->get_positional()) continue;
        const std::string dots = option->get_items_expected_max() > 1 ? "..." : "";
        text += option->get_required() ? " \\fI" + option->get_name(true) + "\\fR" + dots
                                       : " [\\fI" + option->get_name(true) + "\\fR" + dots + "]";
    }
    return text;
}

std::string manual(const CLI::App& app) {
    // No date: the page says what the program is, not when it was built.
    std::string page = fmt::format(".\\\" Written by: hurray man\n.TH HURRAY 1 \"\" \"hurray {}\" \"User Commands\"\n", program_version);
    page += ".SH NAME\nhurray \\- files and streams of tensors on the command line\n.SH SYNOPSIS\n";
    const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
    for (const CLI::App* command : commands) page += usage_of(*command) + "\n.br\n";
    page += ".SH DESCRIPTION\n";
    paragraphs(page, app.get_description());
    page += ".SH OPTIONS\n";
    for (const CLI::Option* each : app.get_options()) option(page, *each);
    page += ".SH COMMANDS\n";
    for (const CLI::App* command : commands) {
        page += ".SS " + command->get_name() + "\n";
        for (const std::string& alias : command->get_aliases()) page += "(also \\fB" + alias + "\\fR)\n";
        page += roff(command->get_description()) + ".\n";
        for (const CLI::Option* each : command->get_options()) {
            if (each->get_name() != "--help" && each->get_name() != "-h") option(page, *each);
        }
        if (!command->get_footer().empty()) page += ".PP\n";
        footer(page, command->get_footer());
    }
    page += ".SH NOTES\n";
    footer(page, app.get_footer());
    return page;
}

}  // namespace

void add_man(CLI::App& app, Request& request) {
    CLI::App& command = *app.add_subcommand("man", "Print the manual page");
    add_examples(command, {{"hurray man | man -l -", "read it"}, {"hurray man > hurray.1", "install it"}});
    command.callback([&app, &request] {
        const std::string page = manual(app);
        request.run = [page] {
            standard_output().write(page);
            return 0;
        };
    });
}

}  // namespace cli

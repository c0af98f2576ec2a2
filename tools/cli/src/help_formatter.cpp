#include "help_formatter.hpp"

namespace cli {
namespace {

constexpr std::size_t left = 26;
constexpr std::size_t total = 100;

}  // namespace

HelpFormatter::HelpFormatter() { column_width(left); }

std::string wrapped(const std::string& text, std::size_t width) {
    std::string result;
    std::size_t line = 0;
    std::size_t at = 0;
    while (at < text.size()) {
        std::size_t end = text.find(' ', at);
        if (end == std::string::npos) end = text.size();
        const std::size_t length = end - at;
        if (line != 0 && line + 1 + length > width) {
            result += '\n';
            line = 0;
        } else if (line != 0) {
            result += ' ';
            ++line;
        }
        result.append(text, at, length);
        line += length;
        at = end + 1;
    }
    return result;
}

std::string value_name(const CLI::Option& option) {
    if (option.get_type_size() == 0) return "";
    // Validators put the allowed values behind a colon; the descriptions name them.
    const std::string name = option.get_type_name();
    return name.substr(0, name.find(':'));
}

std::string full_description(const CLI::Option& option) {
    std::string text = option.get_description();
    if (!option.get_default_str().empty()) text += " (default " + option.get_default_str() + ")";
    return text;
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
    return "\n" + CLI::Formatter::make_usage(app, std::move(name));
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
    if (option->get_positional()) return "";
    const std::string name = value_name(*option);
    return name.empty() ? "" : " " + name;
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
    return wrapped(full_description(*option), total - left);
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
    std::stringstream out;
    CLI::detail::format_help(out, command->get_name(), wrapped(command->get_description(), total - left), left);
    return out.str();
}

}  // namespace cli

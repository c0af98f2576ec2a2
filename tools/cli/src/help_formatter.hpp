// The form of --help: lines that fit a terminal of 100 columns, options with their values' names.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string>

namespace cli {

class HelpFormatter : public CLI::Formatter {
  public:
    HelpFormatter();
    std::string make_usage(const CLI::App* app, std::string name) const override;
    std::string make_option_opts(const CLI::Option* option) const override;
    std::string make_option_desc(const CLI::Option* option) const override;
    std::string make_subcommand(const CLI::App* command) const override;
};

/// "FORMAT": what stands for an option's value; empty for flags.
std::string value_name(const CLI::Option& option);
/// The description, with the default where there is one.
std::string full_description(const CLI::Option& option);
/// Lines of at most `width` characters, broken at spaces.
std::string wrapped(const std::string& text, std::size_t width);

}  // namespace cli

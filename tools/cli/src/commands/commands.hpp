// The commands, one file each. A function here defines a command's options and what runs when it is named.
#pragma once

#include <string>
#include <vector>

#include "../app.hpp"
#include "../shared/input.hpp"

namespace cli {

void add_ls(CLI::App& app, Request& request);
void add_inspect(CLI::App& app, Request& request);
void add_cat(CLI::App& app, Request& request);
void add_stats(CLI::App& app, Request& request);
void add_verify(CLI::App& app, Request& request);
void add_convert(CLI::App& app, Request& request);
void add_diff(CLI::App& app, Request& request);
void add_report(CLI::App& app, Request& request);
void add_doctor(CLI::App& app, Request& request);
void add_completion(CLI::App& app, Request& request);
void add_man(CLI::App& app, Request& request);

/// --as, --private-tags, --permissive and --no-map.
void add_input_options(CLI::App& command, InputOptions& options);
/// Paragraphs behind a command's options: the examples.
void add_examples(CLI::App& command, const std::vector<std::pair<std::string, std::string>>& examples);

}  // namespace cli

// The program's definitions: all of --help, the man page and the completions come from them.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>
#include <memory>

namespace cli {

/// What the command line asks for: set by the command that it names.
struct Request {
    std::function<int()> run;
    /// Errors are printed as JSON, too: {"error": ...}.
    bool json = false;
};

/// The program with all its commands; `request` is filled when a command line is parsed, and outlives the app.
std::unique_ptr<CLI::App> make_app(Request& request);

}  // namespace cli

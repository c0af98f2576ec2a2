// hurray: files and streams of tensors on the command line.
#include <CLI/Error.hpp>
#include <csignal>
#include <exception>

#include "app.hpp"
#include "shared/descriptor_json.hpp"
#include "shared/exit.hpp"
#include "shared/interrupt.hpp"
#include "shared/output.hpp"

namespace {

int report(const cli::Failure& failure, bool json) {
    if (json && failure.error() && failure.code() == cli::unreadable) {
        // What was printed of a result that did not come to its end is not JSON.
        cli::standard_output().drop();
        cli::JsonWriter writer;
        cli::write_error(writer, *failure.error());
        writer.finish();
        cli::standard_output().flush();
    }
    cli::complain(failure.what());
    if (!failure.hint().empty()) cli::remark("  " + failure.hint());
    return failure.code();
}

int run(int argc, char** argv) {
    cli::Request request;
    try {
        const auto app = cli::make_app(request);
        try {
            app->parse(argc, argv);
        } catch (const CLI::CallForHelp&) {
            // Of the command, where one is named.
            cli::standard_output().write(app->help());
            cli::standard_output().flush();
            return cli::good;
        } catch (const CLI::CallForVersion& version) {
            cli::print("{}\n", version.what());
            cli::standard_output().flush();
            return cli::good;
        } catch (const CLI::ParseError& error) {
            cli::complain(error.what());
            const auto chosen = app->get_subcommands();
            cli::remark(fmt::format("  hurray {}{}--help says more", chosen.empty() ? "" : chosen.front()->get_name(),
                                    chosen.empty() ? "" : " "));
            return cli::usage;
        }
        if (auto version = hurray::check_version(); !version) {
            cli::complain(version.error().message());
            return cli::failed;
        }
        const int code = request.run();
        cli::standard_output().flush();
        return code;
    } catch (const cli::Failure& failure) {
        return report(failure, request.json);
    } catch (const std::bad_alloc&) {
        cli::complain("out of memory");
        return cli::failed;
    }
}

}  // namespace

int main(int argc, char** argv) {
    cli::catch_interrupts();
    try {
        return run(argc, argv);
    } catch (const cli::ClosedPipe&) {
        // All that was opened is closed. The end is the one that a program without a handler has.
        std::signal(SIGPIPE, SIG_DFL);
        std::raise(SIGPIPE);
    } catch (const std::exception& error) {
        cli::complain(error.what());
    }
    return cli::failed;
}

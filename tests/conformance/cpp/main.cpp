// Conformance driver of the C API; see tests/conformance/README.md.
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <string_view>

#include "commands.hpp"

namespace {

int usage() {
    std::fputs(
        "usage: driver about\n"
        "       driver golden                      paths on standard input\n"
        "       driver relay NAMES REPORT          stream on standard input and output\n"
        "       driver source MODEL NAMES REPORT   stream on standard output\n"
        "       driver sink NAMES REPORT MODEL     stream on standard input\n"
        "       driver compare MODEL MODEL\n"
        "       driver make-model MODEL\n",
        stderr);
    return 2;
}

}  // namespace

int main(int count, char** arguments) {
    const std::span args(arguments + 1, static_cast<std::size_t>(count - 1));
    const std::string_view command = args.empty() ? "" : args[0];
    try {
        if (command == "about" && args.size() == 1) return driver::about();
        if (command == "golden" && args.size() == 1) return driver::golden();
        if (command == "relay" && args.size() == 3) return driver::relay(args[1], args[2]);
        if (command == "source" && args.size() == 4) return driver::source(args[1], args[2], args[3]);
        if (command == "sink" && args.size() == 4) return driver::sink(args[1], args[2], args[3]);
        if (command == "compare" && args.size() == 3) return driver::compare(args[1], args[2]);
        if (command == "make-model" && args.size() == 2) return driver::make_model(args[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "driver: %s\n", error.what());
        return 1;
    }
    return usage();
}

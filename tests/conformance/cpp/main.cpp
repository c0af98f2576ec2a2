// Conformance driver of the C API; see tests/conformance/README.md.
#include <charconv>
#include <cstdint>
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
        "       driver pass NAMES                  pairs of ends on standard input\n"
        "       driver source MODEL NAMES REPORT   stream on standard output\n"
        "       driver sink NAMES REPORT MODEL     stream on standard input\n"
        "       driver compare MODEL MODEL\n"
        "       driver make-model MODEL\n"
        "relay, source and sink take --channel-in FD and --channel-out FD at their end: a channel over that socket instead of\n"
        "standard input or output.\n",
        stderr);
    return 2;
}

// Takes the options off the end of the arguments; false when they are not understood.
bool take_transport(std::span<char*>& args, driver::Transport& transport) {
    while (args.size() >= 2) {
        const std::string_view option = args[args.size() - 2];
        if (option != "--channel-in" && option != "--channel-out") return true;
        const std::string_view text = args[args.size() - 1];
        std::int32_t fd = -1;
        const auto parsed = std::from_chars(text.data(), text.data() + text.size(), fd);
        if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || fd < 0) return false;
        (option == "--channel-in" ? transport.channel_in : transport.channel_out) = fd;
        args = args.first(args.size() - 2);
    }
    return true;
}

}  // namespace

int main(int count, char** arguments) {
    std::span args(arguments + 1, static_cast<std::size_t>(count - 1));
    driver::Transport transport;
    if (!take_transport(args, transport)) return usage();
    const std::string_view command = args.empty() ? "" : args[0];
    try {
        if (command == "about" && args.size() == 1) return driver::about();
        if (command == "golden" && args.size() == 1) return driver::golden();
        if (command == "relay" && args.size() == 3) return driver::relay(args[1], args[2], transport);
        if (command == "pass" && args.size() == 2) return driver::pass(args[1]);
        if (command == "source" && args.size() == 4) return driver::source(args[1], args[2], args[3], transport);
        if (command == "sink" && args.size() == 4) return driver::sink(args[1], args[2], args[3], transport);
        if (command == "compare" && args.size() == 3) return driver::compare(args[1], args[2]);
        if (command == "make-model" && args.size() == 2) return driver::make_model(args[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "driver: %s\n", error.what());
        return 1;
    }
    return usage();
}

#include "terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace cli {
namespace {

std::size_t width_of(int fd) {
    if (::isatty(fd) == 0) return 0;
    winsize size{};
    if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

const char* code_of(Colour colour) {
    switch (colour) {
        case Colour::dim: return "2";
        case Colour::bold: return "1";
        case Colour::red: return "31";
        case Colour::green: return "32";
        case Colour::yellow: return "33";
        case Colour::cyan: return "36";
        case Colour::none: break;
    }
    return nullptr;
}

}  // namespace

bool output_is_terminal() { return ::isatty(STDOUT_FILENO) != 0; }
bool error_is_terminal() { return ::isatty(STDERR_FILENO) != 0; }
std::size_t output_width() { return width_of(STDOUT_FILENO); }
std::size_t error_width() { return width_of(STDERR_FILENO); }

bool colours() {
    static const bool on = [] {
        // no-color.org: set and not empty.
        const char* no_color = std::getenv("NO_COLOR");
        if (no_color != nullptr && *no_color != '\0') return false;
        const char* term = std::getenv("TERM");
        if (term == nullptr || std::string_view(term) == "dumb") return false;
        return output_is_terminal();
    }();
    return on;
}

std::string coloured(Colour colour, std::string_view text) {
    const char* code = code_of(colour);
    if (code == nullptr || text.empty() || !colours()) return std::string(text);
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace cli

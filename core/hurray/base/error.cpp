#include "core/hurray/base/error.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "core/hurray/base/utf8.hpp"

namespace hurray {
namespace {

// Removes the bytes of a character that the cut left incomplete.
void trim_to_utf8_boundary(char* text, std::size_t length) {
    std::size_t start = length;
    while (start > 0 && length - start < 4 && (static_cast<unsigned char>(text[start - 1]) & 0xC0) == 0x80) --start;
    if (start == 0) return;
    const auto lead = static_cast<unsigned char>(text[start - 1]);
    const std::size_t have = length - start + 1;
    const std::size_t need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (have < need) text[start - 1] = '\0';
}

// Text of other people's stands in messages: what is no UTF-8 becomes a question mark.
void replace_invalid_utf8(char* text) {
    for (std::string_view rest(text); !rest.empty();) {
        std::size_t length = utf8_character_length(rest);
        if (length == 0) {
            text[0] = '?';
            length = 1;
        }
        text += length;
        rest.remove_prefix(length);
    }
}

void format_message(Error& error, const char* format, std::va_list arguments) {
    const int written = std::vsnprintf(error.message, sizeof error.message, format, arguments);
    if (written >= static_cast<int>(sizeof error.message)) {
        trim_to_utf8_boundary(error.message, sizeof error.message - 1);
    }
    replace_invalid_utf8(error.message);
}

}  // namespace

Error make_error(Status code, std::uint64_t offset, const char* format, ...) {
    Error error{code, offset, {}};
    std::va_list arguments;
    va_start(arguments, format);
    format_message(error, format, arguments);
    va_end(arguments);
    return error;
}

std::unexpected<Error> fail(Status code, std::uint64_t offset, const char* format, ...) {
    Error error{code, offset, {}};
    std::va_list arguments;
    va_start(arguments, format);
    format_message(error, format, arguments);
    va_end(arguments);
    return std::unexpected(error);
}

}  // namespace hurray

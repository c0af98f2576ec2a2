#include "html.hpp"

#include <fmt/format.h>

#include <cmath>

#include "../shared/sha256.hpp"
#include "../shared/text.hpp"

namespace cli::report {
namespace {

// U+FFFE and U+FFFF are UTF-8, but no XML may hold them.
std::string without_noncharacters(std::string text) {
    for (const auto& [character, words] :
         {std::pair{"\xEF\xBF\xBE", "\\xef\\xbf\\xbe"}, {"\xEF\xBF\xBF", "\\xef\\xbf\\xbf"}}) {
        for (std::size_t at = text.find(character); at != std::string::npos; at = text.find(character, at)) {
            text.replace(at, 3, words);
        }
    }
    return text;
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string result;
    result.reserve(text.size() + text.size() / 8);
    for (const char c : text) {
        switch (c) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            case '\'':
                result += "&#39;";
                break;
            default:
                result += c;
        }
    }
    return result;
}

std::string shown(std::string_view text, std::size_t columns) {
    if (text.empty()) return "(empty)";
    // No more of a long text is looked at than can be shown: a character takes 4 bytes at most.
    return escaped(shortened(without_noncharacters(printable(text.substr(0, 4 * columns + 4))), columns));
}

std::string shown_printable(std::string_view text, std::size_t columns) {
    return escaped(shortened(without_noncharacters(std::string(text.substr(0, 4 * columns + 4))), columns));
}

std::string grouped(std::uint64_t number) {
    const std::string digits = fmt::format("{}", number);
    std::string result;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i != 0 && (digits.size() - i) % 3 == 0) result += ',';
        result += digits[i];
    }
    return result;
}

std::string exact(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return fmt::format("{}", value);
}

std::string place(double value) {
    std::string text = fmt::format("{:.2f}", value);
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text == "-0" ? "0" : text;
}

std::string policy_hash(std::string_view text) {
    constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::string digits = sha256(as_bytes(text));
    const auto nibble = [](char c) { return static_cast<std::uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10); };
    std::string result;
    std::uint32_t bits = 0;
    int held = 0;
    for (const char c : digits) {
        bits = bits << 4 | nibble(c);
        held += 4;
        if (held < 6) continue;
        held -= 6;
        result += alphabet[bits >> held & 63];
    }
    if (held != 0) result += alphabet[bits << (6 - held) & 63];
    while (result.size() % 4 != 0) result += '=';
    return result;
}

}  // namespace cli::report

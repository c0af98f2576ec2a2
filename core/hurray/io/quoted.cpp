#include "core/hurray/io/quoted.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/hurray/base/utf8.hpp"

namespace hurray {

Quoted::Quoted(std::string_view text, std::size_t limit) noexcept {
    constexpr char digits[] = "0123456789abcdef";
    constexpr std::size_t frame = 6;  // two quotation marks, the dots, the terminator
    limit = std::min(limit, capacity - frame);
    std::size_t length = 0;
    text_[length++] = '"';
    std::size_t used = 0;
    while (!text.empty()) {
        char piece[4];
        std::size_t piece_length = 0;
        std::size_t taken = utf8_character_length(text);
        const auto lead = static_cast<std::uint8_t>(text[0]);
        if (taken == 0 || lead < 0x20 || lead == 0x7F) {
            taken = 1;
            piece[0] = '\\';
            piece[1] = 'x';
            piece[2] = digits[lead >> 4];
            piece[3] = digits[lead & 15];
            piece_length = 4;
        } else {
            if (lead == '"' || lead == '\\') piece[piece_length++] = '\\';
            std::memcpy(piece + piece_length, text.data(), taken);
            piece_length += taken;
        }
        if (used + piece_length > limit) break;
        std::memcpy(text_ + length, piece, piece_length);
        length += piece_length;
        used += piece_length;
        text.remove_prefix(taken);
    }
    if (!text.empty()) {
        std::memcpy(text_ + length, "...", 3);
        length += 3;
    }
    text_[length++] = '"';
    text_[length] = '\0';
}

}  // namespace hurray

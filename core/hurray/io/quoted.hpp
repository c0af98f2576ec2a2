// Names from files in error messages: quoted, with control characters escaped, cut to a bounded length.
#pragma once

#include <cstddef>
#include <string_view>

namespace hurray {

/// A quoted, printable form of any bytes. Never allocates. Bytes below 0x20, 0x7F and bytes that are not valid UTF-8
/// become \xNN, a quotation mark and a backslash get a backslash; what is cut off shows as "...".
class Quoted {
public:
    static constexpr std::size_t capacity = 160;

    /// `limit`: how many characters of text to show at most, the quotation marks not counted.
    explicit Quoted(std::string_view text, std::size_t limit = 48) noexcept;

    [[nodiscard]] const char* c_str() const noexcept { return text_; }

private:
    char text_[capacity] = {};
};

}  // namespace hurray

// Validation of UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace hurray {

/// Bytes of the character that `text` starts with, or 0 if it starts with no valid one (or is empty).
[[nodiscard]] std::size_t utf8_character_length(std::string_view text) noexcept;

/// Offset of the first byte that does not begin a valid character; nothing when all of `text` is valid.
[[nodiscard]] std::optional<std::size_t> find_invalid_utf8(std::string_view text) noexcept;

}  // namespace hurray

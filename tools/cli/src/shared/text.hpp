// Small texts: sizes, shapes, hex digits, and names that come from strangers.
#pragma once

#include <cstdint>
#include <hurray.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// A name without anything that a terminal would act upon: control characters, and bytes that are no UTF-8, become \x1b and
/// the like, a backslash becomes two.
std::string printable(std::string_view name);
/// The characters that a UTF-8 text takes on a terminal, about: code points.
std::size_t columns_of(std::string_view text);
/// At most `columns` characters, with an ellipsis where some are left out.
std::string shortened(std::string_view text, std::size_t columns);

/// "1.5 MiB".
std::string size_text(std::uint64_t bytes);
/// "[2, 3]"; a dynamic dimension is "?".
std::string shape_text(std::span<const std::uint64_t> shape);
/// "1 tensor", "2 tensors".
std::string count_text(std::uint64_t count, std::string_view noun);
std::string hex(std::span<const std::uint8_t> bytes);
/// A number as people read it: short, and exact where it is an integer.
std::string number_text(double value);
/// Whether `name` fits a pattern with * and ? in it.
bool matches(std::string_view pattern, std::string_view name);
/// "0x03" or "3" as a number; fails on anything else.
bool parse_number(std::string_view text, std::uint64_t& value);
std::vector<std::string> split(std::string_view text, char separator);
std::string_view trimmed(std::string_view text);

inline std::span<const std::uint64_t> shape_of(const HurrayDescriptorInfo& info) { return {info.shape, info.rank}; }
inline std::span<const std::uint64_t> shape_of(const HurrayFileTensorInfo& info) { return {info.shape, info.rank}; }
inline std::span<const std::uint8_t> as_bytes(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace cli

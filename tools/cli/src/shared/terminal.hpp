// What standard output and error are: a terminal of some width, with colours or without.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cli {

bool output_is_terminal();
bool error_is_terminal();
/// Columns of the terminal; 0 where output is none and lines may be as long as they like.
std::size_t output_width();
std::size_t error_width();

enum class Colour { none, dim, bold, red, green, yellow, cyan };

/// The text in a colour where standard output is a terminal and neither NO_COLOR nor TERM=dumb says otherwise.
std::string coloured(Colour colour, std::string_view text);
/// Whether coloured() colours.
bool colours();

}  // namespace cli

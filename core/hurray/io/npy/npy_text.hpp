// The text of a .npy header.
#pragma once

#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/npy/npy_header.hpp"

namespace hurray {

/// Reads the dictionary `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }` into type, order and shape of
/// `header`: the three keys in any order, each once, single or double quotes, white space as Python allows it between
/// tokens; no escapes, comments, prefixes or other expressions. Integers are decimal; those of versions 1 and 2 may end in
/// L, as Python 2 wrote them. Nothing nests, so nothing recurses.
/// @param position of the text in the .npy file
/// @errors invalid_format, unsupported
Result<void> parse_npy_text(std::string_view text, std::uint64_t position, const NpyOrigin& origin, NpyHeader& header);

}  // namespace hurray

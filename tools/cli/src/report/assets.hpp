// The page's own style and script. Nothing of a file gets into them.
#pragma once

#include <string_view>

namespace cli::report {

extern const std::string_view style;
/// The page can be read without it: it zooms the treemap, sorts and filters the table, and opens what is linked to.
extern const std::string_view script;

}  // namespace cli::report

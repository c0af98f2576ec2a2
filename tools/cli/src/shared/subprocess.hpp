// What another program prints, for doctor.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cli {

/// Runs a program of PATH with nothing on standard input, for ten seconds at most. Its output (both streams), or nothing when there
/// is no such program, it fails, or takes too long.
std::optional<std::string> output_of(const std::vector<std::string>& command);
/// The first line that is not empty.
std::string first_line(const std::string& text);

}  // namespace cli

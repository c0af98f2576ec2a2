// A file's metadata: keys and typed values.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "input.hpp"
#include "json_writer.hpp"

namespace cli {

/// [{"key", "type", "value"}]; bytes are hex digits.
void write_metadata(JsonWriter& json, const Input& input);
/// ", 3 metadata entries"; empty where there are none.
std::string metadata_count_text(const Input& input);
/// Keys, and values as texts with their types where those are not strings.
std::vector<std::pair<std::string, std::string>> metadata_texts(const Input& input);
void print_metadata(const Input& input);

}  // namespace cli

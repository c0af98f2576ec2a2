// From the JSON of a safetensors header to its index.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/safetensors/safetensors_index.hpp"

namespace hurray {

/// Reads `header` (valid UTF-8 that starts with '{') into the entries, dimensions, metadata and text of `index`. Every
/// tensor is checked by itself: fields, dtype, shape, and a range that lies in the data section and has the size that
/// dtype and shape ask for. Byte offsets of errors count from the start of the file.
Result<void> parse_safetensors_header(std::string_view header, std::uint64_t data_size, SafetensorsIndex& index);

}  // namespace hurray

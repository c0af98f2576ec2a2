// Metadata values as they lie in a .hrry file. (format: file, KV section)
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/metadata.hpp"

namespace hurray::hrry {

/// An entry of the metadata section: key, tag and value.
/// @errors invalid_argument: a key that is empty or has more than 65,535 bytes, invalid UTF-8, a type that is none,
/// arrays
///     in arrays or of elements of another type, more than 2^32-1 bytes or elements
Result<std::vector<std::byte>> encode_metadata(std::string_view key, const MetadataValue& value);

}  // namespace hurray::hrry

// The JSON of a descriptor. (docs/cli.md: JSON)
#pragma once

#include <cstdint>
#include <hurray.hpp>

#include "json_writer.hpp"

namespace cli {

/// Every field of the descriptor as one object; `trailing_bytes`: how many bytes follow it in the input.
void write_descriptor(JsonWriter& json, hurray::DescriptorRef descriptor, std::uint64_t trailing_bytes);

/// {"error": {"code", "name", "message", "offset"}}
void write_error(JsonWriter& json, const hurray::Error& error);

}  // namespace cli

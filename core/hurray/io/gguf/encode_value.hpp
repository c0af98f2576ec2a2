// Metadata values as GGUF has them.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/base/error.hpp"
#include "core/hurray/io/metadata.hpp"

namespace hurray {

/// Appends the little-endian bytes of an unsigned integer.
template <std::unsigned_integral T>
inline void append_le(std::string& out, T value) {
    std::byte bytes[sizeof value];
    store_le(bytes, value);
    out.append(reinterpret_cast<const char*>(bytes), sizeof bytes);
}

/// Appends a string of GGUF: its length, then its bytes.
void append_gguf_string(std::string& out, std::string_view text);

/// The type and the value, in bytes. Numbers get the type of 32 bits where that holds them (all elements of an array)
/// exactly; the keys of split models, which ggml wants to be 16 bits wide, get that.
/// Errors: invalid_argument (invalid UTF-8; elements of another type than the array's), unsupported (bytes; arrays in
/// arrays).
Result<std::string> encode_gguf_value(std::string_view key, const MetadataValue& value);

}  // namespace hurray

// Names of formats: as options have them, and as file names end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cli {

/// Not one of the C API's formats: a stream has no file.
inline constexpr std::uint32_t stream_format = 0xFFFF'FFFF;

/// "safetensors"; "unknown" for a number that is none.
const char* format_name(std::uint32_t format);
/// The format of that name, or of a file name's ending; HURRAY_FORMAT_AUTO when there is none.
std::uint32_t format_named(std::string_view name);
std::uint32_t format_of_path(std::string_view path);

}  // namespace cli

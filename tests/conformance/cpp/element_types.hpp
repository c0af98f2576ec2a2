// Names of element types as the format's text writes them.
#pragma once

#include <cstdint>

namespace driver {

/// "float32" and so on; "unknown" for a tag without a name.
const char* type_name(std::uint8_t tag);

}  // namespace driver

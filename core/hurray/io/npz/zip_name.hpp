// Names of the members of archives.
#pragma once

#include <string_view>

namespace hurray::zip {

/// Why a name is not taken, for a message; null for one that is. Refused are the empty name, NUL (some readers stop
/// there), invalid UTF-8, absolute paths and drives, and the component "..": nothing is ever extracted here, but a
/// file that is written or passed on must not hurt those who do.
[[nodiscard]] const char* name_fault(std::string_view name) noexcept;

/// Whether the name is the same in every encoding.
[[nodiscard]] bool is_ascii(std::string_view name) noexcept;

}  // namespace hurray::zip

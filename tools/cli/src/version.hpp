// The program's own version; the build defines it.
#pragma once

namespace cli {

#ifndef HURRAY_CLI_VERSION
#error "the build defines HURRAY_CLI_VERSION"
#endif
inline constexpr const char* program_version = HURRAY_CLI_VERSION;

}  // namespace cli

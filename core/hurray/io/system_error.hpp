// The operating system's refusals as errors.
#pragma once

#include <cstdint>

#include "core/hurray/base/error.hpp"

namespace hurray {

/// An error for a failed system call: `action` says what was tried ("open", "read"), `number` is errno. ENOENT becomes
/// not_found, ENOMEM out_of_memory, everything else io; the message ends with the system's own words and the number.
Error system_error(const char* action, int number, std::uint64_t offset = Error::no_offset);

/// As above, naming the file.
Error system_error_at(const char* action, const char* path, int number);

}  // namespace hurray

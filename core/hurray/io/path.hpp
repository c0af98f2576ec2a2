// Paths as the operating system takes them.
#pragma once

#include <string>
#include <string_view>

#include "core/hurray/base/error.hpp"

namespace hurray {

/// A terminated copy of a path. Errors: invalid_argument (empty, or with a NUL: the system would see another path).
Result<std::string> terminated_path(std::string_view path);

/// "a directory", "a fifo", ...: what a mode of stat says that the file is (path_posix.cpp; not on Windows).
const char* file_kind(unsigned int mode) noexcept;

}  // namespace hurray

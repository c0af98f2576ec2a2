// Opening a regular file for reading (regular_file_posix.cpp).
#pragma once

#include <string>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/fd.hpp"

namespace hurray {

/// Errors: not_found, io, invalid_format (a directory, fifo, device or socket).
Result<FdHolder> open_regular_file(const std::string& name);

}  // namespace hurray

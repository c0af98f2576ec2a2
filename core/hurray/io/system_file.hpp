// What is asked of the operating system about a regular file (system_file_posix.cpp, system_file_windows.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/fd.hpp"

namespace hurray {

/// Opens a regular file for reading. Errors: not_found, io, invalid_format (a directory, fifo, device or socket).
Result<FdHolder> open_regular_file(const std::string& name);

/// Its length in bytes. `name` is for the error (io).
Result<std::uint64_t> regular_file_size(int fd, const std::string& name);

/// Reads at a place, as much as the system gives at once, whatever other reads go on; 0 at the end of the file. Error: io, which
/// names `where` as its offset.
Result<std::size_t> read_at(int fd, std::uint64_t offset, std::span<std::byte> into, std::uint64_t where);

/// Maps the first `size` bytes (at least one) so that nobody in this process can write to them. `name` is for the error (io,
/// out_of_memory).
Result<const std::byte*> map_for_reading(int fd, std::size_t size, const std::string& name);
void unmap(const std::byte* base, std::size_t size) noexcept;

}  // namespace hurray

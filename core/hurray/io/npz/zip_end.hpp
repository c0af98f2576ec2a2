// The end of an archive: where its central directory is.
#pragma once

#include <cstdint>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/file_bytes.hpp"

namespace hurray::zip {

struct End {
    std::uint64_t entries = 0;
    std::uint64_t directory_offset = 0;
    std::uint64_t directory_size = 0;
};

/// Reads the record at the end of the file, and that of ZIP64 where there is one. The last signature in the file is the
/// record's (a comment that holds it is refused, since readers differ in what they see then), the comment ends with the
/// file, and the directory ends where the records start. Archives in several parts are refused.
/// @errors invalid_format, unsupported; those of FileBytes
Result<End> read_end(const FileBytes& bytes);

}  // namespace hurray::zip

// What a file reader does with tensor data that does not start at a multiple of 64 bytes.
#pragma once

#include <cstdint>

namespace hurray {

enum class AlignmentPolicy : std::uint8_t {
    /// Hand it over in place: the base rounded down to 64 bytes, the difference in byte_offset. Nothing is copied.
    offset = 0,
    /// Copy it into aligned memory; the copied bytes are counted.
    copy = 1,
    /// Refuse it with Status::misaligned.
    require = 2,
};

}  // namespace hurray

// The outcome codes of the library. The C ABI publishes the same numbers (abi/src/internal/barrier.cpp checks it);
// a code never changes its meaning.
#pragma once

#include <cstdint>

namespace hurray {

enum class Status : std::int32_t {
    ok = 0,
    invalid_magic = -1,
    version_mismatch = -2,
    invalid_layout = -3,
    invalid_type = -4,
    buffer_too_small = -5,
    null_pointer = -6,
    internal_panic = -7,
    invalid_sync_mode = -8,
    sync_mode_mismatch = -9,
    internal = -10,
    index_out_of_bounds = -11,
    invalid_handle = -12,
    out_of_memory = -13,
    io = -14,
    unsupported = -15,
    cancelled = -16,
    forked = -17,
    invalid_argument = -18,
    invalid_quantization = -19,
    invalid_composite = -20,
    misaligned = -21,
    invalid_format = -22,
    not_found = -23,
    limit_exceeded = -24,
    timed_out = -25,
    disconnected = -26,
};

}  // namespace hurray

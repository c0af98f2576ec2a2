// Streams: what callers see of them. Public: becomes part of hurray/io.h.
#pragma once

#include <cstdint>

#include "abi/src/api/status.hpp"

/// Gives the next bytes of what is read: writes up to `capacity` of them to `into`, at least 1, and returns how many; 0 at
/// the end. A negative HURRAY_ERR_ code ends the reading call with that code. It must not throw, nor use the handle that is
/// reading. `capacity` is never 0.
/// @since 4
typedef int64_t (*HurrayReadFn)(void* context, void* into, uint64_t capacity);

/// Takes all `length` bytes, which are the next ones of what is written, and returns HURRAY_OK; a negative HURRAY_ERR_ code
/// ends the writing call with that code. It must not throw, nor use the handle that is writing, nor keep `bytes`. `length` is
/// never 0.
/// @since 4
typedef HurrayStatus (*HurrayWriteFn)(void* context, const void* bytes, uint64_t length);

/// @group HurrayStreamFlag Stream flags.
/// The reader or writer closes the file descriptor when it is destroyed.
constexpr uint32_t HURRAY_STREAM_CLOSE_FD = 1;
/// Readers: accept private layouts and quantization schemes, see HURRAY_DECODE_PRIVATE_TAGS.
constexpr uint32_t HURRAY_STREAM_PRIVATE_TAGS = 2;
/// Readers: accept element types and quantization schemes that are not known, see HURRAY_DECODE_PERMISSIVE. A layout that is
/// not known ends the stream with HURRAY_ERR_UNSUPPORTED: nobody knows where the next tensor starts.
constexpr uint32_t HURRAY_STREAM_PERMISSIVE = 4;
/// Readers: what is read is no stream but a .hrry file, from its start, in sequence: from a pipe or socket, which cannot be mapped.
/// Its tensors come in the order in which they were written; behind the last one the rest of the file is read, and the index
/// checked against what came. hurray_reader_name then gives their names. (format: file)
constexpr uint32_t HURRAY_STREAM_HRRY_FILE = 8;

/// Limits of a stream reader. All zero but struct_size: the defaults.
/// @since 4
struct HurrayStreamOptions {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// HURRAY_STREAM_ flags.
    uint32_t flags;
    /// Longest descriptor accepted, in bytes; 0 means 16 MiB.
    uint64_t max_descriptor_length;
    /// Largest tensor accepted, in bytes over all its buffers; 0 means no limit.
    uint64_t max_tensor_bytes;
    /// Largest alignment of a buffer accepted, in bytes: what a buffer asks for is what it gets; 0 means 2 MiB.
    uint32_t max_alignment;
    /// 0.
    uint32_t reserved;
};

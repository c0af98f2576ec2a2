// Status codes and the error report. Public: headergen turns this file into part of hurray/abi.h.
#pragma once

#include <cstdint>

/// Outcome of a call: HURRAY_OK, or one of the HURRAY_ERR_ codes. Codes never change their meaning; a caller treats
/// a code that it does not know as a failure of unknown kind.
/// @since 1
typedef int32_t HurrayStatus;

/// @group HurrayStatus Status codes.
/// The call succeeded.
constexpr HurrayStatus HURRAY_OK = 0;
/// The bytes do not start with the magic of a descriptor or file.
constexpr HurrayStatus HURRAY_ERR_INVALID_MAGIC = -1;
/// A version of the format or of the C ABI that this library or caller does not accept.
constexpr HurrayStatus HURRAY_ERR_VERSION_MISMATCH = -2;
/// The structure, layout, shape, alignment, shard or statistics of a descriptor is wrong, or it is truncated.
constexpr HurrayStatus HURRAY_ERR_INVALID_LAYOUT = -3;
/// An element type, device or memory class that does not exist or may not stand here.
constexpr HurrayStatus HURRAY_ERR_INVALID_TYPE = -4;
/// The caller's buffer, or a tensor's buffer, is smaller than what must go into it.
constexpr HurrayStatus HURRAY_ERR_BUFFER_TOO_SMALL = -5;
/// A required pointer is null.
constexpr HurrayStatus HURRAY_ERR_NULL_POINTER = -6;
/// An exception was caught at the boundary; nothing half-made is visible.
constexpr HurrayStatus HURRAY_ERR_INTERNAL_PANIC = -7;
/// A sync mode that the format does not define.
constexpr HurrayStatus HURRAY_ERR_INVALID_SYNC_MODE = -8;
/// The sync mode of a buffer handle and the payload of its handoff do not belong together.
constexpr HurrayStatus HURRAY_ERR_SYNC_MODE_MISMATCH = -9;
/// An invariant of the library is broken: a defect of the library.
constexpr HurrayStatus HURRAY_ERR_INTERNAL = -10;
/// An index is not below the length of what it indexes.
constexpr HurrayStatus HURRAY_ERR_INDEX_OUT_OF_BOUNDS = -11;
/// A handle that is destroyed, borrowed where an owned one is needed, of another kind, or not a handle at all.
constexpr HurrayStatus HURRAY_ERR_INVALID_HANDLE = -12;
/// Memory could not be allocated.
constexpr HurrayStatus HURRAY_ERR_OUT_OF_MEMORY = -13;
/// The operating system refused a read, write, open or map; the message carries its reason.
constexpr HurrayStatus HURRAY_ERR_IO = -14;
/// Legal, but not what this function or this build of the library can do.
constexpr HurrayStatus HURRAY_ERR_UNSUPPORTED = -15;
/// The caller's callback asked for the work to stop.
constexpr HurrayStatus HURRAY_ERR_CANCELLED = -16;
/// The process is a fork of the one that made the object, which cannot be used here.
constexpr HurrayStatus HURRAY_ERR_FORKED = -17;
/// An argument that is out of its range or contradicts another one.
constexpr HurrayStatus HURRAY_ERR_INVALID_ARGUMENT = -18;
/// A quantization section is wrong.
constexpr HurrayStatus HURRAY_ERR_INVALID_QUANTIZATION = -19;
/// A composite tensor is wrong or torn.
constexpr HurrayStatus HURRAY_ERR_INVALID_COMPOSITE = -20;
/// Data is not aligned as the caller or the descriptor demands.
constexpr HurrayStatus HURRAY_ERR_MISALIGNED = -21;
/// A file or stream breaks the rules of its own format.
constexpr HurrayStatus HURRAY_ERR_INVALID_FORMAT = -22;
/// There is no tensor, key or file of that name.
constexpr HurrayStatus HURRAY_ERR_NOT_FOUND = -23;
/// A configured limit would be exceeded.
constexpr HurrayStatus HURRAY_ERR_LIMIT_EXCEEDED = -24;
/// The time that the caller gave is over; what was asked for did not happen, and may be asked for again.
constexpr HurrayStatus HURRAY_ERR_TIMED_OUT = -25;
/// The process at the other end of a channel is gone, or has closed its end.
constexpr HurrayStatus HURRAY_ERR_DISCONNECTED = -26;

/// Report of a failed call: its code, and what is wrong, where, and what was expected. A fault that has a place in
/// the input ends its message with " [byte N]", N the decimal byte offset; a message that is too long is cut before
/// that. The struct belongs to the caller; a successful call clears it.
/// @since 2
struct HurrayError {
    /// The HurrayStatus that the call returned.
    int32_t code;
    /// UTF-8, always terminated.
    char message[256];
};

// Files and streams: what callers see of them. Public: becomes part of hurray/io.h.
#pragma once

#include <cstdint>

#include "abi/src/api/status.hpp"

/// @group HurrayFileFormat File formats.
/// Recognise the format by the file's content.
constexpr uint32_t HURRAY_FORMAT_AUTO = 0;
/// safetensors.
constexpr uint32_t HURRAY_FORMAT_SAFETENSORS = 1;

/// @group HurrayAlignmentPolicy Alignment policies.
/// Hand over data that is not aligned to 64 bytes as a base rounded down plus byte_offset; nothing is copied.
constexpr uint32_t HURRAY_ALIGN_OFFSET = 0;
/// Copy such data into aligned memory; the copied bytes are counted.
constexpr uint32_t HURRAY_ALIGN_COPY = 1;
/// Refuse such data with HURRAY_ERR_MISALIGNED.
constexpr uint32_t HURRAY_ALIGN_REQUIRE = 2;

/// How to open a file. All zero but struct_size: the defaults.
/// @since 4
struct HurrayFileOptions {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// HURRAY_FORMAT_ value.
    uint32_t format;
    /// HURRAY_ALIGN_ value.
    uint32_t alignment;
    /// 0.
    uint32_t reserved;
    /// Longest header accepted, in bytes; 0 means 100,000,000.
    uint64_t header_limit;
};

/// Facts about an open file.
/// @since 4
struct HurrayFileInfo {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// HURRAY_FORMAT_ value.
    uint32_t format;
    /// Number of tensors.
    uint64_t tensor_count;
    /// Number of metadata entries.
    uint64_t metadata_count;
    /// Size of the file in bytes.
    uint64_t file_size;
    /// Bytes of tensor data copied so far on behalf of this file (packing, alignment); 0 as long as all is mapped.
    uint64_t copied_bytes;
};

/// One tensor of a file, without touching its data. The pointers belong to the file and live as long as it is open.
/// @since 4
struct HurrayFileTensorInfo {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// HURRAY_TYPE_ tag.
    uint8_t element_type;
    /// HURRAY_LAYOUT_ tag.
    uint8_t layout;
    /// 0.
    uint8_t reserved[2];
    /// Name, UTF-8, not terminated, may hold NUL characters.
    const char* name;
    /// Length of the name in bytes.
    uint64_t name_length;
    /// `rank` sizes; null for rank 0.
    const uint64_t* shape;
    /// Number of dimensions.
    uint32_t rank;
    /// Bits of one element, as the tensor handle will have them.
    uint32_t bits;
    /// Offset of the data in the file, in bytes.
    uint64_t file_offset;
    /// Bytes that the data takes in the file.
    uint64_t byte_size;
};

/// One metadata entry of a file. The pointers belong to the file and live as long as it is open.
/// @since 4
struct HurrayFileMetadata {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// 0.
    uint32_t reserved;
    /// Key, UTF-8, not terminated, may hold NUL characters.
    const char* key;
    /// Length of the key in bytes.
    uint64_t key_length;
    /// Value, UTF-8, not terminated, may hold NUL characters.
    const char* value;
    /// Length of the value in bytes.
    uint64_t value_length;
};

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

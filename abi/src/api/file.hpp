// Model files: what callers see of them. Public: becomes part of hurray/io.h.
#pragma once

#include <cstdint>

#include "abi/src/api/handles.hpp"
#include "abi/src/api/status.hpp"

/// @group HurrayFileFormat File formats.
/// Recognise the format by the file's content.
constexpr uint32_t HURRAY_FORMAT_AUTO = 0;
/// safetensors.
constexpr uint32_t HURRAY_FORMAT_SAFETENSORS = 1;
/// Hurray's own. (format: file)
constexpr uint32_t HURRAY_FORMAT_HRRY = 2;
/// GGUF, versions 2 and 3.
constexpr uint32_t HURRAY_FORMAT_GGUF = 3;
/// NumPy's .npy: one tensor, whose name is "data".
constexpr uint32_t HURRAY_FORMAT_NPY = 4;
/// NumPy's .npz: a ZIP archive of .npy files.
constexpr uint32_t HURRAY_FORMAT_NPZ = 5;

/// @group HurrayAlignmentPolicy Alignment policies.
/// Hand over data that is not aligned to 64 bytes as a base rounded down plus byte_offset; nothing is copied.
constexpr uint32_t HURRAY_ALIGN_OFFSET = 0;
/// Copy such data into aligned memory; the copied bytes are counted.
constexpr uint32_t HURRAY_ALIGN_COPY = 1;
/// Refuse such data with HURRAY_ERR_MISALIGNED.
constexpr uint32_t HURRAY_ALIGN_REQUIRE = 2;

/// @group HurrayFileAccess Ways to get at a file's bytes.
/// Map the file: nothing is copied, and it must not change while it, or a tensor of it, is in use.
constexpr uint32_t HURRAY_ACCESS_MAP = 0;
/// Read what is asked for into memory of the library, which is counted as copied: for network file systems, and for files that
/// somebody else may cut or replace. A file that is cut is an error then, never a signal.
constexpr uint32_t HURRAY_ACCESS_READ = 1;

/// @group HurrayInexactBlocks What becomes of quantized blocks that are no exact scheme of the format (GGUF).
/// Rows of uint8, as they lie, under a private quantization scheme that names the block type (docs/formats/gguf.md).
constexpr uint32_t HURRAY_INEXACT_RAW = 0;
/// Dequantized to float32, exactly as the format's own library does.
constexpr uint32_t HURRAY_INEXACT_FLOAT32 = 1;
/// Dequantized to float16.
constexpr uint32_t HURRAY_INEXACT_FLOAT16 = 2;
/// Refused with HURRAY_ERR_UNSUPPORTED.
constexpr uint32_t HURRAY_INEXACT_REFUSE = 3;

/// @group HurrayFileFlag Flags of opening a file.
/// Accept private layouts and quantization schemes, see HURRAY_DECODE_PRIVATE_TAGS.
constexpr uint32_t HURRAY_FILE_PRIVATE_TAGS = 1;
/// Accept element types, layouts and quantization schemes that are not known, see HURRAY_DECODE_PERMISSIVE.
constexpr uint32_t HURRAY_FILE_PERMISSIVE = 2;
/// HURRAY_FORMAT_GGUF: treat blocks that are a scheme of the format (Q4_0, Q8_0, MXFP4) as inexact_blocks says, too. Needed for
/// the rare block that its scheme cannot say, such as one whose scale is NaN.
constexpr uint32_t HURRAY_FILE_NO_EXACT_SCHEMES = 4;
/// @endgroup

/// How to open a file. All zero but struct_size: the defaults.
/// @since 4
struct HurrayFileOptions {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// HURRAY_FORMAT_ value.
    uint32_t format;
    /// HURRAY_ALIGN_ value.
    uint32_t alignment;
    /// HURRAY_ACCESS_ value; of no meaning for a file in memory.
    uint32_t access;
    /// Longest header, index or metadata section accepted, in bytes; 0 means the default of the format (safetensors:
    /// 100,000,000).
    uint64_t header_limit;
    /// HURRAY_INEXACT_ value.
    uint32_t inexact_blocks;
    /// HURRAY_FILE_ flags; of a meaning for HURRAY_FORMAT_HRRY and HURRAY_FORMAT_GGUF only.
    uint32_t flags;
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
    /// Bytes of tensor data copied so far on behalf of this file (packing, alignment, repacking, decompression, reading without
    /// a map); 0 as long as all is mapped.
    uint64_t copied_bytes;
};

/// One tensor of a file, without touching its data. The pointers belong to the file and live as long as it is open.
/// @since 4
struct HurrayFileTensorInfo {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// HURRAY_TYPE_ tag, as the tensor handle will have it.
    uint8_t element_type;
    /// HURRAY_LAYOUT_ tag, as the tensor handle will have it.
    uint8_t layout;
    /// HURRAY_SCHEME_ tag of its quantization; 0: none.
    uint8_t scheme;
    /// 0.
    uint8_t reserved;
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
    /// Bytes that the data takes in the file, padding between buffers included (compressed data: as it lies there).
    uint64_t byte_size;
    /// The format's own word for the type ("F32", "Q4_K", "<f4"), not terminated; empty for HURRAY_FORMAT_HRRY.
    const char* stored_type;
    /// Length of that word in bytes.
    uint64_t stored_type_length;
};

/// @group HurrayMetadataType Types of metadata values. The numbers are those of the format. (format: file)
/// UTF-8 text.
constexpr uint8_t HURRAY_METADATA_STRING = 1;
/// A signed number.
constexpr uint8_t HURRAY_METADATA_INT64 = 2;
/// An unsigned number.
constexpr uint8_t HURRAY_METADATA_UINT64 = 3;
/// A float64.
constexpr uint8_t HURRAY_METADATA_FLOAT64 = 4;
/// True or false.
constexpr uint8_t HURRAY_METADATA_BOOL = 5;
/// Bytes of any meaning.
constexpr uint8_t HURRAY_METADATA_BYTES = 6;
/// Values of one of the types above.
constexpr uint8_t HURRAY_METADATA_ARRAY = 7;
/// @endgroup

/// One metadata entry of a file, or one element of an array in it. Of the fields for values only that of its type is of a
/// meaning. The pointers belong to the file and live as long as it is open.
/// @since 4
struct HurrayFileMetadata {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// HURRAY_METADATA_ value.
    uint8_t type;
    /// Of an array: the type of its elements, never an array.
    uint8_t element_type;
    /// HURRAY_METADATA_BOOL: 0 or 1.
    uint8_t boolean;
    /// 0.
    uint8_t reserved;
    /// Key, UTF-8, not terminated, may hold NUL characters; null for an element of an array.
    const char* key;
    /// Length of the key in bytes.
    uint64_t key_length;
    /// HURRAY_METADATA_STRING: UTF-8, not terminated, may hold NUL characters. HURRAY_METADATA_BYTES: the bytes.
    const char* value;
    /// Length of the string, or of the bytes, in bytes.
    uint64_t value_length;
    /// HURRAY_METADATA_INT64.
    int64_t int64_value;
    /// HURRAY_METADATA_UINT64.
    uint64_t uint64_value;
    /// HURRAY_METADATA_FLOAT64.
    double float64_value;
    /// HURRAY_METADATA_ARRAY: the number of its elements, for hurray_file_metadata_element.
    uint64_t count;
};

/// @group HurrayFileWriterFlag Flags of writing a file.
/// HURRAY_FORMAT_HRRY: keep the index in the order in which the tensors were added, instead of sorted by name. Readers then need
/// a table of their own to find a name.
constexpr uint32_t HURRAY_FILE_WRITER_UNSORTED_INDEX = 1;
/// HURRAY_FORMAT_NPZ: compress with deflate.
constexpr uint32_t HURRAY_FILE_WRITER_COMPRESS = 2;
/// @endgroup

/// How to write a file. There is no default of the format.
/// @since 4
struct HurrayFileWriterOptions {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// HURRAY_FORMAT_ value, not HURRAY_FORMAT_AUTO.
    uint32_t format;
    /// HURRAY_FORMAT_HRRY: alignment of every buffer in the file, in bytes, a power of two from 4096 to 2 MiB;
    /// HURRAY_FORMAT_GGUF: a power of two, at least 8; 0: the default of the format, and the only choice of the others.
    uint32_t data_alignment;
    /// HURRAY_FILE_WRITER_ flags, those of the format only.
    uint32_t flags;
};

/// Makes a tensor that was announced with hurray_file_writer_add_source: writes a tensor handle to `out_tensor` and returns
/// HURRAY_OK. A negative HURRAY_ERR_ code ends the writing call with that code. Called at most once for each announcement, on
/// the thread of the call that writes the tensor. It must not throw, nor use the writer.
/// @since 4
typedef HurrayStatus (*HurrayTensorSourceFn)(void* context, HurrayTensor** out_tensor);

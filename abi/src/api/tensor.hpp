// Descriptors, tensors and views: what callers see of them. Public.
#pragma once

#include <cstdint>

/// @group HurrayDescriptorFlag Descriptor flags.
/// What a permissive reader could not do.

/// The element type, the layout or the quantization scheme is not known: nobody may touch the data.
constexpr uint32_t HURRAY_DESCRIPTOR_OPAQUE = 1;
/// It is the layout that is not known: nothing behind byte_offset was read, so that there are no layout fields, buffers
/// and sections, whatever `flags` says; all of that is in `trailing`.
constexpr uint32_t HURRAY_DESCRIPTOR_UNREAD = 2;
/// @endgroup

/// The fields of a descriptor. The pointers belong to the descriptor and live as long as it does.
/// @since 4
struct HurrayDescriptorInfo {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// Flag bits of the fixed header: HURRAY_SECTION_ bits.
    uint32_t flags;
    /// Major version of the format.
    uint8_t version_major;
    /// Minor version of the format.
    uint8_t version_minor;
    /// HURRAY_TYPE_ tag.
    uint8_t element_type;
    /// HURRAY_LAYOUT_ tag.
    uint8_t layout;
    /// Number of dimensions, 0 to HURRAY_MAX_RANK.
    uint32_t rank;
    /// Bits of one element; 0 when the element type is not known.
    uint32_t bits;
    /// Number of buffers in the buffer table.
    uint32_t buffer_count;
    /// Length of the encoded descriptor in bytes.
    uint64_t descriptor_length;
    /// Offset of the first element in buffer 0, in bytes.
    uint64_t byte_offset;
    /// Product of the shape; HURRAY_DIMENSION_DYNAMIC where a dimension is dynamic.
    uint64_t element_count;
    /// `rank` sizes; null for rank 0.
    const uint64_t* shape;
    /// `rank` strides in elements for the strided layout, else null.
    const int64_t* strides;
    /// `rank` sizes of the tensor that this one is a shard of; null if and only if there is no shard section.
    const uint64_t* parent_shape;
    /// `rank` offsets in the parent; null if and only if there is no shard section.
    const uint64_t* shard_offset;
    /// HURRAY_DESCRIPTOR_ flags; 0 unless the reader was permissive.
    uint32_t reading;
    /// 0.
    uint32_t reserved;
    /// What a higher minor version put behind the sections, or what is unread; encoded again as it was. Null when there
    /// is nothing.
    const uint8_t* trailing;
    /// Length of `trailing` in bytes.
    uint64_t trailing_length;
};

/// Describes a dense tensor over memory of the caller, for hurray_tensor_from_host.
/// @since 4
struct HurrayDenseSpec {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// HURRAY_TYPE_ tag.
    uint8_t element_type;
    /// HURRAY_LAYOUT_ROW_MAJOR, HURRAY_LAYOUT_COL_MAJOR or HURRAY_LAYOUT_STRIDED.
    uint8_t layout;
    /// 1 when the memory must not be written, else 0.
    uint8_t read_only;
    /// 0.
    uint8_t reserved;
    /// Number of dimensions.
    uint32_t rank;
    /// 0.
    uint32_t reserved2;
    /// `rank` sizes; may be null for rank 0.
    const uint64_t* shape;
    /// `rank` strides in elements for the strided layout, else null.
    const int64_t* strides;
    /// Offset of element (0, ..., 0) from the start of the memory, in bytes.
    uint64_t byte_offset;
};

/// @group HurrayViewFlag View flags.
/// The memory must not be written.
constexpr uint32_t HURRAY_VIEW_READ_ONLY = 1;
/// Elements follow one another in row-major order without gaps; `strides` is null.
constexpr uint32_t HURRAY_VIEW_CONTIGUOUS = 2;
/// Elements are smaller than a byte and packed, least significant bit first.
constexpr uint32_t HURRAY_VIEW_PACKED = 4;
/// The tensor is quantized: elements are the stored values, to which the scheme is not applied.
constexpr uint32_t HURRAY_VIEW_QUANTIZED = 8;

/// All that is needed to read a dense tensor, filled by one call. The pointers live until the tensor is destroyed.
/// @since 4
struct HurrayView {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// HURRAY_VIEW_ flags.
    uint32_t flags;
    /// Element (0, ..., 0): byte_offset is applied. Null when there are no elements and no memory. An address of
    /// the device when `device` is not HURRAY_DEVICE_CPU.
    void* data;
    /// Bytes from the lowest to the end of the highest element that the view reaches.
    uint64_t byte_size;
    /// HURRAY_TYPE_ tag.
    uint8_t element_type;
    /// HURRAY_LAYOUT_ tag.
    uint8_t layout;
    /// HURRAY_DEVICE_ tag.
    uint8_t device;
    /// Number of dimensions.
    uint8_t rank;
    /// Bits of one element.
    uint32_t bits;
    /// `rank` sizes; null for rank 0.
    const int64_t* shape;
    /// `rank` strides in elements; null when the view is contiguous.
    const int64_t* strides;
    /// How many of the `byte_size` bytes lie below `data`; not 0 only with negative strides.
    uint64_t bytes_below;
    /// Product of the shape.
    uint64_t element_count;
};

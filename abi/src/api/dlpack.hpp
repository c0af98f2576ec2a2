// DLPack's tensors, as its header lays them out: dlpack.h is not needed to exchange them. Public.
#pragma once

#include <cstdint>

/// @group HurrayDlpackFlag Flags of a tensor of DLPack.
/// The memory must not be written (DLPACK_FLAG_BITMASK_READ_ONLY).
constexpr uint64_t HURRAY_DLPACK_READ_ONLY = 1;
/// The memory is a copy that was made for the consumer (DLPACK_FLAG_BITMASK_IS_COPIED).
constexpr uint64_t HURRAY_DLPACK_COPIED = 2;
/// Elements of less than a byte take a byte each (DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED).
constexpr uint64_t HURRAY_DLPACK_PADDED = 4;
/// @endgroup

/// DLPack's DLTensor, laid out the same.
/// @since 4
struct HurrayDlpackTensor {
    /// Start of the memory; of the host for the device types 1 (kDLCPU), 3 (kDLCUDAHost) and 11 (kDLROCMHost).
    void* data;
    /// DLDeviceType.
    int32_t device_type;
    /// Number of the device.
    int32_t device_id;
    /// Number of dimensions.
    int32_t ndim;
    /// DLDataTypeCode.
    uint8_t dtype_code;
    /// Bits of one element.
    uint8_t dtype_bits;
    /// Elements of a vector; 1 for a plain type.
    uint16_t dtype_lanes;
    /// `ndim` sizes; may be null for 0 dimensions.
    int64_t* shape;
    /// `ndim` strides in elements; null: row-major without gaps.
    int64_t* strides;
    /// Offset of element (0, ..., 0) from `data` in bytes.
    uint64_t byte_offset;
};

/// Ends a tensor of DLPack, which it is given the address of; it must not throw.
/// @since 4
typedef void (*HurrayDlpackDeleterFn)(void* self);

/// DLPack's DLManagedTensorVersioned of version 1, laid out the same. Whoever has it ends it, once, with its deleter.
/// @since 4
struct HurrayDlpackVersioned {
    /// Of the DLPack that the producer followed. Of another major version only `deleter` may be looked at.
    uint32_t version_major;
    /// See version_major.
    uint32_t version_minor;
    /// The producer's.
    void* manager_ctx;
    /// Ends the tensor, which it is called with, on any thread; null when there is nothing to end.
    HurrayDlpackDeleterFn deleter;
    /// HURRAY_DLPACK_ flags.
    uint64_t flags;
    /// The tensor.
    HurrayDlpackTensor dl_tensor;
};

/// DLPack's DLManagedTensor, the form before version 1, laid out the same: it cannot say that memory is read-only.
/// Whoever has it ends it, once, with its deleter.
/// @since 4
struct HurrayDlpackUnversioned {
    /// The tensor.
    HurrayDlpackTensor dl_tensor;
    /// The producer's.
    void* manager_ctx;
    /// Ends the tensor, which it is called with, on any thread; null when there is nothing to end.
    HurrayDlpackDeleterFn deleter;
};

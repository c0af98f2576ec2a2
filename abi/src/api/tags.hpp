// The tags of the wire format that callers name. Public.
#pragma once

#include <cstdint>

/// @group HurrayElementType Element types.
/// IEEE binary16, 16 bits.
constexpr uint8_t HURRAY_TYPE_FLOAT16 = 0x01;
/// bfloat16, 16 bits.
constexpr uint8_t HURRAY_TYPE_BFLOAT16 = 0x02;
/// IEEE binary32, 32 bits.
constexpr uint8_t HURRAY_TYPE_FLOAT32 = 0x03;
/// IEEE binary64, 64 bits.
constexpr uint8_t HURRAY_TYPE_FLOAT64 = 0x04;
/// Signed integer, 8 bits.
constexpr uint8_t HURRAY_TYPE_INT8 = 0x10;
/// Unsigned integer, 8 bits.
constexpr uint8_t HURRAY_TYPE_UINT8 = 0x11;
/// Signed integer, 16 bits.
constexpr uint8_t HURRAY_TYPE_INT16 = 0x12;
/// Unsigned integer, 16 bits.
constexpr uint8_t HURRAY_TYPE_UINT16 = 0x13;
/// Signed integer, 32 bits.
constexpr uint8_t HURRAY_TYPE_INT32 = 0x14;
/// Unsigned integer, 32 bits.
constexpr uint8_t HURRAY_TYPE_UINT32 = 0x15;
/// Signed integer, 64 bits.
constexpr uint8_t HURRAY_TYPE_INT64 = 0x16;
/// Unsigned integer, 64 bits.
constexpr uint8_t HURRAY_TYPE_UINT64 = 0x17;
/// Truth value, 1 bit, eight to a byte, least significant bit first.
constexpr uint8_t HURRAY_TYPE_BOOL = 0x20;
/// OCP float8 e4m3, 8 bits.
constexpr uint8_t HURRAY_TYPE_FLOAT8_E4M3 = 0x40;
/// OCP float8 e5m2, 8 bits.
constexpr uint8_t HURRAY_TYPE_FLOAT8_E5M2 = 0x41;
/// OCP e8m0 scale, 8 bits.
constexpr uint8_t HURRAY_TYPE_FLOAT8_E8M0 = 0x42;
/// OCP float4 e2m1, 4 bits.
constexpr uint8_t HURRAY_TYPE_FLOAT4_E2M1 = 0x43;
/// OCP float6 e2m3, 6 bits.
constexpr uint8_t HURRAY_TYPE_FLOAT6_E2M3 = 0x44;
/// OCP float6 e3m2, 6 bits.
constexpr uint8_t HURRAY_TYPE_FLOAT6_E3M2 = 0x45;
/// IEEE binary128, 128 bits.
constexpr uint8_t HURRAY_TYPE_FLOAT128 = 0x46;
/// Signed integer, 4 bits, even index in the low nibble.
constexpr uint8_t HURRAY_TYPE_INT4 = 0x48;
/// Unsigned integer, 4 bits, even index in the low nibble.
constexpr uint8_t HURRAY_TYPE_UINT4 = 0x49;
/// Signed integer, 2 bits.
constexpr uint8_t HURRAY_TYPE_INT2 = 0x4A;
/// Unsigned integer, 2 bits.
constexpr uint8_t HURRAY_TYPE_UINT2 = 0x4B;
/// Two float32, 64 bits.
constexpr uint8_t HURRAY_TYPE_COMPLEX64 = 0x50;
/// Two float64, 128 bits.
constexpr uint8_t HURRAY_TYPE_COMPLEX128 = 0x51;

/// @group HurrayLayout Layouts.
/// Last dimension contiguous.
constexpr uint8_t HURRAY_LAYOUT_ROW_MAJOR = 0x01;
/// First dimension contiguous.
constexpr uint8_t HURRAY_LAYOUT_COL_MAJOR = 0x02;
/// Explicit strides, in elements; zero and negative ones are legal.
constexpr uint8_t HURRAY_LAYOUT_STRIDED = 0x03;
/// Tiles of tiles.
constexpr uint8_t HURRAY_LAYOUT_TILED = 0x04;
/// Z-order curve.
constexpr uint8_t HURRAY_LAYOUT_MORTON = 0x05;
/// Sparse coordinates.
constexpr uint8_t HURRAY_LAYOUT_COO = 0x06;
/// Compressed sparse rows.
constexpr uint8_t HURRAY_LAYOUT_CSR = 0x07;
/// Compressed sparse columns.
constexpr uint8_t HURRAY_LAYOUT_CSC = 0x08;
/// Compressed sparse fibers.
constexpr uint8_t HURRAY_LAYOUT_CSF = 0x09;
/// Pages named by a block table.
constexpr uint8_t HURRAY_LAYOUT_BLOCK_PAGED = 0x0A;
/// Head of a composite tensor.
constexpr uint8_t HURRAY_LAYOUT_COMPOSITE = 0x0B;
/// Hilbert curve.
constexpr uint8_t HURRAY_LAYOUT_HILBERT = 0x40;

/// @group HurrayDevice Devices.
/// Host memory.
constexpr uint8_t HURRAY_DEVICE_CPU = 0x00;
/// NVIDIA CUDA.
constexpr uint8_t HURRAY_DEVICE_CUDA = 0x01;
/// AMD ROCm.
constexpr uint8_t HURRAY_DEVICE_ROCM = 0x02;
/// Apple Metal.
constexpr uint8_t HURRAY_DEVICE_METAL = 0x03;
/// Vulkan.
constexpr uint8_t HURRAY_DEVICE_VULKAN = 0x04;
/// WebGPU.
constexpr uint8_t HURRAY_DEVICE_WEBGPU = 0x05;
/// Qualcomm Hexagon.
constexpr uint8_t HURRAY_DEVICE_HEXAGON = 0x06;
/// Intel Level Zero.
constexpr uint8_t HURRAY_DEVICE_LEVEL_ZERO = 0x07;
/// OpenCL.
constexpr uint8_t HURRAY_DEVICE_OPENCL = 0x08;

/// @group HurraySyncMode Sync modes.
/// The producer has waited: the bytes are there.
constexpr uint8_t HURRAY_SYNC_PRODUCER_SYNCED = 0x00;
/// An event tells when the bytes are there.
constexpr uint8_t HURRAY_SYNC_EVENT = 0x01;
/// The bytes are there for work on the consumer's stream.
constexpr uint8_t HURRAY_SYNC_CONSUMER_STREAM = 0x02;

/// @group HurrayMemoryClass Memory classes.
/// Ordinary memory of the device.
constexpr uint8_t HURRAY_MEMORY_STANDARD = 0x00;
/// Page-locked host memory.
constexpr uint8_t HURRAY_MEMORY_HOST_PINNED = 0x01;
/// Memory that host and device share.
constexpr uint8_t HURRAY_MEMORY_UNIFIED = 0x02;
/// Memory of a peer device.
constexpr uint8_t HURRAY_MEMORY_PEER = 0x03;

/// @group HurrayShapeLimit Shape.
/// A dimension whose size is not known (dynamic).
constexpr uint64_t HURRAY_DIMENSION_DYNAMIC = UINT64_MAX;
/// The largest rank.
constexpr uint32_t HURRAY_MAX_RANK = 64;

// Names of the format's tags, as its specification spells them, and the tags of C++ types.
#ifndef HURRAY_NAMES_HPP_
#define HURRAY_NAMES_HPP_

#include <cstdint>
#include <string_view>

#include "hurray.h"

namespace hurray {

/// Tags F0 to FE are those that writer and reader agree upon.
constexpr bool is_private_tag(std::uint8_t tag) noexcept {
    return tag >= 0xF0 && tag <= 0xFE;
}

/// "float32"; "private" for private tags, "unknown" for others.
constexpr const char* type_name(std::uint8_t tag) noexcept {
    switch (tag) {
        case HURRAY_TYPE_FLOAT16:
            return "float16";
        case HURRAY_TYPE_BFLOAT16:
            return "bfloat16";
        case HURRAY_TYPE_FLOAT32:
            return "float32";
        case HURRAY_TYPE_FLOAT64:
            return "float64";
        case HURRAY_TYPE_INT8:
            return "int8";
        case HURRAY_TYPE_UINT8:
            return "uint8";
        case HURRAY_TYPE_INT16:
            return "int16";
        case HURRAY_TYPE_UINT16:
            return "uint16";
        case HURRAY_TYPE_INT32:
            return "int32";
        case HURRAY_TYPE_UINT32:
            return "uint32";
        case HURRAY_TYPE_INT64:
            return "int64";
        case HURRAY_TYPE_UINT64:
            return "uint64";
        case HURRAY_TYPE_BOOL:
            return "bool";
        case HURRAY_TYPE_FLOAT8_E4M3:
            return "float8_e4m3";
        case HURRAY_TYPE_FLOAT8_E5M2:
            return "float8_e5m2";
        case HURRAY_TYPE_FLOAT8_E8M0:
            return "float8_e8m0";
        case HURRAY_TYPE_FLOAT4_E2M1:
            return "float4_e2m1";
        case HURRAY_TYPE_FLOAT6_E2M3:
            return "float6_e2m3";
        case HURRAY_TYPE_FLOAT6_E3M2:
            return "float6_e3m2";
        case HURRAY_TYPE_FLOAT128:
            return "float128";
        case HURRAY_TYPE_INT4:
            return "int4";
        case HURRAY_TYPE_UINT4:
            return "uint4";
        case HURRAY_TYPE_INT2:
            return "int2";
        case HURRAY_TYPE_UINT2:
            return "uint2";
        case HURRAY_TYPE_COMPLEX64:
            return "complex64";
        case HURRAY_TYPE_COMPLEX128:
            return "complex128";
        default:
            return is_private_tag(tag) ? "private" : "unknown";
    }
}

/// "row_major"; "private_extension" for private tags, "unknown" for others.
constexpr const char* layout_name(std::uint8_t tag) noexcept {
    switch (tag) {
        case HURRAY_LAYOUT_ROW_MAJOR:
            return "row_major";
        case HURRAY_LAYOUT_COL_MAJOR:
            return "col_major";
        case HURRAY_LAYOUT_STRIDED:
            return "strided";
        case HURRAY_LAYOUT_TILED:
            return "tiled";
        case HURRAY_LAYOUT_MORTON:
            return "morton";
        case HURRAY_LAYOUT_COO:
            return "coo";
        case HURRAY_LAYOUT_CSR:
            return "csr";
        case HURRAY_LAYOUT_CSC:
            return "csc";
        case HURRAY_LAYOUT_CSF:
            return "csf";
        case HURRAY_LAYOUT_BLOCK_PAGED:
            return "block_paged";
        case HURRAY_LAYOUT_COMPOSITE:
            return "composite";
        case HURRAY_LAYOUT_HILBERT:
            return "hilbert";
        default:
            return is_private_tag(tag) ? "private_extension" : "unknown";
    }
}

/// "per_block_affine"; "private" for private tags, "unknown" for others.
constexpr const char* scheme_name(std::uint8_t tag) noexcept {
    switch (tag) {
        case HURRAY_SCHEME_PER_TENSOR_AFFINE:
            return "per_tensor_affine";
        case HURRAY_SCHEME_PER_CHANNEL_AFFINE:
            return "per_channel_affine";
        case HURRAY_SCHEME_PER_BLOCK_AFFINE:
            return "per_block_affine";
        case HURRAY_SCHEME_NF4:
            return "nf4";
        case HURRAY_SCHEME_MXFP:
            return "mxfp";
        default:
            return is_private_tag(tag) ? "private" : "unknown";
    }
}

/// "cpu"; "private" for private tags, "unknown" for others.
constexpr const char* device_name(std::uint8_t tag) noexcept {
    switch (tag) {
        case HURRAY_DEVICE_CPU:
            return "cpu";
        case HURRAY_DEVICE_CUDA:
            return "cuda";
        case HURRAY_DEVICE_ROCM:
            return "rocm";
        case HURRAY_DEVICE_METAL:
            return "metal";
        case HURRAY_DEVICE_VULKAN:
            return "vulkan";
        case HURRAY_DEVICE_WEBGPU:
            return "webgpu";
        case HURRAY_DEVICE_HEXAGON:
            return "hexagon";
        case HURRAY_DEVICE_LEVEL_ZERO:
            return "level_zero";
        case HURRAY_DEVICE_OPENCL:
            return "opencl";
        default:
            return is_private_tag(tag) ? "private" : "unknown";
    }
}

namespace detail {
/// The tag whose name is `name`; 0, which is no tag, when there is none.
template <typename NameOf>
constexpr std::uint8_t tag_named(std::string_view name, NameOf name_of) noexcept {
    for (unsigned tag = 1; tag < 0xF0; ++tag) {
        const std::string_view candidate = name_of(static_cast<std::uint8_t>(tag));
        if (candidate != "unknown" && candidate == name) return static_cast<std::uint8_t>(tag);
    }
    return 0;
}
}  // namespace detail

/// The tag of an element type by its name; 0, which is no tag, when there is none.
constexpr std::uint8_t type_named(std::string_view name) noexcept {
    return detail::tag_named(name, type_name);
}
/// The tag of a layout by its name; 0, which is no tag, when there is none.
constexpr std::uint8_t layout_named(std::string_view name) noexcept {
    return detail::tag_named(name, layout_name);
}
/// The tag of a quantization scheme by its name; 0, which is no tag, when there is none.
constexpr std::uint8_t scheme_named(std::string_view name) noexcept {
    return detail::tag_named(name, scheme_name);
}

/// The tag of the element type that a C++ type holds; 0 for types that hold none. float16, bfloat16 and types of less
/// than 8 bits have no C++ type here: read their bits.
template <typename T>
inline constexpr std::uint8_t type_tag_of = 0;
template <>
inline constexpr std::uint8_t type_tag_of<float> = HURRAY_TYPE_FLOAT32;
template <>
inline constexpr std::uint8_t type_tag_of<double> = HURRAY_TYPE_FLOAT64;
template <>
inline constexpr std::uint8_t type_tag_of<std::int8_t> = HURRAY_TYPE_INT8;
template <>
inline constexpr std::uint8_t type_tag_of<std::uint8_t> = HURRAY_TYPE_UINT8;
template <>
inline constexpr std::uint8_t type_tag_of<std::int16_t> = HURRAY_TYPE_INT16;
template <>
inline constexpr std::uint8_t type_tag_of<std::uint16_t> = HURRAY_TYPE_UINT16;
template <>
inline constexpr std::uint8_t type_tag_of<std::int32_t> = HURRAY_TYPE_INT32;
template <>
inline constexpr std::uint8_t type_tag_of<std::uint32_t> = HURRAY_TYPE_UINT32;
template <>
inline constexpr std::uint8_t type_tag_of<std::int64_t> = HURRAY_TYPE_INT64;
template <>
inline constexpr std::uint8_t type_tag_of<std::uint64_t> = HURRAY_TYPE_UINT64;

}  // namespace hurray

#endif  // HURRAY_NAMES_HPP_

// Element types that DLPack and the format both have, bit for bit.
#pragma once

#include <cstdint>

namespace hurray::abi {

/// The newest version of DLPack that is spoken here.
inline constexpr std::uint32_t dlpack_major = 1;
inline constexpr std::uint32_t dlpack_minor = 1;

/// DLDeviceType of memory that the host reads.
inline constexpr std::int32_t dlpack_cpu = 1;
inline constexpr std::int32_t dlpack_cuda_host = 3;
inline constexpr std::int32_t dlpack_rocm_host = 11;

/// DLDataTypeCode of booleans, a byte each.
inline constexpr std::uint8_t dlpack_bool = 6;

struct DlpackType {
    std::uint8_t element_type;  ///< HURRAY_TYPE_ tag
    std::uint8_t code;          ///< DLDataTypeCode
    std::uint8_t bits;
    std::uint8_t since_minor;  ///< of DLPack 1
};

/// Null: DLPack has no such type, or packs it in another way.
const DlpackType* dlpack_type_of(std::uint8_t element_type) noexcept;

/// Null: the format has no such type.
const DlpackType* dlpack_type_of(std::uint8_t code, std::uint8_t bits) noexcept;

}  // namespace hurray::abi

// The numbers of the ZIP format (APPNOTE.TXT 6.3): signatures, sizes of records, flags, methods.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hurray::zip {

inline constexpr std::uint32_t local_signature = 0x04034B50;
inline constexpr std::uint32_t central_signature = 0x02014B50;
inline constexpr std::uint32_t end_signature = 0x06054B50;
inline constexpr std::uint32_t zip64_end_signature = 0x06064B50;
inline constexpr std::uint32_t zip64_locator_signature = 0x07064B50;
inline constexpr std::uint32_t descriptor_signature = 0x08074B50;

/// Sizes of the records without what is variable in them.
inline constexpr std::size_t local_size = 30;
inline constexpr std::size_t central_size = 46;
inline constexpr std::size_t end_size = 22;
inline constexpr std::size_t zip64_end_size = 56;
inline constexpr std::size_t zip64_locator_size = 20;

/// What the 16- and 32-bit fields say when the value is in a ZIP64 record.
inline constexpr std::uint16_t in_zip64_16 = 0xFFFF;
inline constexpr std::uint32_t in_zip64_32 = 0xFFFFFFFF;

namespace flag {
inline constexpr std::uint16_t encrypted = 1U << 0;
/// CRC and sizes are behind the data; in the local header they may be 0.
inline constexpr std::uint16_t descriptor = 1U << 3;
inline constexpr std::uint16_t patched = 1U << 5;
inline constexpr std::uint16_t strong_encryption = 1U << 6;
inline constexpr std::uint16_t utf8 = 1U << 11;
inline constexpr std::uint16_t masked = 1U << 13;
/// Hints about how well the data was compressed.
inline constexpr std::uint16_t effort = (1U << 1) | (1U << 2);
}  // namespace flag

namespace method {
inline constexpr std::uint16_t stored = 0;
inline constexpr std::uint16_t deflate = 8;
}  // namespace method

/// Identifiers of extra fields.
namespace extra {
inline constexpr std::uint16_t zip64 = 0x0001;
inline constexpr std::uint16_t unicode_path = 0x7075;
/// Padding that aligns the data: the alignment (16 bits), then zeros.
inline constexpr std::uint16_t alignment = 0xD935;
}  // namespace extra

/// Versions of the format that a reader needs: deflate, and ZIP64.
inline constexpr std::uint16_t version_plain = 20;
inline constexpr std::uint16_t version_zip64 = 45;

/// The most that deflate makes of a byte: 258 bytes of every two bits.
inline constexpr std::uint64_t largest_ratio = 1032;

}  // namespace hurray::zip

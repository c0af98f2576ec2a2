// The layout tags of the format. (format: memory layout)
#pragma once

#include <cstdint>

namespace hurray::layout_tag {

inline constexpr std::uint8_t row_major = 0x01;
inline constexpr std::uint8_t col_major = 0x02;
inline constexpr std::uint8_t strided = 0x03;
inline constexpr std::uint8_t tiled = 0x04;
inline constexpr std::uint8_t morton = 0x05;
inline constexpr std::uint8_t coo = 0x06;
inline constexpr std::uint8_t csr = 0x07;
inline constexpr std::uint8_t csc = 0x08;
inline constexpr std::uint8_t csf = 0x09;
inline constexpr std::uint8_t block_paged = 0x0A;
inline constexpr std::uint8_t composite = 0x0B;
inline constexpr std::uint8_t hilbert = 0x40;
/// The first and the last of the private tags.
inline constexpr std::uint8_t private_first = 0xF0;
inline constexpr std::uint8_t private_last = 0xFE;

}  // namespace hurray::layout_tag

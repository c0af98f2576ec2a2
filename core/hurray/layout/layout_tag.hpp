// The layout tags of the format. (format: memory layout)
#pragma once

#include <cstdint>
#include <optional>

namespace hurray {

namespace layout_tag {

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

}  // namespace layout_tag

/// How many buffers a layout has of its own, before those with the parameters of a quantization scheme; nothing for
/// private layouts, whose buffers are not known, and for tags of no layout.
constexpr std::optional<std::uint32_t> layout_buffer_count(std::uint8_t tag, std::uint32_t rank) noexcept {
    switch (tag) {
        case layout_tag::row_major:
        case layout_tag::col_major:
        case layout_tag::strided:
        case layout_tag::tiled:
        case layout_tag::morton:
        case layout_tag::hilbert:
            return 1;
        case layout_tag::coo:
            return 2;
        case layout_tag::csr:
        case layout_tag::csc:
        case layout_tag::block_paged:
            return 3;
        case layout_tag::csf:
            return 2 * rank + 1;
        case layout_tag::composite:
            return 0;
        default:
            return std::nullopt;
    }
}

}  // namespace hurray

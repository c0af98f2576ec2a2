// Stored elements brought together: what a kernel reads is packed and starts at a whole byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hurray::quantization_detail {

/// Copies elements to the start of `out`, packed. The caller has checked that all of them lie in the buffer.
/// @param bits of an element: less than 8, or a multiple of 8
/// @param bit_at where element i starts in `data`, in bits
/// @param out the bytes of `count` elements
template <typename BitAt>
inline void pack_elements(const std::byte* data, unsigned bits, std::size_t count, std::byte* out, BitAt&& bit_at) {
    const auto copy_bytes = [&]<std::size_t size>() {
        for (std::size_t i = 0; i < count; ++i) std::memcpy(out + i * size, data + bit_at(i) / 8, size);
    };
    switch (bits) {
        case 8:
            return copy_bytes.template operator()<1>();
        case 16:
            return copy_bytes.template operator()<2>();
        case 32:
            return copy_bytes.template operator()<4>();
        case 64:
            return copy_bytes.template operator()<8>();
        default:
            break;
    }
    std::memset(out, 0, (count * bits + 7) / 8);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t bit = bit_at(i);
        const std::byte* from = data + bit / 8;
        const auto shift = static_cast<unsigned>(bit % 8);
        unsigned code = std::to_integer<unsigned>(from[0]) >> shift;
        if (shift + bits > 8) code |= std::to_integer<unsigned>(from[1]) << (8 - shift);
        code &= (1U << bits) - 1;
        const std::size_t to_bit = i * bits;
        const auto to_shift = static_cast<unsigned>(to_bit % 8);
        out[to_bit / 8] |= static_cast<std::byte>(code << to_shift);
        if (to_shift + bits > 8) out[to_bit / 8 + 1] |= static_cast<std::byte>(code >> (8 - to_shift));
    }
}

/// Copies `bit_count` bits from any bit on to the start of `out`; what the last byte has beyond them is any bits of the
/// byte that they end in.
inline void copy_bits(const std::byte* data, std::uint64_t bit, std::size_t bit_count, std::byte* out) noexcept {
    const std::byte* from = data + bit / 8;
    const auto shift = static_cast<unsigned>(bit % 8);
    const std::size_t bytes = (bit_count + 7) / 8;
    // Bytes that begin in the last byte of the source have nothing behind it.
    const std::size_t readable = (shift + bit_count + 7) / 8;
    for (std::size_t i = 0; i < bytes; ++i) {
        const unsigned low = std::to_integer<unsigned>(from[i]) >> shift;
        const unsigned high = i + 1 < readable ? std::to_integer<unsigned>(from[i + 1]) << (8 - shift) : 0;
        out[i] = static_cast<std::byte>(low | high);
    }
}

}  // namespace hurray::quantization_detail

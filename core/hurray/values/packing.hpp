// The bits of one element in a packed run, the first element in the least significant bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/values/rounding.hpp"

namespace hurray::values_detail {

/// The smallest type that holds an element of `bits` bits.
template <unsigned bits>
using BitsOf =
    std::conditional_t<bits <= 8, std::uint8_t,
                       std::conditional_t<bits <= 16, std::uint16_t,
                                          std::conditional_t<bits <= 32, std::uint32_t,
                                                             std::conditional_t<bits <= 64, std::uint64_t, Wide>>>>;

/// Reads element `index`; touches only the bytes that it lies in.
template <unsigned bits>
inline BitsOf<bits> get_bits(const std::byte* data, std::uint64_t index) noexcept {
    if constexpr (bits == 128) {
        data += index * 16;
        return Wide{load_le<std::uint64_t>(data + 8)} << 64 | load_le<std::uint64_t>(data);
    } else if constexpr (bits >= 8) {
        return load_le<BitsOf<bits>>(data + index * (bits / 8));
    } else if constexpr (bits == 6) {
        // Four elements in three bytes.
        data += index / 4 * 3;
        const auto byte = [&](int at) { return std::to_integer<unsigned>(data[at]); };
        switch (index % 4) {
            case 0:
                return byte(0) & 63;
            case 1:
                return static_cast<std::uint8_t>(byte(0) >> 6 | (byte(1) & 15) << 2);
            case 2:
                return static_cast<std::uint8_t>(byte(1) >> 4 | (byte(2) & 3) << 4);
            default:
                return static_cast<std::uint8_t>(byte(2) >> 2);
        }
    } else {
        constexpr unsigned per_byte = 8 / bits;
        return static_cast<std::uint8_t>(
            std::to_integer<unsigned>(data[index / per_byte]) >> (index % per_byte * bits) & ((1U << bits) - 1));
    }
}

/// Writes element `index`; the bits of other elements stay as they are.
template <unsigned bits>
inline void put_bits(std::byte* data, std::uint64_t index, BitsOf<bits> value) noexcept {
    if constexpr (bits == 128) {
        data += index * 16;
        store_le(data, static_cast<std::uint64_t>(value));
        store_le(data + 8, static_cast<std::uint64_t>(value >> 64));
    } else if constexpr (bits >= 8) {
        store_le(data + index * (bits / 8), value);
    } else if constexpr (bits == 6) {
        data += index / 4 * 3;
        const auto replace = [&](int at, unsigned mask, unsigned with) {
            data[at] = static_cast<std::byte>((std::to_integer<unsigned>(data[at]) & ~mask) | (with & mask));
        };
        const unsigned v = value;
        switch (index % 4) {
            case 0:
                return replace(0, 0x3F, v);
            case 1:
                replace(0, 0xC0, v << 6);
                return replace(1, 0x0F, v >> 2);
            case 2:
                replace(1, 0xF0, v << 4);
                return replace(2, 0x03, v >> 4);
            default:
                return replace(2, 0xFC, v << 2);
        }
    } else {
        constexpr unsigned per_byte = 8 / bits;
        const unsigned shift = static_cast<unsigned>(index % per_byte) * bits;
        const unsigned mask = ((1U << bits) - 1) << shift;
        std::byte& byte = data[index / per_byte];
        byte = static_cast<std::byte>((std::to_integer<unsigned>(byte) & ~mask) |
                                      (static_cast<unsigned>(value) << shift & mask));
    }
}

/// As get_bits, for a width known at run time: 1, 2, 4, 6 or a multiple of 8, at most 128.
inline Wide get_bits(const std::byte* data, std::uint64_t index, unsigned bits) noexcept {
    switch (bits) {
        case 1:
            return get_bits<1>(data, index);
        case 2:
            return get_bits<2>(data, index);
        case 4:
            return get_bits<4>(data, index);
        case 6:
            return get_bits<6>(data, index);
        default:
            break;
    }
    data += index * (bits / 8);
    Wide value = 0;
    for (unsigned i = 0; i < bits / 8; ++i) value |= Wide{std::to_integer<std::uint8_t>(data[i])} << (8 * i);
    return value;
}

/// As put_bits, for a width known at run time.
inline void put_bits(std::byte* data, std::uint64_t index, unsigned bits, Wide value) noexcept {
    switch (bits) {
        case 1:
            return put_bits<1>(data, index, static_cast<std::uint8_t>(value));
        case 2:
            return put_bits<2>(data, index, static_cast<std::uint8_t>(value));
        case 4:
            return put_bits<4>(data, index, static_cast<std::uint8_t>(value));
        case 6:
            return put_bits<6>(data, index, static_cast<std::uint8_t>(value));
        default:
            break;
    }
    data += index * (bits / 8);
    for (unsigned i = 0; i < bits / 8; ++i)
        data[i] = static_cast<std::byte>(static_cast<std::uint8_t>(value >> (8 * i)));
}

/// Whether elements first to first + count - 1 lie within `size` bytes.
constexpr bool lie_within(std::uint64_t size, unsigned bits, std::uint64_t first, std::uint64_t count) noexcept {
    const Wide end = (Wide{first} + count) * bits;
    return end <= Wide{size} * 8;
}

}  // namespace hurray::values_detail

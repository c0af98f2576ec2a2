// What ggml's blocks are made of.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/values/codecs.hpp"

namespace hurray::gguf_blocks {

/// A float16 at `from`, exactly.
inline float half_at(const std::byte* from) noexcept {
    float number = 0;
    values_detail::FloatCodec<float_formats::float16>::decode(load_le<std::uint16_t>(from), number);
    return number;
}

inline unsigned byte_at(const std::byte* from, std::size_t index) noexcept {
    return std::to_integer<unsigned>(from[index]);
}

inline int signed_at(const std::byte* from, std::size_t index) noexcept {
    return static_cast<std::int8_t>(std::to_integer<std::uint8_t>(from[index]));
}

inline unsigned low_nibble(const std::byte* from, std::size_t index) noexcept {
    return byte_at(from, index) & 0xF;
}
inline unsigned high_nibble(const std::byte* from, std::size_t index) noexcept {
    return byte_at(from, index) >> 4;
}

/// Twice the numbers that e2m1 codes stand for. There is no -0: code 8 is 0.
inline constexpr std::array<int, 16> doubled_e2m1 = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// 2^(code - 128): half of what the format of the Open Compute Project says, which goes with the doubled codes. 0 and
/// 255 are not special.
inline float half_power(unsigned code) noexcept {
    return std::bit_cast<float>(code < 2 ? 0x00200000U << code : (code - 1) << 23);
}

}  // namespace hurray::gguf_blocks

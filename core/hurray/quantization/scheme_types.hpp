// The type tags that more than one scheme names.
#pragma once

#include <cstdint>

namespace hurray::scheme_types {

inline constexpr std::uint8_t float16 = 0x01;
inline constexpr std::uint8_t bfloat16 = 0x02;
inline constexpr std::uint8_t float32 = 0x03;
inline constexpr std::uint8_t int8 = 0x10;
inline constexpr std::uint8_t uint8 = 0x11;
inline constexpr std::uint8_t int16 = 0x12;
inline constexpr std::uint8_t uint16 = 0x13;
inline constexpr std::uint8_t int32 = 0x14;
inline constexpr std::uint8_t uint32 = 0x15;
inline constexpr std::uint8_t float8_e4m3 = 0x40;
inline constexpr std::uint8_t float8_e5m2 = 0x41;
inline constexpr std::uint8_t float8_e8m0 = 0x42;
inline constexpr std::uint8_t float4_e2m1 = 0x43;
inline constexpr std::uint8_t float6_e2m3 = 0x44;
inline constexpr std::uint8_t float6_e3m2 = 0x45;
inline constexpr std::uint8_t int4 = 0x48;
inline constexpr std::uint8_t uint4 = 0x49;
inline constexpr std::uint8_t int2 = 0x4A;
inline constexpr std::uint8_t uint2 = 0x4B;

/// What the affine schemes of whole tensors and of channels can be applied to.
inline constexpr std::uint8_t all_integers[] = {int8, uint8, int16, uint16, int32, uint32, int4, uint4, int2, uint2};
inline constexpr const char* all_integers_named = "(u)int2, (u)int4, (u)int8, (u)int16 or (u)int32";

}  // namespace hurray::scheme_types

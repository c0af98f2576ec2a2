// How a floating-point format spells its numbers. (format: element types)
#pragma once

#include <cstdint>

namespace hurray {

/// What the patterns with the largest exponent mean.
enum class SpecialPatterns : std::uint8_t {
    /// All are finite numbers (float6, float4).
    none,
    /// Mantissa 0 is infinity, everything else NaN (IEEE 754, float8_e5m2).
    infinity_and_nan,
    /// All ones is NaN, everything else a finite number (float8_e4m3).
    one_nan,
    /// The one pattern that there is without mantissa bits is infinity.
    one_infinity,
};

/// Sign, exponent and mantissa, from the most significant bit down. An exponent field of 0 is a subnormal number:
/// mantissa * 2^(1 - bias - mantissa_bits); others have a hidden 1: (1 + mantissa / 2^mantissa_bits) * 2^(field -
/// bias).
struct FloatFormat {
    /// 0 or 1.
    std::uint8_t sign_bits;
    /// 1 to 32.
    std::uint8_t exponent_bits;
    /// 0 to 112.
    std::uint8_t mantissa_bits;
    std::uint32_t bias;
    SpecialPatterns special;

    [[nodiscard]] constexpr unsigned bits() const noexcept { return 0U + sign_bits + exponent_bits + mantissa_bits; }
    bool operator==(const FloatFormat&) const = default;
};

namespace float_formats {
inline constexpr FloatFormat float16{1, 5, 10, 15, SpecialPatterns::infinity_and_nan};
inline constexpr FloatFormat bfloat16{1, 8, 7, 127, SpecialPatterns::infinity_and_nan};
inline constexpr FloatFormat float32{1, 8, 23, 127, SpecialPatterns::infinity_and_nan};
inline constexpr FloatFormat float64{1, 11, 52, 1023, SpecialPatterns::infinity_and_nan};
inline constexpr FloatFormat float128{1, 15, 112, 16383, SpecialPatterns::infinity_and_nan};
inline constexpr FloatFormat e4m3{1, 4, 3, 7, SpecialPatterns::one_nan};
inline constexpr FloatFormat e5m2{1, 5, 2, 15, SpecialPatterns::infinity_and_nan};
inline constexpr FloatFormat e2m1{1, 2, 1, 1, SpecialPatterns::none};
inline constexpr FloatFormat e2m3{1, 2, 3, 1, SpecialPatterns::none};
inline constexpr FloatFormat e3m2{1, 3, 2, 3, SpecialPatterns::none};
}  // namespace float_formats

}  // namespace hurray

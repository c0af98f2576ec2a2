// What to do with a number that a type cannot hold, and why a number was refused.
#pragma once

#include <cstdint>

namespace hurray {

/// What becomes of a number beyond a type's largest (after rounding).
enum class Overflow : std::uint8_t {
    /// Infinity; NaN where the format has no infinity (float8_e4m3); the largest number where it has neither (float6,
    /// float4, which the format wants clamped). An error for integers, bool, float8_e8m0 and negative numbers in types
    /// without a sign.
    to_infinity,
    /// The largest number of the same sign, for infinities, too; for integers, bool and types without a sign, the
    /// nearest number that there is.
    saturate,
    /// An error. Infinities stay infinities where the format has them.
    refuse,
};

namespace values_detail {

/// Why an element could not be converted.
enum class Outcome : std::uint8_t {
    ok,
    /// Beyond the largest number of the type.
    overflow,
    /// NaN, which the type does not have.
    nan,
    /// A negative number (or zero, for float8_e8m0) in a type that has none.
    not_positive,
    /// A bit pattern that is invalid as data.
    invalid_pattern,
};

template <typename Bits>
struct Encoded {
    Bits bits;
    Outcome outcome;
};

}  // namespace values_detail

}  // namespace hurray

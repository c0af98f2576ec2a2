// From any floating-point format to any other, in integer arithmetic and with one rounding: to the nearest number, to
// the one with the even pattern of two. What it does depends on no mode of the processor.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/hurray/values/float_format.hpp"
#include "core/hurray/values/outcome.hpp"

namespace hurray::values_detail {

__extension__ typedef unsigned __int128 Wide;

template <typename Bits>
constexpr unsigned width_of(Bits value) noexcept {
    if constexpr (sizeof(Bits) <= sizeof(std::uint64_t)) {
        return static_cast<unsigned>(std::bit_width(value));
    } else {
        const auto high = static_cast<std::uint64_t>(value >> 64);
        return static_cast<unsigned>(high != 0 ? 64 + std::bit_width(high)
                                               : std::bit_width(static_cast<std::uint64_t>(value)));
    }
}

/// The lowest `count` bits; fewer than Bits has.
template <typename Bits>
constexpr Bits ones(unsigned count) noexcept {
    return static_cast<Bits>((Bits{1} << count) - 1);
}

enum class Class : std::uint8_t { finite, infinite, not_a_number };

/// A number taken apart: significand * 2^exponent. For NaN the significand is the mantissa field, its payload.
template <typename Bits>
struct Parts {
    Bits significand;
    std::int64_t exponent;
    Class what;
    bool negative;
    /// NaN of a format with a single one: there is no payload.
    bool bare_nan;
};

/// The pattern of the largest finite number without its sign.
template <typename Bits>
constexpr Bits largest_magnitude(const FloatFormat& format) noexcept {
    const unsigned below_sign = 0U + format.exponent_bits + format.mantissa_bits;
    switch (format.special) {
        case SpecialPatterns::none:
            return ones<Bits>(below_sign);
        case SpecialPatterns::infinity_and_nan:
            return static_cast<Bits>((ones<Bits>(format.exponent_bits) << format.mantissa_bits) - 1);
        case SpecialPatterns::one_nan:
        case SpecialPatterns::one_infinity:
            return static_cast<Bits>(ones<Bits>(below_sign) - 1);
    }
    return 0;
}

template <typename Bits>
constexpr Parts<Bits> take_apart(const FloatFormat& format, Bits bits) noexcept {
    const unsigned below_sign = 0U + format.exponent_bits + format.mantissa_bits;
    const Bits magnitude = bits & ones<Bits>(below_sign);
    const Bits mantissa = bits & ones<Bits>(format.mantissa_bits);
    Parts<Bits> parts{mantissa, 0, Class::finite, format.sign_bits != 0 && ((bits >> below_sign) & 1) != 0, false};
    if (magnitude > largest_magnitude<Bits>(format)) {
        if (format.special == SpecialPatterns::one_nan) {
            parts.what = Class::not_a_number;
            parts.bare_nan = true;
        } else {
            parts.what = mantissa == 0 ? Class::infinite : Class::not_a_number;
        }
        return parts;
    }
    const auto field = static_cast<std::int64_t>(magnitude >> format.mantissa_bits);
    if (field != 0) parts.significand |= Bits{1} << format.mantissa_bits;
    parts.exponent = std::max<std::int64_t>(field, 1) - format.bias - format.mantissa_bits;
    return parts;
}

/// Whether significand / 2^shift, cut to an integer, is to be one more: it is nearer to that, or as near and `odd`. The
/// significand has fewer bits than its type.
template <typename Bits>
constexpr bool rounds_up(Bits significand, std::int64_t shift, bool odd) noexcept {
    // Less than one half: the significand is below 2^width, and one half is 2^(shift - 1).
    if (shift > static_cast<std::int64_t>(width_of(significand))) return false;
    const auto by = static_cast<unsigned>(shift);
    const Bits rest = significand & ones<Bits>(by);
    const Bits half = Bits{1} << (by - 1);
    return rest > half || (rest == half && odd);
}

/// `payload_bits` is the width of the mantissa field that a NaN's payload comes from.
template <typename Bits>
constexpr Encoded<Bits> put_together(const FloatFormat& format, const Parts<Bits>& parts, unsigned payload_bits,
                                     Overflow overflow) noexcept {
    const unsigned mantissa_bits = format.mantissa_bits;
    const unsigned below_sign = 0U + format.exponent_bits + mantissa_bits;
    const Bits sign = format.sign_bits != 0 && parts.negative ? Bits{1} << below_sign : Bits{0};
    const bool has_infinity =
        format.special == SpecialPatterns::infinity_and_nan || format.special == SpecialPatterns::one_infinity;
    const Bits infinity = ones<Bits>(format.exponent_bits) << mantissa_bits;

    if (parts.what == Class::not_a_number) {
        if (format.special == SpecialPatterns::one_nan) return {sign | ones<Bits>(below_sign), Outcome::ok};
        if (format.special != SpecialPatterns::infinity_and_nan) return {0, Outcome::nan};
        Bits payload = 0;
        if (!parts.bare_nan) {
            payload = mantissa_bits >= payload_bits ? parts.significand << (mantissa_bits - payload_bits)
                                                    : parts.significand >> (payload_bits - mantissa_bits);
        }
        // Without any payload left it would be infinity: the quiet bit is what makes a NaN.
        if (payload == 0) payload = Bits{1} << (mantissa_bits - 1);
        return {sign | infinity | payload, Outcome::ok};
    }

    if (parts.what == Class::finite && parts.significand == 0) return {sign, Outcome::ok};

    Bits magnitude = 0;
    bool too_large = parts.what == Class::infinite;
    if (!too_large) {
        const std::int64_t smallest = 1 - static_cast<std::int64_t>(format.bias);
        const std::int64_t leading = parts.exponent + width_of(parts.significand) - 1;
        const std::int64_t used = std::max(leading, smallest);
        const std::int64_t shift = used - mantissa_bits - parts.exponent;
        const std::int64_t steps = used - smallest;
        too_large = steps >= std::int64_t{1} << format.exponent_bits;
        if (!too_large) {
            // The hidden 1 adds one to the exponent's field; so does a carry out of the mantissa.
            magnitude = static_cast<Bits>(steps) << mantissa_bits;
            if (shift <= 0) {
                magnitude += parts.significand << -shift;
            } else {
                if (shift <= static_cast<std::int64_t>(width_of(parts.significand)))
                    magnitude += parts.significand >> shift;
                // The even pattern of two, also where there is no mantissa to be even.
                if (rounds_up(parts.significand, shift, (magnitude & 1) != 0)) ++magnitude;
            }
            too_large = magnitude > largest_magnitude<Bits>(format);
        }
    }
    if (format.sign_bits == 0 && parts.negative) {
        // What rounds to zero is zero; anything else has no place in a format without a sign.
        if (!too_large && magnitude == 0) return {0, Outcome::ok};
        if (overflow == Overflow::saturate) return {0, Outcome::ok};
        return {0, Outcome::not_positive};
    }
    if (!too_large) return {sign | magnitude, Outcome::ok};

    const Bits largest = sign | largest_magnitude<Bits>(format);
    const bool clamps = format.special == SpecialPatterns::none;
    switch (overflow) {
        case Overflow::saturate:
            return {largest, Outcome::ok};
        case Overflow::refuse:
            if (parts.what == Class::infinite && has_infinity) return {sign | infinity, Outcome::ok};
            return {0, Outcome::overflow};
        case Overflow::to_infinity:
            if (has_infinity) return {sign | infinity, Outcome::ok};
            return {clamps ? largest : sign | ones<Bits>(below_sign), Outcome::ok};
    }
    return {0, Outcome::overflow};
}

/// From one format to another.
template <typename Bits>
constexpr Encoded<Bits> convert_float(const FloatFormat& from, const FloatFormat& to, Bits bits,
                                      Overflow overflow) noexcept {
    return put_together(to, take_apart(from, bits), from.mantissa_bits, overflow);
}

}  // namespace hurray::values_detail

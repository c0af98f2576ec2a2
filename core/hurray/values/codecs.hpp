// One codec a kind of type: from the bits of an element to float32 or float64, and back.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/hurray/values/float_format.hpp"
#include "core/hurray/values/outcome.hpp"
#include "core/hurray/values/packing.hpp"
#include "core/hurray/values/rounding.hpp"

namespace hurray::values_detail {

static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);

template <typename Number>
inline constexpr FloatFormat native_format = sizeof(Number) == 4 ? float_formats::float32 : float_formats::float64;

template <typename Number>
using NativeBits = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;

/// A floating-point format that is known when this is compiled.
template <FloatFormat format>
struct FloatCodec {
    static constexpr unsigned bits = format.bits();
    static constexpr bool always_valid = true;
    using Bits = BitsOf<bits>;

    template <typename Number>
    static constexpr NativeBits<Number> native_bits(Bits element) noexcept {
        // The format's own type, where that is wider than 64 bits.
        using Work = std::conditional_t<(bits > 64), Wide, std::uint64_t>;
        // No number of these formats is beyond float32 that IEEE 754 would not make infinity.
        const auto native = convert_float<Work>(format, native_format<Number>, element, Overflow::to_infinity);
        return static_cast<NativeBits<Number>>(native.bits);
    }

    template <typename Number>
    static bool decode(Bits element, Number& number) noexcept {
        if constexpr (format == native_format<Number>) {
            number = std::bit_cast<Number>(element);
        } else if constexpr (bits <= 8) {
            number = std::bit_cast<Number>(table<Number>[element]);
        } else if constexpr (format == float_formats::float32) {
            // The processor's own conversion, but for NaN, which it makes quiet.
            const float narrow = std::bit_cast<float>(element);
            number = narrow == narrow ? narrow : std::bit_cast<Number>(native_bits<Number>(element));
        } else if constexpr (format == float_formats::float64) {
            const double wide = std::bit_cast<double>(element);
            number = wide == wide ? static_cast<Number>(wide) : std::bit_cast<Number>(native_bits<Number>(element));
        } else {
            number = std::bit_cast<Number>(native_bits<Number>(element));
        }
        return true;
    }

    template <typename Number>
    static Encoded<Bits> encode(Number number, Overflow overflow) noexcept {
        using Work = std::conditional_t<(bits > 64), Wide, std::uint64_t>;
        const auto native = std::bit_cast<NativeBits<Number>>(number);
        if constexpr (format == native_format<Number>) {
            if (overflow != Overflow::saturate) return {native, Outcome::ok};
        } else if constexpr (format == float_formats::float64) {
            if (number == number && overflow != Overflow::saturate) {
                return {std::bit_cast<Bits>(static_cast<double>(number)), Outcome::ok};
            }
        } else if constexpr (format == float_formats::float32) {
            if (number == number && overflow == Overflow::to_infinity) {
                return {std::bit_cast<Bits>(static_cast<float>(number)), Outcome::ok};
            }
        }
        const auto encoded = convert_float<Work>(native_format<Number>, format, native, overflow);
        return {static_cast<Bits>(encoded.bits), encoded.outcome};
    }

  private:
    template <typename Number>
    static constexpr auto make_table() noexcept {
        std::array<NativeBits<Number>, (bits <= 8 ? 1U << (bits % 32) : 1)> values{};
        for (std::size_t element = 0; element < values.size(); ++element) {
            values[element] = native_bits<Number>(static_cast<Bits>(element));
        }
        return values;
    }
    template <typename Number>
    static constexpr auto table = make_table<Number>();
};

/// Integers, in two's complement when signed.
struct IntegerRange {
    unsigned bits;
    bool is_signed;

    /// One more than the largest, which every float format here can say; a power of two.
    [[nodiscard]] constexpr double end() const noexcept {
        const unsigned exponent = is_signed ? bits - 1 : bits;
        return exponent == 64 ? 18446744073709551616.0 : static_cast<double>(std::uint64_t{1} << exponent);
    }
    [[nodiscard]] constexpr std::uint64_t mask() const noexcept { return ~std::uint64_t{0} >> (64 - bits); }
    [[nodiscard]] constexpr std::uint64_t largest() const noexcept { return is_signed ? mask() >> 1 : mask(); }
    [[nodiscard]] constexpr std::uint64_t smallest() const noexcept {
        return is_signed ? std::uint64_t{1} << (bits - 1) : 0;
    }
};

template <typename Number>
inline Number integer_to_native(const IntegerRange& range, std::uint64_t element) noexcept {
    if (!range.is_signed) return static_cast<Number>(element);
    const unsigned unused = 64 - range.bits;
    return static_cast<Number>(static_cast<std::int64_t>(element << unused) >> unused);
}

/// Rounded to the nearest integer, to the even one of two.
inline Encoded<std::uint64_t> integer_from_float64(const IntegerRange& range, double number,
                                                   Overflow overflow) noexcept {
    if (number != number) return {0, Outcome::nan};
    constexpr double all_integers = 4503599627370496.0;  // 2^52: from here on every float64 is an integer
    const double magnitude = number < 0 ? -number : number;
    if (magnitude < all_integers) {
        // The sum has no bits for a fraction, so that adding rounds as the processor does: to nearest, even.
        const double rounded = (magnitude + all_integers) - all_integers;
        number = number < 0 ? -rounded : rounded;
    }
    const double end = range.end();
    const double start = range.is_signed ? -end : 0.0;
    if (number >= start && number < end) {
        const std::uint64_t magnitude_bits = static_cast<std::uint64_t>(number < 0 ? -number : number);
        return {(number < 0 ? ~magnitude_bits + 1 : magnitude_bits) & range.mask(), Outcome::ok};
    }
    if (overflow == Overflow::saturate) return {number < start ? range.smallest() : range.largest(), Outcome::ok};
    return {0, number < 0 && !range.is_signed ? Outcome::not_positive : Outcome::overflow};
}

template <unsigned width, bool is_signed>
struct IntegerCodec {
    static constexpr unsigned bits = width;
    static constexpr bool always_valid = true;
    static constexpr IntegerRange range{width, is_signed};
    using Bits = BitsOf<bits>;

    template <typename Number>
    static bool decode(Bits element, Number& number) noexcept {
        number = integer_to_native<Number>(range, element);
        return true;
    }
    static Encoded<Bits> encode(double number, Overflow overflow) noexcept {
        const auto encoded = integer_from_float64(range, number, overflow);
        return {static_cast<Bits>(encoded.bits), encoded.outcome};
    }
};

/// True is 1. Only 0 and 1 become bool; saturated, everything but 0 is true.
struct BoolCodec {
    static constexpr unsigned bits = 1;
    static constexpr bool always_valid = true;
    using Bits = std::uint8_t;

    template <typename Number>
    static bool decode(Bits element, Number& number) noexcept {
        number = static_cast<Number>(element);
        return true;
    }
    static Encoded<Bits> encode(double number, Overflow overflow) noexcept {
        if (number != number) return {0, Outcome::nan};
        if (number == 0 || number == 1) return {static_cast<Bits>(number), Outcome::ok};
        if (overflow == Overflow::saturate) return {1, Outcome::ok};
        return {0, number < 0 ? Outcome::not_positive : Outcome::overflow};
    }
};

/// float8_e8m0: 2^(element - 127); 00 and FF are invalid as data.
struct ExponentCodec {
    static constexpr unsigned bits = 8;
    static constexpr bool always_valid = false;
    using Bits = std::uint8_t;
    static constexpr int bias = 127;
    static constexpr std::int64_t smallest = 0x01;
    static constexpr std::int64_t largest = 0xFE;

    template <typename Number>
    static bool decode(Bits element, Number& number) noexcept {
        if (element < smallest || element > largest) return false;
        constexpr FloatFormat native = native_format<Number>;
        number = std::bit_cast<Number>(static_cast<NativeBits<Number>>(
            static_cast<NativeBits<Number>>(element + native.bias - bias) << native.mantissa_bits));
        return true;
    }

    template <typename Number>
    static Encoded<Bits> encode(Number number, Overflow overflow) noexcept {
        const auto native = static_cast<std::uint64_t>(std::bit_cast<NativeBits<Number>>(number));
        const auto parts = take_apart<std::uint64_t>(native_format<Number>, native);
        if (parts.what == Class::not_a_number) return {0, Outcome::nan};
        if (parts.negative || (parts.what == Class::finite && parts.significand == 0))
            return {0, Outcome::not_positive};
        std::int64_t field = largest + 1;
        if (parts.what == Class::finite) {
            // Between two powers of two, the nearest; the one with the even field when it is exactly half way.
            const unsigned leading = width_of(parts.significand) - 1;
            field = parts.exponent + leading + bias;
            const std::uint64_t rest = parts.significand & ones<std::uint64_t>(leading);
            const std::uint64_t half = leading == 0 ? 1 : std::uint64_t{1} << (leading - 1);
            if (rest > half || (rest == half && (field & 1) != 0)) ++field;
        }
        if (field >= smallest && field <= largest) return {static_cast<Bits>(field), Outcome::ok};
        if (overflow == Overflow::saturate) {
            return {static_cast<Bits>(field < smallest ? smallest : largest), Outcome::ok};
        }
        return {0, Outcome::overflow};
    }
};

}  // namespace hurray::values_detail

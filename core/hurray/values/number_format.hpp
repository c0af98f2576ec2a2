// What the bits of an element mean as a number, for the types of the format and for private ones. (format: element
// types)
#pragma once

#include <cstdint>

#include "core/hurray/base/error.hpp"
#include "core/hurray/types/element_type.hpp"
#include "core/hurray/values/float_format.hpp"

namespace hurray {

namespace values_detail {
struct Kernels;
}

/// The fields of the extension section that say what the elements of a private type are.
struct PrivateNumber {
    std::uint32_t bit_width;
    bool is_float;
    /// Integers only.
    bool is_signed;
    /// Floating-point numbers only, like everything below.
    std::uint8_t sign_bits;
    std::uint8_t exponent_bits;
    std::uint8_t mantissa_bits;
    std::uint32_t exponent_bias;
    bool has_nan;
    bool has_inf;
};

/// A type of element, ready for conversion; cheap to copy, and usable by any number of threads. number_format makes
/// them.
struct NumberFormat {
    std::uint8_t tag;
    ElementKind kind;
    /// Bits of one element: 1, 2, 4, 6 or a multiple of 8, at most 128. Packed without gaps, the first element in the
    /// least significant bits.
    std::uint32_t bits;
    /// "private" for private types.
    const char* name;
    /// Of floating-point types; of one half of complex ones.
    FloatFormat floating;
    /// How it is converted.
    const values_detail::Kernels* kernels;
};

/// The number format of a type of the format.
/// @errors invalid_type: not the tag of a known type (private types need their extension section: see below)
Result<NumberFormat> number_format(std::uint8_t tag);

/// The number format of a private type.
/// @errors invalid_argument: not a private tag, or fields that contradict one another; unsupported: fields whose
/// numbers
///     the format does not define, or wider ones than are converted (docs/values.md lists them)
Result<NumberFormat> number_format(std::uint8_t tag, const PrivateNumber& fields);

/// Whether arithmetic on the values is defined here: sums, products, comparisons, statistics, quantization.
/// @errors unsupported: float128, which no other type holds without rounding, and private types wider than float64,
///     which are converted only
Result<void> check_arithmetic(const NumberFormat& format);

}  // namespace hurray

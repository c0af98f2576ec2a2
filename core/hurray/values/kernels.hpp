// The table of conversions: one row a type, one function a direction. A function is picked once for any number of
// elements.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include "core/hurray/values/float_format.hpp"
#include "core/hurray/values/number_format.hpp"
#include "core/hurray/values/outcome.hpp"

namespace hurray::values_detail {

/// How far a function came: `done` elements, and why not further.
struct Progress {
    std::size_t done;
    Outcome outcome;
};

/// Reads elements first to first + count - 1 of `data`.
template <typename Number>
using Read = Progress (*)(const NumberFormat& format, const std::byte* data, std::uint64_t first, Number* out,
                          std::size_t count) noexcept;

/// Writes elements first to first + count - 1 of `data`.
template <typename Number>
using Write = Progress (*)(const NumberFormat& format, const Number* numbers, std::size_t count, std::byte* data,
                           std::uint64_t first, Overflow overflow) noexcept;

/// The functions of a type. Null: a conversion that there is not.
struct Kernels {
    Read<float> to_float32;
    Read<double> to_float64;
    Read<std::complex<double>> to_complex128;
    Write<float> from_float32;
    Write<double> from_float64;
    Write<std::complex<double>> from_complex128;
};

struct Conversion {
    std::uint8_t tag;
    FloatFormat floating;
    Kernels kernels;
};

/// The row of a type; null when there is none.
const Conversion* find_conversion(std::uint8_t tag) noexcept;

extern const Kernels private_integer_kernels;
extern const Kernels private_float_kernels;

/// The functions of a type without vector instructions, which tests compare the others with; null when there is no row.
const Kernels* scalar_kernels(std::uint8_t tag) noexcept;

}  // namespace hurray::values_detail

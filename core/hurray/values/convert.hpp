// Elements as numbers and back. Every conversion rounds once, to the nearest number and to the even one of two;
// subnormal numbers are exact, and the payload of NaN is kept as far as the format has room for it. Where two bytes or
// more make an element, they are little-endian and need no alignment. (format: element types; docs/values.md)
//
// Everything here may be called by any number of threads at once on memory that none of them changes.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/values/number_format.hpp"
#include "core/hurray/values/outcome.hpp"

namespace hurray {

/// The bits of an element, as an unsigned number.
struct RawBits {
    std::uint64_t low = 0;
    /// Bits 64 to 127.
    std::uint64_t high = 0;
    bool operator==(const RawBits&) const = default;
};

// Reading. `data` is a packed run of elements; `first` and `index` count elements from its start, so that a run of
// packed elements can be entered in the middle of a byte. Errors of all of them, with the byte that the element starts
// in as offset, and the element's index in the message:
//   index_out_of_bounds  the elements do not lie within `data`; nothing is read then
//   unsupported          complex to real
//   invalid_type         a pattern that the type forbids as data (float8_e8m0 00 and FF); in the bulk functions, the
//                        elements before it are there

/// Elements first to first + out.size() - 1. Numbers beyond float32 become infinity, as IEEE 754 has it.
Result<void> to_float32(const NumberFormat& format, std::span<const std::byte> data, std::uint64_t first,
                        std::span<float> out);
/// As to_float32.
Result<void> to_float64(const NumberFormat& format, std::span<const std::byte> data, std::uint64_t first,
                        std::span<double> out);
/// As to_float32, of complex and of real types; the latter have the imaginary part 0.
Result<void> to_complex128(const NumberFormat& format, std::span<const std::byte> data, std::uint64_t first,
                           std::span<std::complex<double>> out);

Result<float> load_float32(const NumberFormat& format, std::span<const std::byte> data, std::uint64_t index);
Result<double> load_float64(const NumberFormat& format, std::span<const std::byte> data, std::uint64_t index);
Result<std::complex<double>> load_complex128(const NumberFormat& format, std::span<const std::byte> data,
                                             std::uint64_t index);
/// The bits as they are; also of patterns that are invalid as data.
Result<RawBits> load_bits(const NumberFormat& format, std::span<const std::byte> data, std::uint64_t index);

// Writing. The bits of other elements stay as they are; unused bits of the last byte are not touched, and memory that
// was zero keeps them zero, as the format wants them. Errors of all of them:
//   index_out_of_bounds  the elements do not lie within `data`; nothing is written then
//   unsupported          complex to real
//   invalid_argument     a number that the type cannot hold (docs/values.md): the message names its index; in the bulk
//                        functions, the elements before it are written

/// Elements first to first + numbers.size() - 1. Integers are rounded, too; complex types get the imaginary part 0.
Result<void> from_float32(const NumberFormat& format, std::span<const float> numbers, std::span<std::byte> data,
                          std::uint64_t first, Overflow overflow = Overflow::to_infinity);
/// As from_float32.
Result<void> from_float64(const NumberFormat& format, std::span<const double> numbers, std::span<std::byte> data,
                          std::uint64_t first, Overflow overflow = Overflow::to_infinity);
/// As from_float32, to complex types only.
Result<void> from_complex128(const NumberFormat& format, std::span<const std::complex<double>> numbers,
                             std::span<std::byte> data, std::uint64_t first, Overflow overflow = Overflow::to_infinity);

Result<void> store_float32(const NumberFormat& format, std::span<std::byte> data, std::uint64_t index, float number,
                           Overflow overflow = Overflow::to_infinity);
Result<void> store_float64(const NumberFormat& format, std::span<std::byte> data, std::uint64_t index, double number,
                           Overflow overflow = Overflow::to_infinity);
Result<void> store_complex128(const NumberFormat& format, std::span<std::byte> data, std::uint64_t index,
                              std::complex<double> number, Overflow overflow = Overflow::to_infinity);
/// The bits as they are, invalid patterns included.
/// @errors invalid_argument: bits beyond the element's width are set
Result<void> store_bits(const NumberFormat& format, std::span<std::byte> data, std::uint64_t index, RawBits bits);

}  // namespace hurray

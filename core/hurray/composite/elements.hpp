// Single elements of composites. (format: composite, composition semantics; docs/formats/composites.md)
//
// What a function here gives for an index is what merged() has there, bit for bit.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/composite/composite.hpp"
#include "core/hurray/values/convert.hpp"

namespace hurray {

/// Where an element of a partition lies.
struct ElementPlace {
    /// One of the composite's tensors, at whatever level.
    const Tensor* tensor = nullptr;
    /// The element's index in it, `rank` numbers.
    std::array<std::uint64_t, max_rank> storage{};
    std::uint32_t rank = 0;

    [[nodiscard]] std::span<const std::uint64_t> index() const noexcept { return {storage.data(), rank}; }
};

/// Finds the tensor that an element of a partition lies in, without touching any data. Takes the time of member_at for
/// every level.
/// @param index one value a dimension of the head
/// @errors invalid_argument: not one value a dimension; index_out_of_bounds; unsupported: an overlay, a group or a
/// private
///     rule, at the top or where the index leads
Result<ElementPlace> locate(const Composite& composite, std::span<const std::uint64_t> index);

/// The bits of an element, in the head's type: those of the member that it lies in; the dequantized number where that
/// is quantized; of overlays the last correction that has the element, or the sum of all (see ElementAdder).
/// @param index one value a dimension of the head
/// @errors invalid_argument: not one value a dimension; index_out_of_bounds; unsupported: a group, a private rule or
///     layout, an opaque descriptor, a type without a number format, sums that are not defined, memory that the CPU
///     cannot read; as SparseView and dequantize_element for members that are sparse or quantized
Result<RawBits> get_bits(const Composite& composite, std::span<const std::uint64_t> index);

/// As get_bits, as a number.
/// @errors as get_bits and load_float64
Result<double> get_float64(const Composite& composite, std::span<const std::uint64_t> index);

/// As get_bits, as a complex number; of real types with the imaginary part 0.
/// @errors as get_bits and load_complex128
Result<std::complex<double>> get_complex128(const Composite& composite, std::span<const std::uint64_t> index);

}  // namespace hurray

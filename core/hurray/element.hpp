// One element of a tensor: where it is, and what it is. (format: element address computation; the layouts' element
// lookup; dequantization)
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "core/hurray/base/error.hpp"
#include "core/hurray/layout/address.hpp"
#include "core/hurray/layout/paged_view.hpp"
#include "core/hurray/layout/sparse_view.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/types/element_type.hpp"
#include "core/hurray/values/convert.hpp"

namespace hurray {

/// The bits of an element: `bits` of them from bit `bit` of byte `byte` on, the lowest first. Bits of a byte are counted
/// from the lowest; `bit` is 0 for types of whole bytes.
struct ElementAddress {
    /// Entry of the buffer table.
    std::uint32_t buffer = 0;
    std::uint32_t bits = 0;
    std::uint32_t bit = 0;
    /// From the start of the buffer.
    std::uint64_t byte = 0;

    friend bool operator==(const ElementAddress&, const ElementAddress&) = default;
};

/// Reads elements one by one, of every layout that has elements: dense, sparse (an element that is not stored is 0), and
/// block-paged. Each place is checked when it is used, and nothing outside the buffers is read, nor in the bytes before
/// lent memory that belong to somebody else, whatever the index arrays hold.
///
/// An index has one value a dimension. That of a block-paged tensor may also have four: sequence, token of the sequence,
/// head, element; with three, it must be known how many tokens each sequence has (see PagedView).
///
/// Refers to the tensor. Thread rule: may be read by any number of threads.
class ElementReader {
  public:
    /// @param token_counts of block-paged tensors, see PagedView; empty when they are not known, and for other layouts
    /// @errors unsupported: a composite head, a private layout, an opaque descriptor, memory that the CPU cannot read;
    ///     invalid_layout: a dynamic dimension, or elements in the bytes of somebody else; as check_host_buffers,
    ///     SparseView::make, PagedView::make; invalid_argument: token_counts for another layout; limit_exceeded: elements
    ///     beyond 2^60 bytes
    static Result<ElementReader> make(const Tensor& tensor, std::span<const std::uint64_t> token_counts = {});

    // Errors of all of them: invalid_argument, another number of values in the index; index_out_of_bounds; as
    // SparseView::find and PagedView::find.

    /// Where an element is; nothing for one that is not stored.
    [[nodiscard]] Result<std::optional<ElementAddress>> address(std::span<const std::uint64_t> index) const;
    /// The stored element as a number, rounded to nearest where float64 cannot hold it. Of a quantized tensor that is the
    /// number that is stored.
    /// @errors unsupported: complex types, private types without defined numbers; invalid_type: a pattern that is no
    ///     element (float8_e8m0)
    [[nodiscard]] Result<double> float64(std::span<const std::uint64_t> index) const;
    /// As float64, of complex types, too; real ones have the imaginary part 0.
    [[nodiscard]] Result<std::complex<double>> complex128(std::span<const std::uint64_t> index) const;
    /// The bits as they are stored; 0 for an element that is not.
    /// @errors unsupported: elements of more than 128 bits
    [[nodiscard]] Result<RawBits> bits(std::span<const std::uint64_t> index) const;
    /// The number that a quantized element stands for, in float32 as the format says; 0 for one that is not stored.
    /// @errors invalid_argument: the tensor is not quantized; invalid_quantization: the scheme forbids the element's own
    ///     scale or zero point; as dequantize_element
    [[nodiscard]] Result<float> dequantized(std::span<const std::uint64_t> index) const;

  private:
    using Place = std::variant<AddressMap, SparseView, PagedView>;

    ElementReader(const Tensor& tensor, Place&& place);

    [[nodiscard]] Result<std::optional<std::int64_t>> offset(std::span<const std::uint64_t> index) const;
    // The bytes of the group that an element is in, and its number in the group.
    struct Stored {
        std::span<const std::byte> bytes;
        std::uint64_t index;
    };
    [[nodiscard]] Stored stored(std::int64_t offset) const;
    [[nodiscard]] Result<std::uint64_t> entry(std::span<const std::uint64_t> index, std::int64_t offset) const;

    const Tensor* tensor_;
    ElementTypeInfo type_;
    Result<NumberFormat> format_;
    Place place_;
};

/// Where an element is; nothing for one that is not stored. Of dense tensors nothing is read, so that their memory may be
/// anywhere. For more than one element make an ElementReader.
/// @errors as ElementReader
Result<std::optional<ElementAddress>> element_address(const Tensor& tensor, std::span<const std::uint64_t> index);

/// ElementReader::float64 for one element.
Result<double> get_float64(const Tensor& tensor, std::span<const std::uint64_t> index);
/// ElementReader::complex128 for one element.
Result<std::complex<double>> get_complex128(const Tensor& tensor, std::span<const std::uint64_t> index);
/// ElementReader::bits for one element.
Result<RawBits> get_bits(const Tensor& tensor, std::span<const std::uint64_t> index);
/// ElementReader::dequantized for one element.
Result<float> get_dequantized(const Tensor& tensor, std::span<const std::uint64_t> index);

}  // namespace hurray

// Single elements of tensors of any layout. (format: element address computation)
#include <complex>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/compute.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/foreign.hpp"
#include "abi/src/internal/objects.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/element.hpp"

using namespace hurray;
using namespace hurray::abi;

namespace {

// Calls `get` with a tensor of ours and an index, and gives what it found to `use`.
template <typename Get, typename Use>
Result<void> with_element(const HurrayTensor* tensor, const std::uint64_t* index, std::uint32_t rank, Get&& get, Use&& use) {
    auto local = LocalTensor::of(tensor);
    if (!local) return std::unexpected(local.error());
    const Tensor core = core_tensor(**local);
    auto found = get(core, std::span(index, rank));
    if (!found) return std::unexpected(found.error());
    return use(core, *found);
}

}  // namespace

/// Tells where an element is. Of dense tensors no memory is read, so that it may be anywhere.
/// @param index one value a dimension; of a block-paged tensor three, or four: sequence, token in it, head, element
/// @errors INVALID_ARGUMENT: another number of values; INDEX_OUT_OF_BOUNDS; UNSUPPORTED: a composite head, a private layout, an
///     opaque descriptor, memory that the CPU cannot read; INVALID_LAYOUT: a dynamic dimension, index arrays that lead to
///     nowhere; INVALID_SYNC_MODE: not PRODUCER_SYNCED, where memory is read
/// @thread one thread at a time
/// @since 4
/// @spec format: element address computation
HURRAY_API HurrayStatus hurray_tensor_element_address(HG_IN const HurrayTensor* tensor, HG_IN_ARRAY(rank) const uint64_t* index,
                                                      uint32_t rank, HG_OUT HurrayElementAddress* out_address,
                                                      HG_ERROR HurrayError* error) noexcept {
    if (out_address != nullptr) clear_sized_struct(out_address);
    HURRAY_REQUIRE_EXCHANGE(tensor, error);
    if (index == nullptr && rank != 0) return report_null("index", error);
    HURRAY_REQUIRE(out_address, error);
    return guarded(error, [&]() -> Result<void> {
        return with_element(tensor, index, rank, element_address,
                            [&](const Tensor&, const std::optional<ElementAddress>& place) -> Result<void> {
                                HurrayElementAddress address{};
                                if (place) {
                                    address.buffer = place->buffer;
                                    address.byte_offset = place->byte;
                                    address.bit_offset = place->bit;
                                    address.bits = place->bits;
                                    address.present = 1;
                                }
                                return fill_sized_struct(out_address, address, sizeof address, "out_address");
                            });
    });
}

/// Reads an element as a number, rounded to nearest where float64 cannot hold it. Of a quantized tensor that is the number that
/// is stored, see hurray_tensor_element_dequantized.
/// @param index as in hurray_tensor_element_address
/// @errors as hurray_tensor_element_address; UNSUPPORTED: complex types, private types without defined numbers; INVALID_TYPE: a
///     pattern that is no element; INVALID_SYNC_MODE: not PRODUCER_SYNCED
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_tensor_element_float64(HG_IN const HurrayTensor* tensor, HG_IN_ARRAY(rank) const uint64_t* index,
                                                      uint32_t rank, HG_OUT double* out_value,
                                                      HG_ERROR HurrayError* error) noexcept {
    if (out_value != nullptr) *out_value = 0;
    HURRAY_REQUIRE_EXCHANGE(tensor, error);
    if (index == nullptr && rank != 0) return report_null("index", error);
    HURRAY_REQUIRE(out_value, error);
    return guarded(error, [&]() -> Result<void> {
        return with_element(
            tensor, index, rank, [](const Tensor& core, std::span<const std::uint64_t> at) { return get_float64(core, at); },
            [&](const Tensor&, double value) -> Result<void> {
                *out_value = value;
                return {};
            });
    });
}

/// Reads an element as a complex number; of real types with the imaginary part 0.
/// @param index as in hurray_tensor_element_address
/// @errors as hurray_tensor_element_float64
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_tensor_element_complex128(HG_IN const HurrayTensor* tensor, HG_IN_ARRAY(rank) const uint64_t* index,
                                                         uint32_t rank, HG_OUT double* out_real, HG_OUT double* out_imaginary,
                                                         HG_ERROR HurrayError* error) noexcept {
    if (out_real != nullptr) *out_real = 0;
    if (out_imaginary != nullptr) *out_imaginary = 0;
    HURRAY_REQUIRE_EXCHANGE(tensor, error);
    if (index == nullptr && rank != 0) return report_null("index", error);
    HURRAY_REQUIRE(out_real, error);
    HURRAY_REQUIRE(out_imaginary, error);
    return guarded(error, [&]() -> Result<void> {
        return with_element(
            tensor, index, rank, [](const Tensor& core, std::span<const std::uint64_t> at) { return get_complex128(core, at); },
            [&](const Tensor&, std::complex<double> value) -> Result<void> {
                *out_real = value.real();
                *out_imaginary = value.imag();
                return {};
            });
    });
}

/// Reads the bits of an element as they are stored; all 0 for one of a sparse tensor that is not.
/// @param index as in hurray_tensor_element_address
/// @errors as hurray_tensor_element_address; UNSUPPORTED: elements of more than 128 bits; INVALID_SYNC_MODE: not PRODUCER_SYNCED
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_tensor_element_bits(HG_IN const HurrayTensor* tensor, HG_IN_ARRAY(rank) const uint64_t* index,
                                                   uint32_t rank, HG_OUT HurrayElementBits* out_bits,
                                                   HG_ERROR HurrayError* error) noexcept {
    if (out_bits != nullptr) clear_sized_struct(out_bits);
    HURRAY_REQUIRE_EXCHANGE(tensor, error);
    if (index == nullptr && rank != 0) return report_null("index", error);
    HURRAY_REQUIRE(out_bits, error);
    return guarded(error, [&]() -> Result<void> {
        return with_element(
            tensor, index, rank, [](const Tensor& core, std::span<const std::uint64_t> at) { return get_bits(core, at); },
            [&](const Tensor& core, const RawBits& raw) -> Result<void> {
                HurrayElementBits bits{};
                bits.bits = element_type_info(core.descriptor).bits;
                bits.low = raw.low;
                bits.high = raw.high;
                return fill_sized_struct(out_bits, bits, sizeof bits, "out_bits");
            });
    });
}

/// Reads the number that a quantized element stands for, worked out in float32 as the format says.
/// @param index as in hurray_tensor_element_address
/// @errors as hurray_tensor_element_address; INVALID_ARGUMENT: not quantized; those of hurray_tensor_dequantize
/// @thread one thread at a time
/// @since 4
/// @spec format: quantization
HURRAY_API HurrayStatus hurray_tensor_element_dequantized(HG_IN const HurrayTensor* tensor, HG_IN_ARRAY(rank) const uint64_t* index,
                                                          uint32_t rank, HG_OUT double* out_value,
                                                          HG_ERROR HurrayError* error) noexcept {
    if (out_value != nullptr) *out_value = 0;
    HURRAY_REQUIRE_EXCHANGE(tensor, error);
    if (index == nullptr && rank != 0) return report_null("index", error);
    HURRAY_REQUIRE(out_value, error);
    return guarded(error, [&]() -> Result<void> {
        return with_element(tensor, index, rank, get_dequantized, [&](const Tensor&, float value) -> Result<void> {
            *out_value = static_cast<double>(value);
            return {};
        });
    });
}

// Runs of stored elements through the kernels of their scheme.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/quantization/float_sink.hpp"
#include "core/hurray/quantization/kernels.hpp"
#include "core/hurray/quantization/parameter_arrays.hpp"
#include "core/hurray/quantization/stored_values.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/transcode/options.hpp"

namespace hurray::quantization_detail {

/// Makes numbers of one piece of elements after the other. Pieces have at most FloatSink::piece elements, which start at
/// a whole byte; entries are those of the parameter arrays, and all of them exist.
///
/// Refers to all it was made from. Thread rule: one thread at a time.
class Dequantizer {
  public:
    static constexpr std::size_t piece = FloatSink::piece;
    /// The smallest blocks that have a kernel of their own.
    static constexpr std::size_t small_block = 16;

    Dequantizer(const Kernels& kernels, const StoredValues& stored, const ParameterArrays& arrays, FloatSink& sink,
                Work& work) noexcept
        : stored_(stored),
          arrays_(arrays),
          sink_(sink),
          work_(work),
          blocks_(kernels.block_kernel(stored.codes)),
          elements_(kernels.element_kernel(stored.codes)) {}
    Dequantizer(const Dequantizer&) = delete;
    Dequantizer& operator=(const Dequantizer&) = delete;

    [[nodiscard]] unsigned bits() const noexcept { return bits_of(stored_.codes); }
    [[nodiscard]] const ParameterArrays& arrays() const noexcept { return arrays_; }

    /// Elements that share an entry.
    [[nodiscard]] bool one_entry(const std::byte* codes, std::size_t count, std::uint64_t entry);
    /// Blocks of consecutive entries; the piece starts with a block, or lies within one.
    [[nodiscard]] bool blocks(const std::byte* codes, std::size_t count, std::uint64_t first_entry, std::size_t block);
    /// An entry an element, one after the other in the arrays.
    [[nodiscard]] bool consecutive_entries(const std::byte* codes, std::size_t count, std::uint64_t first_entry);
    /// A scale an element; zeros may be null.
    [[nodiscard]] bool elements(const std::byte* codes, std::size_t count, const float* scales,
                                const std::int32_t* zeros);

  private:
    [[nodiscard]] Run run(const std::byte* codes) noexcept {
        return {.codes = codes, .levels = stored_.levels.data(), .out = sink_.room()};
    }
    [[nodiscard]] bool finish(std::size_t count) {
        sink_.take(count);
        return work_.advance(count);
    }

    const StoredValues& stored_;
    const ParameterArrays& arrays_;
    FloatSink& sink_;
    Work& work_;
    BlockKernel blocks_;
    ElementKernel elements_;
    std::array<float, piece> scales_;
    std::array<std::int32_t, piece> zeros_;
};

/// All elements of a dense tensor in the order of the result. Each function returns false when the work shall stop.
/// @errors as dequantize
Result<bool> dequantize_dense(const Tensor& tensor, const QuantizationFields& fields, Dequantizer& dequantizer,
                              Work& work);
/// All slots of a block-paged tensor in the order of the pool.
Result<bool> dequantize_paged(const Tensor& tensor, const QuantizationFields& fields, Dequantizer& dequantizer,
                              Work& work);
/// The values of a sparse tensor in the order of storage.
Result<bool> dequantize_sparse(const Tensor& tensor, const QuantizationFields& fields, Dequantizer& dequantizer);

/// dequantize_into with a set of kernels of the caller's choice.
Result<void> dequantize_with(const Kernels& kernels, const Tensor& tensor, std::uint8_t target_type,
                             std::span<std::byte> out, const WorkOptions& options);

}  // namespace hurray::quantization_detail

// From floating-point numbers to quantized elements. (format: quantization; docs/quantization.md)
#pragma once

#include <cstdint>

#include "core/hurray/base/error.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/transcode/options.hpp"

namespace hurray {

/// How to quantize. Fields that the scheme does not have keep the values given here; anything else is refused.
struct QuantizeSpec {
    /// See scheme_tag: one of the five schemes of the format.
    std::uint8_t scheme = 0;
    /// Type tag of the stored elements; the scheme says which it takes.
    std::uint8_t storage_type = 0;
    /// Type tag of the scales: per-block float16, bfloat16 or float32; 0 is what the scheme has (float32 per block).
    std::uint8_t scale_type = 0;
    /// Affine schemes: all zero points are 0, and the steps reach as far down as up (-127 to 127 for int8). Otherwise
    /// they reach from the smallest to the largest number, 0 included.
    bool symmetric = false;
    /// The dimension along which channels or blocks follow each other: all schemes but per-tensor.
    std::uint32_t axis = 0;
    /// Elements of a block along the axis: per-block, NF4 and MXFP.
    std::uint32_t block_size = 0;
};

/// A new quantized tensor: row-major, short last blocks padded with zeros, its buffers the elements, the scales and,
/// where there are any, the zero points. It passes every check of decode. A shard section and a composite member section
/// are kept; statistics are not.
///
/// Each scheme takes the scale that the numbers of the tensor, channel or block need, and then for each number the
/// nearest step (docs/quantization.md: formulas, rounding, bounds of the error).
///
/// The unit of progress is elements.
/// Thread rule: any thread; the tensor is only read.
/// @param tensor dense (any layout), of float16, bfloat16, float32 or float64, not quantized, in memory that the CPU
///     can read
/// @errors invalid_argument: a field of the spec (named in the message), a number that is NaN, infinite or beyond float32
///     or a negative one where the spec leaves no room for it (the message has its row-major index), a scale beyond its type
///     (the message has the index of the scale), neither with an offset, which would be in bytes; invalid_type: another
///     element type; unsupported: a layout that is not dense, a tensor that is quantized
///     already, memory that the CPU cannot read; invalid_layout: a dynamic dimension; limit_exceeded, out_of_memory,
///     cancelled
Result<Tensor> quantize(const Tensor& tensor, const QuantizeSpec& spec, const WorkOptions& options = {});

}  // namespace hurray

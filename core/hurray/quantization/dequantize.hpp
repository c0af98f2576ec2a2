// From quantized elements to floating-point numbers. (format: quantization, dequantization formula; docs/quantization.md)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/transcode/options.hpp"

namespace hurray {

/// A new tensor with the numbers that the quantized elements stand for. Every number is worked out in float32, as the
/// format says, and then converted once to the target type (to nearest, ties to even; beyond its range infinity).
///
/// Dense tensors become row-major, column-major ones stay column-major: byte_offset 0, no padding of short blocks.
/// Sparse and block-paged tensors keep their layout and share all buffers but the values. Shard and composite member
/// sections are kept; the quantization section goes, and so do the statistics, which are about the stored elements.
/// Slots of a page that no token uses may hold anything, here as there. Two entries of an unsorted COO tensor with the
/// same index are not looked for: values stay at their positions, so that the result has them as well.
///
/// The unit of progress is elements.
/// Thread rule: any thread; the tensor is only read.
/// @param tensor with a quantization section of one of the five schemes of the format, in memory that the CPU can read
/// @param target_type tag of float16, bfloat16, float32 or float64
/// @errors invalid_argument: no quantization section, another target type, buffers that are not those of the
///     descriptor; unsupported: a private scheme, an opaque descriptor, a composite head, blocks of a scheme in a layout
///     for which the format does not define them, memory that the CPU cannot read; invalid_layout: a dynamic dimension;
///     invalid_quantization: a scale or zero point that the scheme forbids (the message names its index; the offset is
///     that of its byte in its buffer); limit_exceeded, out_of_memory, cancelled
Result<Tensor> dequantize(const Tensor& tensor, std::uint8_t target_type, const WorkOptions& options = {});

/// As dequantize, into memory of the caller: the elements of a dense tensor in row-major order (of a column-major one
/// in column-major order), those of a sparse tensor in the order of its values, all slots of a block-paged tensor. They
/// need no alignment. After an error `out` holds anything.
/// @param out exactly as many bytes as these elements have
/// @errors as dequantize; invalid_argument: another size of `out`
Result<void> dequantize_into(const Tensor& tensor, std::uint8_t target_type, std::span<std::byte> out,
                             const WorkOptions& options = {});

/// How many elements dequantize_into writes: those of a dense tensor, the values of a sparse one, all slots of the
/// pages.
/// @errors as dequantize, as far as the descriptor tells
Result<std::uint64_t> dequantized_count(const Descriptor& descriptor);

/// The number that one stored element stands for, in float32. Of the scales and zero points those of its entry are
/// checked, and no others.
/// @param entry which entry of the arrays of scales and zero points it belongs to, see quantization_entry; for
///     block-paged tensors with a scale for each slot, the slot
/// @param code the bits of the element
/// @errors as dequantize; index_out_of_bounds: entry
Result<float> dequantize_element(const Tensor& tensor, std::uint64_t entry, std::uint64_t code);

/// The entry of the arrays of scales and zero points that the element at an index belongs to; 0 for the per-tensor
/// scheme.
/// @param index one value a dimension
/// @errors as dequantize, as far as the descriptor tells; invalid_argument: not one value a dimension;
///     index_out_of_bounds; unsupported: block-paged tensors with a scale for each slot, whose entries are not told by
///     the index alone
Result<std::uint64_t> quantization_entry(const Descriptor& descriptor, std::span<const std::uint64_t> index);

}  // namespace hurray

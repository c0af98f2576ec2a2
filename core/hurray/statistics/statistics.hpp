// What a statistics section says of the elements, worked out from them. (format: statistics section;
// docs/statistics.md)
#pragma once

#include <cstdint>

#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/statistics_section.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/transcode/options.hpp"

namespace hurray {

/// Works the statistics out that a mask asks for, in one pass over the elements: numbers in float64, dequantized where
/// they are quantized, of a sparse tensor with all the elements that it does not store, which are 0. The mean and the
/// deviation are combined from blocks, so that neither large numbers of elements nor large means spoil them.
///
/// What has no answer for these elements is left out of computed_mask: sparsity_ratio and the range of no elements, the
/// range of nothing but NaN, mean and deviation of no elements or beside NaN or infinity. Fields that are not computed
/// are 0.
///
/// Takes no memory that grows with the tensor, but for quantized tensors (4 bytes an element that is stored) and, where
/// nm_sparsity is asked for, sparse ones whose entries are not in row-major order (8 bytes an entry). The unit of
/// progress is bytes of elements that are stored. Thread rule: any thread; the tensor is only read.
/// @param tensor dense, sparse or block-paged, without a dynamic dimension, in memory that the CPU can read
/// @param mask of statistics_bit
/// @errors invalid_argument: a mask with other bits; unsupported: range or moments of complex numbers, float128 and
///     private types wider than float64, composite heads (see merged), private layouts, block-paged tensors of which it
///     is not known which tokens there are, opaque descriptors, memory that the CPU cannot read; invalid_type: a
///     pattern that the type forbids; invalid_layout: a dynamic dimension, index arrays or page tables that break a
///     rule; as dequantize for quantized tensors; limit_exceeded, out_of_memory, cancelled
Result<StatisticsFields> compute_statistics(const Tensor& tensor, std::uint32_t mask = statistics_bit::all,
                                            const WorkOptions& options = {});

}  // namespace hurray

// The third level: what is in the buffers. A check is a file and its line in data_check.cpp.
#pragma once

#include "core/hurray/base/error.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/transcode/options.hpp"

namespace hurray::validation_detail {

/// @param tensor that passed the second level
/// @errors as validate
Result<void> check_data(const Tensor& tensor, const WorkOptions& options);

// The checks. Each of them takes a tensor that passed the second level, whose buffers are exactly as long as its
// descriptor says, in memory that the CPU can read, and whose index arrays, if it has any, keep their rules; each does
// nothing for tensors that it is not about.

/// Elements of float8_e8m0 are neither 00 nor FF.
/// @errors invalid_type
Result<void> check_elements_data(const Tensor& tensor, const WorkOptions& options);
/// Bits of the last byte (of the last three bytes of 6-bit types) that no element has are 0. Not looked at where a
/// tensor is strided: they may belong to other elements.
/// @errors invalid_layout
Result<void> check_unused_bits(const Tensor& tensor, const WorkOptions& options);
/// Elements of short last blocks that are beyond the shape are 0.
/// @errors invalid_quantization
Result<void> check_block_padding(const Tensor& tensor, const WorkOptions& options);
/// The tables of a block-paged tensor: pointers that start at 0 and do not fall, pages that there are.
/// @errors invalid_layout
Result<void> check_block_paged_data(const Tensor& tensor, const WorkOptions& options);
/// Scales and zero points of the slots of a block-paged tensor that tokens are in.
/// @errors invalid_quantization
Result<void> check_slot_parameters(const Tensor& tensor, const WorkOptions& options);

}  // namespace hurray::validation_detail

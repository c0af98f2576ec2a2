// The values of scales and zero points. (format: quantization, validity constraints of each scheme)
#pragma once

#include <cstdint>

#include "core/hurray/base/error.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// Checks what the scheme says of the values in the parameter buffers: affine scales are finite and not 0, those of NF4
/// finite and not negative, those of MXFP neither 00 nor FF; zero points are numbers of the storage type. Of block-paged
/// tensors with parameters for each slot nothing is checked: which slots hold tokens is not known here.
///
/// Thread rule: any thread; the buffers are only read.
/// @param tensor whose buffers are those of its descriptor, in memory that the CPU can read (see check_host_buffers)
/// @errors invalid_quantization: the first entry at fault is named; the offset is that of its byte in its buffer
Result<void> check_quantization_parameters(const Tensor& tensor);

namespace quantization_detail {

class ParameterArrays;
struct StoredValues;

/// As check_quantization_parameters, of one scale and its zero point; of slots of block-paged tensors, too.
/// @param fields of a known scheme; `arrays` and `stored` are made from them
/// @param entry below arrays.entries()
/// @errors invalid_quantization: the offset is that of the byte of the scale or the zero point in its buffer
Result<void> check_quantization_entry(const QuantizationFields& fields, const ParameterArrays& arrays,
                                      const StoredValues& stored, std::uint64_t entry);

}  // namespace quantization_detail

}  // namespace hurray

// A tensor in another layout. (format: memory layout)
#pragma once

#include "core/hurray/base/error.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/transcode/options.hpp"
#include "core/hurray/transcode/transcode_spec.hpp"

namespace hurray {

/// Makes a new tensor with the same elements, bit for bit, in another layout: dense to dense, dense to sparse, sparse
/// to dense, sparse to sparse, block-paged to dense. Padding (of tiles, curves, gaps between strides, unused bits) is
/// 0. The result is in host memory and starts where its layout lets it; the sections of the source are kept. Of a
/// quantized tensor the buffers with scales and zero points are shared with the source where they are of standard
/// memory, else copied.
///
/// The unit of progress is bytes of elements; from dense to sparse it is elements, from sparse entries, see
/// sparse_transcode.hpp. Thread rule: any number of threads at a time.
/// @param tensor in host memory, none of whose dimensions is dynamic; its descriptor fits its buffers
/// @errors unsupported: a pair of layouts that docs/transcode.md does not list, an opaque descriptor, a private
///     scheme of quantization, memory that is not the host's; invalid_argument: alignment, missing buffers, strides
///     that share places, fields of another layout, another Hilbert order than the shape's; invalid_layout: a dynamic
///     dimension, elements that reach into memory that is not the buffer's, fields that the layout refuses;
///     limit_exceeded: memory_limit, or tensors beyond 2^60 bytes; out_of_memory; cancelled
Result<Tensor> transcode(const Tensor& tensor, const TranscodeSpec& spec, const WorkOptions& options = {});

}  // namespace hurray

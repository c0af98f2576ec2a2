// From and to sparse layouts. (format: COO, CSR, CSC, CSF)
#pragma once

#include <cstdint>

#include "core/hurray/base/error.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/transcode/options.hpp"
#include "core/hurray/transcode/transcode_spec.hpp"

namespace hurray {

/// Makes a sparse tensor of a dense one. An element is stored unless all its bits are 0: so is a negative zero. COO
/// comes out sorted. Sections are kept; where the statistics have nnz, it becomes that of the layout. Buffers with
/// parameters of a quantization scheme are shared with the source, see carry_parameters.
///
/// Takes time linear in the number of elements, and no memory besides the result. The unit of progress is elements
/// looked at, of which each is looked at twice: first to count those that are stored, which ends as soon as they take
/// more memory than they may. Thread rule: any thread; the tensor is only read.
/// @param tensor of a dense layout, without a dynamic dimension, in memory that the CPU can read
/// @param spec layout: coo, csr, csc or csf; mode_order; alignment
/// @errors as check_host_buffers; unsupported: another layout, an opaque descriptor, a shard as CSF, a quantization
/// scheme
///     for which bits of 0 are not the number 0 (docs/formats/sparse-layouts.md); invalid_argument: fields of other
///     layouts, mode_order, alignment, a rank that the layout does not have; invalid_layout: a dynamic dimension;
///     limit_exceeded, out_of_memory, cancelled
Result<Tensor> sparse_from_dense(const Tensor& tensor, const TranscodeSpec& spec, const WorkOptions& options = {});

/// Makes a sparse tensor of a sparse one: the same entries, those whose value is 0 included, bit for bit. COO comes out
/// sorted. Sections and parameters as above.
///
/// Takes time linear in the sizes of the index arrays. Where the entries must be sorted for it, it takes 32 bytes for each
/// entry and 16 beside the result. The unit of progress is index entries read and entries moved.
/// @param tensor COO, CSR, CSC or CSF; its data is checked as for_each of SparseView does, and two entries with the same
///     index are found where an unsorted COO tensor has them
/// @param spec as above
/// @errors as above, but any of the five schemes of the format will do; invalid_layout: data that breaks a rule of the
///     format (the offset is that of the entry at fault in its buffer); as SparseView::make
Result<Tensor> sparse_from_sparse(const Tensor& tensor, const TranscodeSpec& spec, const WorkOptions& options = {});

/// Makes a dense tensor of a sparse one: elements that are not stored have bits of 0.
///
/// Takes time linear in the sizes of the index arrays and of the result, and memory for the result only, but for
/// unsorted COO, see above. The unit of progress is as there.
/// @param spec any dense layout and its fields, as for transcode
/// @errors as sparse_from_sparse, with the schemes of sparse_from_dense; as transcode for spec
Result<Tensor> dense_from_sparse(const Tensor& tensor, const TranscodeSpec& spec, const WorkOptions& options = {});

}  // namespace hurray

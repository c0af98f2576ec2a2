// The rules of the format for what is in the index arrays of sparse tensors. (format: COO, CSR, CSC, CSF, validity)
#pragma once

#include "core/hurray/base/error.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/transcode/options.hpp"

namespace hurray {

/// Checks all indices of a COO tensor: bounds; where they are sorted, their order; and that no two are the same. Takes
/// time linear in their number. Of unsorted ones a bit for each element of the shape is noted, or, where that would take
/// more memory, 32 bytes for each entry.
///
/// The unit of progress is index entries looked at.
/// Thread rule: any thread; the tensor is only read.
/// @errors invalid_layout: the offset is that of the entry at fault in its buffer, the message names buffer, entry, and
///     what was expected; as SparseView::make; limit_exceeded, out_of_memory, cancelled
Result<void> check_coo_data(const Tensor& tensor, const WorkOptions& options = {});

/// As above for CSR and CSC: pointers start at 0, do not fall and end at nnz; indices ascend in each row (column) and are
/// within the shape. Takes no memory.
/// @errors as check_coo_data
Result<void> check_compressed_data(const Tensor& tensor, const WorkOptions& options = {});

/// As above for CSF: on every level positions start at 0, do not fall and end at the number of nodes; coordinates ascend
/// below each node and are within the shape. Takes no memory.
/// @errors as check_coo_data
Result<void> check_csf_data(const Tensor& tensor, const WorkOptions& options = {});

}  // namespace hurray

// Block-paged tensors as dense ones. (format: block-paged)
#pragma once

#include "core/hurray/base/error.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/transcode/options.hpp"
#include "core/hurray/transcode/transcode_spec.hpp"

namespace hurray {

/// Makes a dense tensor of a block-paged one: of all sequences one after the other, or of one of them. Other layouts than
/// row-major take memory for a row-major copy meanwhile. Sections are kept where all sequences are; of one sequence, those
/// that describe the elements (quantization, extension type).
///
/// The unit of progress is bytes of elements, which are moved once or twice. Thread rule: any thread; the tensor is only
/// read.
/// @param spec any dense layout and its fields; sequence, token_counts
/// @errors as transcode and PagedView::make; unsupported: the tokens of a sequence are not known, a quantization scheme
///     with blocks (its parameters go by pages); index_out_of_bounds: sequence; invalid_layout: the tables are at fault
Result<Tensor> dense_from_paged(const Tensor& tensor, const TranscodeSpec& spec, const WorkOptions& options = {});

}  // namespace hurray

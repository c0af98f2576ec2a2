// Tensors that are announced to a writer and made when they are written.
#pragma once

#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/model_file_writer.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// Makes the tensor `name` and compares it with what was announced: element type, layout, shape, sections, and the size of
/// each buffer. A prefix (bytes of a buffer that are not its own) may be there or not on either side: it depends on where
/// the memory happens to lie.
/// Errors: those of the source; invalid_argument: no source, or another tensor than the announced one.
Result<Tensor> make_announced(std::string_view name, const Descriptor& announced, const TensorSource& source);

}  // namespace hurray

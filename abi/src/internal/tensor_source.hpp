// Tensors that a callback of the caller makes when they are written.
#pragma once

#include "abi/src/api/file.hpp"
#include "core/hurray/io/model_file_writer.hpp"

namespace hurray::abi {

/// A source that asks the callback and takes the tensor that it gives; the tensor ends with the last share of its memory. A
/// callback that throws, fails or gives no live tensor is an error: internal_panic, the code that it returned (io, where that is
/// none of ours), null_pointer, invalid_handle.
/// @param make not null; it and `context` are the caller's and outlive the source
/// @param clean set to false when a release of such a tensor throws; outlives what the source gives
TensorSource tensor_source(HurrayTensorSourceFn make, void* context, bool& clean);

}  // namespace hurray::abi

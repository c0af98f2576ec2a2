// Tensors over host memory that a caller lends.
#pragma once

#include <cstdint>

#include "abi/src/api/buffer.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/api/tensor.hpp"
#include "core/hurray/base/error.hpp"

namespace hurray::abi {

/// The dense tensor of hurray_tensor_from_host. `spec`: its pointers fit its rank and layout. `queue`: may be null.
/// Ownership moves last, when nothing can fail any more; on failure `release` does not run.
Result<HurrayTensor*> make_host_tensor(const HurrayDenseSpec& spec, void* data, std::uint64_t byte_size, HurrayReleaseCallback release,
                                       void* release_context, const HurrayReleaseQueue* queue);

}  // namespace hurray::abi

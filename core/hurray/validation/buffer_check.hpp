// The second level: a descriptor against its buffers, without a look at what is in them.
#pragma once

#include "core/hurray/base/error.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray::validation_detail {

/// @param tensor whose descriptor is a valid one that is not opaque
/// @errors as validate
Result<void> check_buffers(const Tensor& tensor);

}  // namespace hurray::validation_detail

// The number format of a tensor's elements.
#pragma once

#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/values/number_format.hpp"

namespace hurray {

/// What the bits of the elements mean; those of private types by their extension section.
///
/// Thread rule: any thread.
/// @errors unsupported: an opaque descriptor, or a private type whose numbers the format does not define
Result<NumberFormat> element_format(const Descriptor& descriptor);

}  // namespace hurray

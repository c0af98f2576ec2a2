// What the bits of a tensor's elements mean as numbers. (format: element types, extension type section)
#pragma once

#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/values/number_format.hpp"

namespace hurray {

/// The number format of a descriptor's element type, also of a private one, which its extension type section describes.
/// Of a quantized tensor it is that of the stored elements.
///
/// Thread rule: any thread.
/// @errors as number_format
Result<NumberFormat> element_format(const Descriptor& descriptor);

}  // namespace hurray

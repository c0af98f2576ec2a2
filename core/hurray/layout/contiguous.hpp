// Row-major and column-major: no fields, elements packed one after the other. (format: row-major, column-major)
#pragma once

#include "core/hurray/layout/layout.hpp"

namespace hurray {

extern const LayoutCodec contiguous_codec;

/// A dense tensor that is not quantized has exactly one buffer.
Result<void> check_single_buffer(const LayoutContext& context);

}  // namespace hurray

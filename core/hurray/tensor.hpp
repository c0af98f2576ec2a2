// A tensor: a descriptor and the buffers that its table lists, in table order.
#pragma once

#include <vector>

#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/memory/buffer.hpp"

namespace hurray {

struct Tensor {
    Descriptor descriptor;
    std::vector<Buffer> buffers;
};

}  // namespace hurray

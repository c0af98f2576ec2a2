// The exchange form, as between two runtimes.
#pragma once

#include <utility>

#include "handles.hpp"

namespace driver {

/// Out as a list and a context, and in again.
inline Tensor exchanged(Tensor tensor) {
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* context = nullptr;
    call("export", hurray_tensor_export, tensor.get(), &list, &context);
    BufferList owned_list(list);
    Context owned_context(context);
    tensor.reset();
    HurrayTensor* imported = nullptr;
    call("import", hurray_tensor_import, &list, &context, &imported);
    (void)owned_list.release();
    (void)owned_context.release();
    return Tensor(imported);
}

}  // namespace driver

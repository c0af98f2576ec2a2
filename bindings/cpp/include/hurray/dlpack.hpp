// Tensors of DLPack, ended once by their own deleter.
#ifndef HURRAY_DLPACK_HPP_
#define HURRAY_DLPACK_HPP_

#include <memory>

#include "hurray.h"

namespace hurray {

/// Ends a tensor of DLPack as its producer wants it ended.
struct DlpackEnd {
    /// Does nothing for a tensor without a deleter.
    template <typename Managed>
    void operator()(Managed* managed) const noexcept {
        if (managed->deleter != nullptr) managed->deleter(managed);
    }
};

/// A DLManagedTensorVersioned; release() hands it to another package, with a cast.
using Dlpack = std::unique_ptr<HurrayDlpackVersioned, DlpackEnd>;
/// A DLManagedTensor, the form before version 1.
using DlpackUnversioned = std::unique_ptr<HurrayDlpackUnversioned, DlpackEnd>;

}  // namespace hurray

#endif  // HURRAY_DLPACK_HPP_

// What a sparse tensor is read from.
#pragma once

#include "core/hurray/base/error.hpp"
#include "core/hurray/layout/sparse_view.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/transcode/sparse/ordered_entries.hpp"

namespace hurray::transcode_detail {

/// Where the view is, its count of elements and the order of its entries. Refers to the tensor.
struct SparseSource {
    SparseView view;
    LoopOrder order;
    std::uint64_t element_count;

    static Result<SparseSource> make(const Tensor& tensor);
};

/// Checks that elements that are not stored can be elements that are, with bits of 0: with the same scale and zero point
/// these stand for 0.
/// @errors unsupported: a scheme of which this is not so or not known
Result<void> check_zero_code(const Descriptor& descriptor);

}  // namespace hurray::transcode_detail

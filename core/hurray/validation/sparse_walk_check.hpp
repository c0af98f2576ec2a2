// What the checks of sparse data share.
#pragma once

#include "core/hurray/layout/sparse_view.hpp"
#include "core/hurray/transcode/options.hpp"

namespace hurray::validation_detail {

/// Walks through all entries, which checks them.
inline Result<void> check_entries(const SparseView& view, Work& work) {
    bool stopped = false;
    const auto walked = view.for_each([](std::span<const std::uint64_t>, std::uint64_t) {},
                                      [&](std::uint64_t entries) {
                                          stopped = !work.advance(entries);
                                          return !stopped;
                                      });
    if (stopped) return work.cancelled();
    return walked;
}

/// As above, of a tensor that needs no other check.
inline Result<void> check_entries(const Tensor& tensor, const WorkOptions& options) {
    const auto view = SparseView::make(tensor);
    if (!view) return std::unexpected(view.error());
    Work work(options, view->index_entries());
    if (auto checked = check_entries(*view, work); !checked) return checked;
    return work.finish();
}

}  // namespace hurray::validation_detail

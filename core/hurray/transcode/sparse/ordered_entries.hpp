// The entries of a sparse tensor in a given order.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/layout/sparse_view.hpp"
#include "core/hurray/memory/buffer.hpp"
#include "core/hurray/transcode/options.hpp"
#include "core/hurray/transcode/sparse/entry_order.hpp"

namespace hurray::transcode_detail {

/// Dimensions from the outermost loop to the innermost.
class LoopOrder {
  public:
    /// That of row-major order.
    explicit LoopOrder(std::size_t rank) noexcept : rank_(rank) {
        for (std::size_t k = 0; k < rank; ++k) dimensions_[k] = k;
    }
    /// That in which the entries of a layout are stored; row-major order for COO.
    /// @param mode_order of CSF
    LoopOrder(std::uint8_t layout, std::size_t rank, std::span<const std::uint64_t> mode_order) noexcept;

    [[nodiscard]] std::span<const std::uint64_t> dimensions() const noexcept { return {dimensions_.data(), rank_}; }
    friend bool operator==(const LoopOrder& a, const LoopOrder& b) noexcept;

  private:
    std::size_t rank_;
    std::array<std::uint64_t, max_rank> dimensions_;
};

/// Hands out the entries of a sparse tensor in the order of nested loops over its dimensions, as often as wanted. Entries
/// that are stored in another order, or in none, are sorted first, for which it takes 32 bytes an entry at first and 16
/// from then on.
///
/// Refers to the view.
class OrderedEntries {
  public:
    /// @param view COO, CSR, CSC or CSF
    /// @param own_order that in which the layout stores its entries
    /// @param order the one that is wanted
    /// @errors invalid_layout: the data breaks the format's rules (as SparseView::for_each; two entries with the same
    ///     index), as far as they had to be looked at already; limit_exceeded, out_of_memory, cancelled
    static Result<OrderedEntries> make(const SparseView& view, const LoopOrder& own_order, const LoopOrder& order,
                                       Work& work);
    /// Units of work that make() and `times` for_each() count.
    static std::uint64_t work_of(const SparseView& view, std::uint64_t element_count, const LoopOrder& own_order,
                                 const LoopOrder& order, std::uint64_t times) noexcept;

    /// Calls `use(index, position)` for every entry; see SparseView::for_each, which checks the data likewise.
    /// @errors invalid_layout: the data breaks the format's rules; cancelled
    template <typename Use>
    Result<void> for_each(Work& work, Use&& use) const {
        if (!is_sorted_) {
            bool stopped = false;
            const auto walked = view_->for_each(use, [&](std::uint64_t entries) {
                stopped = !work.advance(entries);
                return !stopped;
            });
            if (stopped) return work.cancelled();
            return walked;
        }
        std::array<std::uint64_t, max_rank> index;
        const std::span<const std::uint64_t> given(index.data(), view_->shape().size());
        for (const NumberedEntry& entry : sorted_) {
            number_.index(entry.number, index.data());
            use(given, entry.position);
            if (!work.advance(1)) return work.cancelled();
        }
        return {};
    }

  private:
    OrderedEntries(const SparseView& view, const LoopOrder& order) noexcept
        : view_(&view), number_(view.shape(), order.dimensions()) {}
    Result<void> sort(Work& work);

    const SparseView* view_;
    IndexNumber number_;
    bool is_sorted_ = false;
    Buffer memory_;
    Sorted sorted_;
};

}  // namespace hurray::transcode_detail

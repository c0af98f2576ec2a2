#include "core/hurray/transcode/sparse/ordered_entries.hpp"

#include <algorithm>
#include <utility>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/layout/layout_tag.hpp"

namespace hurray::transcode_detail {
namespace {

// Whether the entries must be looked at and put in order before they can be handed out.
bool must_sort(const SparseView& view, const LoopOrder& own_order, const LoopOrder& order) noexcept {
    const auto* coo = std::get_if<CooArrays>(&view.arrays());
    return view.nnz() > 1 && ((coo != nullptr && !coo->is_sorted) || !(own_order == order));
}

std::uint64_t largest_number(std::span<const std::uint64_t> shape) noexcept {
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape) count *= size;
    return count - 1;
}

std::span<NumberedEntry> entries_in(const Buffer& memory) noexcept {
    return {reinterpret_cast<NumberedEntry*>(memory.data), memory.bytes().size() / sizeof(NumberedEntry)};
}

// Zeroed, so that there are indices within the shape in it whatever others do to the tensor meanwhile.
Result<Buffer> allocate_entries(std::uint64_t count, Work& work) {
    // An index of an entry takes 8 bytes at least, so that this does not wrap before memory does.
    const auto bytes = checked_mul(count, sizeof(NumberedEntry));
    return work.allocate(bytes.value_or(~std::uint64_t{0}));
}

}  // namespace

LoopOrder::LoopOrder(std::uint8_t layout, std::size_t rank, std::span<const std::uint64_t> mode_order) noexcept
    : LoopOrder(rank) {
    if (layout == layout_tag::csc) std::swap(dimensions_[0], dimensions_[1]);
    if (layout == layout_tag::csf) std::ranges::copy(mode_order.first(rank), dimensions_.begin());
}

bool operator==(const LoopOrder& a, const LoopOrder& b) noexcept {
    return std::ranges::equal(a.dimensions(), b.dimensions());
}

std::uint64_t OrderedEntries::work_of(const SparseView& view, std::uint64_t element_count, const LoopOrder& own_order,
                                      const LoopOrder& order, std::uint64_t times) noexcept {
    if (!must_sort(view, own_order, order)) return view.index_entries() * times;
    return view.index_entries() + view.nnz() * (sort_passes(element_count - 1) + times);
}

Result<OrderedEntries> OrderedEntries::make(const SparseView& view, const LoopOrder& own_order, const LoopOrder& order,
                                            Work& work) {
    OrderedEntries result(view, order);
    if (!must_sort(view, own_order, order)) return result;
    if (auto sorted = result.sort(work); !sorted) return std::unexpected(sorted.error());
    return result;
}

Result<void> OrderedEntries::sort(Work& work) {
    auto first = allocate_entries(view_->nnz(), work);
    if (!first) return std::unexpected(first.error());
    const auto entries = entries_in(*first);
    is_sorted_ = false;
    const auto collected = for_each(work, [&](std::span<const std::uint64_t> index, std::uint64_t position) {
        entries[position] = {number_.of(index.data()), position};
    });
    if (!collected) return collected;
    auto second = allocate_entries(view_->nnz(), work);
    if (!second) return std::unexpected(second.error());
    const auto sorted = sort_entries(entries, entries_in(*second), largest_number(view_->shape()), work);
    if (!sorted) return std::unexpected(sorted.error());
    if (const auto twice = find_duplicate(*sorted)) {
        // In other layouts the walk has found all of them.
        const auto* coo = std::get_if<CooArrays>(&view_->arrays());
        if (coo == nullptr) return fail(Status::invalid_argument, Error::no_offset, "tensor: changed while it was read");
        return sparse_fault::coo_duplicate(*coo, twice->position, twice->earlier);
    }
    memory_ = std::move(sorted->data() == entries.data() ? *first : *second);
    work.release(memory_.handle.byte_size);
    sorted_ = *sorted;
    is_sorted_ = true;
    return {};
}

}  // namespace hurray::transcode_detail

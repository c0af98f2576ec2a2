#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "core/hurray/transcode/sparse/entry_order.hpp"
#include "core/hurray/validation/sparse_data.hpp"
#include "core/hurray/validation/sparse_walk_check.hpp"

namespace hurray {
namespace {

using transcode_detail::IndexNumber;
using transcode_detail::NumberedEntry;

// An entry that has the index of an earlier one.
struct Duplicate {
    std::uint64_t entry;
    std::uint64_t number;
};

IndexNumber row_major_number(std::span<const std::uint64_t> shape) noexcept {
    std::array<std::uint64_t, max_rank> order;
    for (std::size_t k = 0; k < shape.size(); ++k) order[k] = k;
    return {shape, std::span(order).first(shape.size())};
}

// Calls `use` with the number of each entry's index until it returns false. Indices are within the shape.
template <typename Use>
Result<void> for_each_number(const SparseView& view, Work& work, Use&& use) {
    const IndexNumber number = row_major_number(view.shape());
    bool stopped = false;
    const auto walked =
        view.for_each([&](std::span<const std::uint64_t> index,
                          std::uint64_t position) { return use(number.of(index.data()), position); },
                      [&](std::uint64_t entries) {
                          stopped = !work.advance(entries);
                          return !stopped;
                      });
    if (stopped) return work.cancelled();
    return walked;
}

// A bit for each element of the shape.
Result<std::optional<Duplicate>> mark_elements(const SparseView& view, std::uint64_t bytes, Work& work) {
    auto met = work.allocate(bytes);
    if (!met) return std::unexpected(met.error());
    const auto bits = met->bytes();
    std::optional<Duplicate> duplicate;
    const auto walked = for_each_number(view, work, [&](std::uint64_t number, std::uint64_t entry) {
        std::byte& byte = bits[number / 8];
        const std::byte bit = std::byte{1} << static_cast<unsigned>(number % 8);
        if ((byte & bit) != std::byte{0}) {
            duplicate = {entry, number};
            return false;
        }
        byte |= bit;
        return true;
    });
    if (!walked) return std::unexpected(walked.error());
    return duplicate;
}

std::span<NumberedEntry> entries_in(const Buffer& memory) noexcept {
    return {reinterpret_cast<NumberedEntry*>(memory.data), memory.bytes().size() / sizeof(NumberedEntry)};
}

// All numbers, sorted.
Result<std::optional<Duplicate>> compare_all(const SparseView& view, std::uint64_t most, Work& work) {
    const std::uint64_t bytes = view.nnz() * sizeof(NumberedEntry);
    const auto first = work.allocate(bytes, minimum_alignment, Contents::undefined);
    if (!first) return std::unexpected(first.error());
    const auto second = work.allocate(bytes, minimum_alignment, Contents::undefined);
    if (!second) return std::unexpected(second.error());
    const auto entries = entries_in(*first);
    const auto walked = for_each_number(view, work, [&](std::uint64_t number, std::uint64_t entry) {
        entries[entry] = {number, entry};
        return true;
    });
    if (!walked) return std::unexpected(walked.error());
    const auto sorted = sort_entries(entries, entries_in(*second), most, work);
    if (!sorted) return std::unexpected(sorted.error());
    std::optional<Duplicate> duplicate;
    for (std::size_t i = 1; i < sorted->size(); ++i) {
        const NumberedEntry& entry = (*sorted)[i];
        if (entry.number != (*sorted)[i - 1].number) continue;
        if (!duplicate || entry.position < duplicate->entry) duplicate = {entry.position, entry.number};
    }
    return duplicate;
}

// Which entry was the first one with the index of a duplicate.
std::uint64_t first_entry(const SparseView& view, const Duplicate& duplicate, Work& work) {
    std::uint64_t first = 0;
    (void)for_each_number(view, work, [&](std::uint64_t number, std::uint64_t entry) {
        first = entry;
        return number != duplicate.number;
    });
    return first;
}

}  // namespace

Result<void> check_coo_data(const Tensor& tensor, const WorkOptions& options) {
    const auto view = SparseView::make(tensor);
    if (!view) return std::unexpected(view.error());
    const auto* arrays = std::get_if<CooArrays>(&view->arrays());
    const std::uint64_t count = tensor.descriptor.element_count().value_or(0);
    if (arrays == nullptr || arrays->is_sorted || view->nnz() < 2) {
        Work work(options, view->index_entries());
        if (auto checked = validation_detail::check_entries(*view, work); !checked) return checked;
        return work.finish();
    }
    // Two entries at least, hence two elements. The arrays of indices are there, so that the products fit.
    const std::uint64_t bits = count / 8 + 1;
    const bool mark = bits <= view->nnz() * (2 * sizeof(NumberedEntry));
    const std::uint64_t passes = mark ? 0 : transcode_detail::sort_passes(count - 1);
    Work work(options, view->index_entries() + passes * view->nnz());
    const auto duplicate = mark ? mark_elements(*view, bits, work) : compare_all(*view, count - 1, work);
    if (!duplicate) return std::unexpected(duplicate.error());
    if (*duplicate) {
        return sparse_fault::coo_duplicate(*arrays, (*duplicate)->entry, first_entry(*view, **duplicate, work));
    }
    return work.finish();
}

}  // namespace hurray

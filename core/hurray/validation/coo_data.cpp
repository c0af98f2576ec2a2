#include <optional>

#include "core/hurray/transcode/sparse/ordered_entries.hpp"
#include "core/hurray/validation/sparse_data.hpp"
#include "core/hurray/validation/sparse_walk_check.hpp"

namespace hurray {
namespace {

using transcode_detail::DuplicateEntry;
using transcode_detail::IndexNumber;
using transcode_detail::LoopOrder;
using transcode_detail::OrderedEntries;

// Memory that sorting takes for an entry.
constexpr std::uint64_t sorting_bytes = 2 * sizeof(transcode_detail::NumberedEntry);

// Calls `use` with the number of each entry's index until it returns false. Indices are within the shape.
template <typename Use>
Result<void> for_each_number(const SparseView& view, Work& work, Use&& use) {
    const LoopOrder order(view.shape().size());
    const IndexNumber number(view.shape(), order.dimensions());
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
Result<std::optional<DuplicateEntry>> mark_elements(const SparseView& view, std::uint64_t bytes, Work& work) {
    auto met = work.allocate(bytes);
    if (!met) return std::unexpected(met.error());
    const auto bits = met->bytes();
    std::optional<DuplicateEntry> duplicate;
    const auto walked = for_each_number(view, work, [&](std::uint64_t number, std::uint64_t entry) {
        std::byte& byte = bits[number / 8];
        const std::byte bit = std::byte{1} << static_cast<unsigned>(number % 8);
        if ((byte & bit) != std::byte{0}) {
            duplicate = {number, entry, 0};
            return false;
        }
        byte |= bit;
        return true;
    });
    if (!walked) return std::unexpected(walked.error());
    if (!duplicate) return duplicate;
    const auto again = for_each_number(view, work, [&](std::uint64_t number, std::uint64_t entry) {
        duplicate->earlier = entry;
        return number != duplicate->number;
    });
    if (!again) return std::unexpected(again.error());
    return duplicate;
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
    // Two entries at least, hence two elements.
    const std::uint64_t bits = count / 8 + 1;
    if (bits / sorting_bytes <= view->nnz()) {
        Work work(options, view->index_entries());
        const auto duplicate = mark_elements(*view, bits, work);
        if (!duplicate) return std::unexpected(duplicate.error());
        if (*duplicate) return sparse_fault::coo_duplicate(*arrays, (*duplicate)->position, (*duplicate)->earlier);
        return work.finish();
    }
    const LoopOrder order(view->shape().size());
    Work work(options, OrderedEntries::work_of(*view, count, order, order, 0));
    // Sorting finds them.
    if (const auto sorted = OrderedEntries::make(*view, order, order, work); !sorted) {
        return std::unexpected(sorted.error());
    }
    return work.finish();
}

}  // namespace hurray

#include "core/hurray/transcode/square_finder.hpp"

#include <algorithm>

#include "core/hurray/transcode/copy_kernels.hpp"
#include "core/hurray/transcode/run_order.hpp"

namespace hurray::transcode_detail {

SquareFinder::SquareFinder(const std::vector<Steps>& steps, const Packing& packing) : packing_(packing) {
    for (Steps each : steps) {
        for (; each.count % 2 == 0; each.count /= 2) {
            halves_.push_back({each.from, each.to, 2});
            each.from *= 2;
            each.to *= 2;
        }
        if (each.count != 1) others_.push_back(each);
    }
}

std::optional<CopyTable> SquareFinder::find() {
    if (packing_.group_shift != 0) return std::nullopt;
    for (std::size_t side = CopyTable::largest_square; side > 1; side /= 2) {
        if (CopyKernels::squares_of(packing_.group_bytes, side) == nullptr) continue;
        if (auto table = find_of(side)) return table;
    }
    return std::nullopt;
}

std::optional<CopyTable> SquareFinder::find_of(std::size_t side) {
    std::vector<Steps> rest = halves_;
    const auto take = [&](std::int64_t Steps::*place, std::int64_t distance) -> std::optional<Steps> {
        const auto found = std::ranges::find(rest, distance, place);
        if (found == rest.end()) return std::nullopt;
        const Steps steps = *found;
        rest.erase(found);
        return steps;
    };
    CopyTable table;
    const auto bytes = static_cast<std::int64_t>(packing_.group_bytes);
    for (std::size_t distance = 1; distance < side; distance *= 2) {
        const auto along_row = take(&Steps::from, static_cast<std::int64_t>(distance));
        if (!along_row) return std::nullopt;
        const auto along_column = take(&Steps::to, static_cast<std::int64_t>(distance));
        if (!along_column) return std::nullopt;
        for (std::size_t k = 0; k < side; ++k) {
            if ((k & distance) == 0) continue;
            table.rows_[k] += along_column->from * bytes;
            table.columns_[k] += along_row->to * bytes;
        }
    }
    table.element_count_ = side * side;
    rest.insert(rest.end(), others_.begin(), others_.end());
    for (const Run& run : combine(rest, 1)) {
        table.from_.push_back(run.from * bytes);
        table.to_.push_back(run.to * bytes);
    }
    table.size_ = table.from_.size();
    table.element_count_ *= table.size_;
    table.packing_ = packing_;
    table.kernel_ = CopyKernels::squares_of(packing_.group_bytes, side);
    return table;
}

}  // namespace hurray::transcode_detail

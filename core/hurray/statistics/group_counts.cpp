#include "core/hurray/statistics/group_counts.hpp"

#include <algorithm>

namespace hurray::statistics_detail {

GroupCounts::GroupCounts(std::uint64_t row) noexcept {
    if (row == 0) return;
    // 2 says something where 4 does not divide the rows only: a pattern of it is one of 4, too.
    for (const std::uint8_t size : {4, 8, 16, 32}) {
        if (row % size == 0) sizes_[size_count_++] = size;
    }
    if (size_count_ == 0 && row % 2 == 0) sizes_[size_count_++] = 2;
}

void GroupCounts::add(std::span<const double> numbers) noexcept {
    if (size_count_ == 0) return;
    // Elements of a group of the smallest size, then of groups twice as large, ...
    std::array<std::uint8_t, 1024> counts;
    const std::size_t least = sizes_[0];
    for (std::size_t start = 0; start < numbers.size(); start += counts.size()) {
        const auto block = numbers.subspan(start, std::min(counts.size(), numbers.size() - start));
        std::size_t groups = block.size() / least;
        if (least == 4) {
            for (std::size_t i = 0; i < groups; ++i) {
                const double* x = block.data() + 4 * i;
                counts[i] = static_cast<std::uint8_t>((x[0] != 0) + (x[1] != 0) + (x[2] != 0) + (x[3] != 0));
            }
        } else {
            for (std::size_t i = 0; i < groups; ++i) {
                const double* x = block.data() + 2 * i;
                counts[i] = static_cast<std::uint8_t>((x[0] != 0) + (x[1] != 0));
            }
        }
        for (std::size_t size = 0; size < size_count_; ++size) {
            if (size != 0) {
                groups /= 2;
                for (std::size_t i = 0; i < groups; ++i) {
                    counts[i] = static_cast<std::uint8_t>(counts[2 * i] + counts[2 * i + 1]);
                }
            }
            std::uint8_t most = 0;
            for (std::size_t i = 0; i < groups; ++i) most = std::max(most, counts[i]);
            most_[size] = std::max<std::uint32_t>(most_[size], most);
        }
    }
}

void GroupCounts::add_nonzero(std::uint64_t number) noexcept {
    for (std::size_t size = 0; size < size_count_; ++size) {
        const std::uint64_t group = number / sizes_[size];
        if (group != group_[size]) {
            group_[size] = group;
            in_group_[size] = 0;
        }
        most_[size] = std::max(most_[size], ++in_group_[size]);
    }
}

GroupCounts::Pattern GroupCounts::pattern() const noexcept {
    for (std::size_t size = 0; size < size_count_; ++size) {
        if (most_[size] == 0) return {};
        if (most_[size] * 2 <= sizes_[size]) return {static_cast<std::uint8_t>(most_[size]), sizes_[size]};
    }
    return {};
}

}  // namespace hurray::statistics_detail

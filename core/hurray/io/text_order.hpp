// Names of a file in order: found in O(log n), and duplicates seen.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace hurray {

/// The positions 0 to count - 1 (below 2^32), ordered by the text that text_of(position) gives, byte by byte, and those of
/// the same text by position. Input that is ordered already, the usual case, takes one pass.
template <typename TextOf>
std::vector<std::uint32_t> order_by_text(std::size_t count, TextOf text_of) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    const auto less = [&](std::uint32_t a, std::uint32_t b) {
        const auto compared = text_of(a) <=> text_of(b);
        return compared != 0 ? compared < 0 : a < b;
    };
    if (!std::is_sorted(order.begin(), order.end(), less)) std::sort(order.begin(), order.end(), less);
    return order;
}

/// The position of a text in such an order.
template <typename TextOf>
std::optional<std::size_t> find_text(std::span<const std::uint32_t> order, std::string_view wanted, TextOf text_of) {
    const auto found = std::lower_bound(order.begin(), order.end(), wanted,
                                        [&](std::uint32_t i, std::string_view text) { return text_of(i) < text; });
    if (found == order.end() || text_of(*found) != wanted) return std::nullopt;
    return *found;
}

/// The first position whose text one before it has, too.
template <typename TextOf>
std::optional<std::uint32_t> find_duplicate(std::span<const std::uint32_t> order, TextOf text_of) {
    std::optional<std::uint32_t> first;
    for (std::size_t i = 1; i < order.size(); ++i) {
        if ((!first || order[i] < *first) && text_of(order[i - 1]) == text_of(order[i])) first = order[i];
    }
    return first;
}

}  // namespace hurray

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

/// The positions 0 to count - 1 (below 2^32), ordered by the text that text_of(position) gives, byte by byte. Input that is
/// ordered already, the usual case, takes one pass.
template <typename TextOf>
std::vector<std::uint32_t> order_by_text(std::size_t count, TextOf text_of) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    const auto less = [&](std::uint32_t a, std::uint32_t b) { return text_of(a) < text_of(b); };
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

/// A position whose text is that of another one, too.
template <typename TextOf>
std::optional<std::uint32_t> find_duplicate(std::span<const std::uint32_t> order, TextOf text_of) {
    const auto found = std::adjacent_find(order.begin(), order.end(),
                                          [&](std::uint32_t a, std::uint32_t b) { return text_of(a) == text_of(b); });
    if (found == order.end()) return std::nullopt;
    return *found;
}

}  // namespace hurray

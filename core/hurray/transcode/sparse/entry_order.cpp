#include "core/hurray/transcode/sparse/entry_order.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace hurray::transcode_detail {
namespace {

constexpr std::uint64_t digit_bits = 11;
constexpr std::uint64_t digits = std::uint64_t{1} << digit_bits;
// Entries between two looks at whether the work shall go on.
constexpr std::size_t piece = 1 << 16;

}  // namespace

IndexNumber::IndexNumber(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> order) noexcept
    : rank_(shape.size()) {
    std::uint64_t stride = 1;
    for (std::size_t loop = rank_; loop-- > 0;) {
        order_[loop] = order[loop];
        strides_[order[loop]] = stride;
        stride *= shape[order[loop]];
    }
}

std::uint64_t sort_passes(std::uint64_t most) noexcept {
    return (static_cast<std::uint64_t>(std::bit_width(most)) + digit_bits - 1) / digit_bits;
}

Result<Sorted> sort_entries(std::span<NumberedEntry> entries, std::span<NumberedEntry> scratch, std::uint64_t most,
                            Work& work) {
    std::array<std::size_t, digits> starts;
    for (std::uint64_t pass = 0; pass < sort_passes(most); ++pass) {
        const std::uint64_t shift = pass * digit_bits;
        const auto digit = [shift](const NumberedEntry& entry) { return entry.number >> shift & (digits - 1); };
        starts.fill(0);
        for (const NumberedEntry& entry : entries) ++starts[digit(entry)];
        std::size_t start = 0;
        for (std::size_t& count : starts) start += std::exchange(count, start);
        for (std::size_t first = 0; first < entries.size(); first += piece) {
            const auto now = entries.subspan(first, std::min(piece, entries.size() - first));
            for (const NumberedEntry& entry : now) scratch[starts[digit(entry)]++] = entry;
            if (!work.advance(now.size())) return work.cancelled();
        }
        std::swap(entries, scratch);
    }
    return entries;
}

std::optional<DuplicateEntry> find_duplicate(std::span<const NumberedEntry> sorted) noexcept {
    std::optional<DuplicateEntry> found;
    std::uint64_t first = 0;
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        if (sorted[i].number != sorted[i - 1].number) {
            first = i;
        } else if (!found || sorted[i].position < found->position) {
            found = {sorted[i].number, sorted[i].position, sorted[first].position};
        }
    }
    return found;
}

}  // namespace hurray::transcode_detail

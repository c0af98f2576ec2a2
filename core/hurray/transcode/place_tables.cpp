#include "core/hurray/transcode/place_tables.hpp"

#include <array>

#include "core/hurray/transcode/element_kind.hpp"

namespace hurray::transcode_detail {

void PlaceTable::fill(std::uint64_t start, std::uint64_t length) noexcept {
    if (start == start_ && length == length_) return;
    start_ = start;
    length_ = length;
    from_map_->visit([&](const auto& address) {
        if constexpr (requires { address.along(0, 0); }) {
            for (std::uint64_t i = 0; i < length; ++i) from_[i] = address.along(dimension_, start + i);
        }
    });
    to_map_->visit([&](const auto& address) {
        if constexpr (requires { address.along(0, 0); }) {
            for (std::uint64_t i = 0; i < length; ++i) to_[i] = address.along(dimension_, start + i);
        }
    });
}

void copy_places(std::span<const PlaceTable> tables, const SourceSide& from, const TargetSide& to,
                 const Packing& packing) noexcept {
    // The longest dimension is the innermost loop; those of one index are no loops.
    std::array<const PlaceTable*, max_rank> outer;
    std::size_t loops = 0;
    const PlaceTable* inner = nullptr;
    std::int64_t from_start = 0;
    std::int64_t to_start = 0;
    for (const PlaceTable& table : tables) {
        from_start += table.from(0);
        to_start += table.to(0);
        if (table.length() == 1) continue;
        if (inner == nullptr) {
            inner = &table;
        } else if (table.length() > inner->length()) {
            outer[loops++] = inner;
            inner = &table;
        } else {
            outer[loops++] = &table;
        }
    }
    with_kind(packing, [&](const auto& kind) {
        if (inner == nullptr) {
            kind.copy(from.base, from.at(from_start), to.base, to.at(to_start));
            return;
        }
        // Places of the innermost loop are counted from its first one.
        from_start -= inner->from(0);
        to_start -= inner->to(0);
        std::array<std::uint64_t, max_rank> index{};
        const std::int64_t* from_places = inner->from();
        const std::int64_t* to_places = inner->to();
        const std::uint64_t length = inner->length();
        while (true) {
            const std::uint64_t from_at = from.at(from_start);
            const std::uint64_t to_at = to.at(to_start);
            for (std::uint64_t i = 0; i < length; ++i) {
                kind.copy(from.base, from_at + static_cast<std::uint64_t>(from_places[i]), to.base,
                          to_at + static_cast<std::uint64_t>(to_places[i]));
            }
            std::size_t k = loops;
            for (; k > 0; --k) {
                const PlaceTable& table = *outer[k - 1];
                std::uint64_t& i = index[k - 1];
                from_start -= table.from(i);
                to_start -= table.to(i);
                i = i + 1 < table.length() ? i + 1 : 0;
                from_start += table.from(i);
                to_start += table.to(i);
                if (i != 0) break;
            }
            if (k == 0) return;
        }
    });
}

void copy_element(const std::byte* from_base, std::uint64_t from, std::byte* to_base, std::uint64_t to,
                  const Packing& packing) noexcept {
    with_kind(packing, [&](const auto& kind) { kind.copy(from_base, from, to_base, to); });
}

}  // namespace hurray::transcode_detail

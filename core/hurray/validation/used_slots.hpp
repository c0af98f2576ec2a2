// The slots of a block-paged tensor that tokens are known to be in.
#pragma once

#include <cstdint>
#include <vector>

#include "core/hurray/layout/paged_view.hpp"
#include "core/hurray/transcode/options.hpp"

namespace hurray::validation_detail {

/// Calls `use(first_slot, count)` for slots with tokens, each slot once, however many sequences share it. All pages of a
/// sequence but its last one are full; how far that one is filled is not always known, and then it is left out. Slots
/// behind the last token of a sequence are undefined.
///
/// Takes four bytes for each page, which has more than that of elements or parameters.
/// @errors those of `use`; as PagedView::page; limit_exceeded
template <typename Use>
Result<void> for_each_used_run(const PagedView& view, Work& work, Use&& use) {
    const std::uint64_t pages = view.fields().num_pages;
    const std::uint64_t page_size = view.fields().page_size;
    if (auto reserved = work.reserve(pages * 4); !reserved) return reserved;
    // How many slots of each page were handed out.
    std::vector<std::uint32_t> used(static_cast<std::size_t>(pages), 0);
    for (std::uint64_t s = 0; s < view.fields().num_seqs; ++s) {
        const auto owned = view.pages(s);
        if (!owned) return std::unexpected(owned.error());
        const auto tokens = view.token_count(s);
        if (!tokens) return std::unexpected(tokens.error());
        for (std::uint64_t i = 0; i < owned->count; ++i) {
            std::uint64_t filled = i + 1 < owned->count ? page_size : 0;
            if (*tokens) {
                const std::uint64_t before = i * page_size;
                filled = **tokens <= before ? 0 : **tokens - before < page_size ? **tokens - before : page_size;
            }
            const auto page = view.page(owned->first + i);
            if (!page) return std::unexpected(page.error());
            std::uint32_t& done = used[static_cast<std::size_t>(*page)];
            if (filled > done) {
                if (auto checked = use(*page * page_size + done, filled - done); !checked) return checked;
                done = static_cast<std::uint32_t>(filled);
            }
            if (!work.advance(1)) return work.cancelled();
        }
    }
    work.release(pages * 4);
    return {};
}

}  // namespace hurray::validation_detail

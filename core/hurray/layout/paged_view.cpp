#include "core/hurray/layout/paged_view.hpp"

#include <algorithm>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/host_memory.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

[[gnu::cold, gnu::noinline]] std::unexpected<Error> beyond(const char* what, std::uint64_t got, std::uint64_t count) {
    return fail(Status::index_out_of_bounds, Error::no_offset, "%s: expected less than %llu, got %llu", what,
                static_cast<ull>(count), static_cast<ull>(got));
}

// An entry of seq_ptr that is not between the one before it and the entries of the table.
[[gnu::cold, gnu::noinline]] std::unexpected<Error> pointer_fault(std::uint64_t entry, std::uint32_t width,
                                                                  std::uint64_t least, std::uint64_t most,
                                                                  std::uint64_t got) {
    return fail(Status::invalid_layout, entry * width,
                "buffer %u (seq_ptr): entry %llu: expected %llu to %llu, got %llu", block_paged_buffer::seq_ptr,
                static_cast<ull>(entry), static_cast<ull>(least), static_cast<ull>(most), static_cast<ull>(got));
}

}  // namespace

PagedView::PagedView(const Tensor& tensor)
    : fields_(block_paged_fields(tensor.descriptor)),
      shape_(tensor.descriptor.shape()),
      pool_(tensor.buffers[block_paged_buffer::page_pool].bytes()),
      table_(tensor.buffers[block_paged_buffer::block_table].data),
      seq_ptr_(tensor.buffers[block_paged_buffer::seq_ptr].data),
      index_width_(fields_.index_width()) {
    table_entries_ = tensor.buffers[block_paged_buffer::block_table].handle.byte_size / index_width_;
    // Where the elements would be too many to count, there is one of the dimensions or of the pages that is 0: decode
    // checked that the pool has room for all.
    slot_elements_ = checked_mul(shape_[1], shape_[2]).value_or(0);
    slot_count_ = checked_mul(fields_.num_pages, fields_.page_size).value_or(~std::uint64_t{0});
}

Result<PagedView> PagedView::make(const Tensor& tensor, std::span<const std::uint64_t> token_counts) {
    const Descriptor& descriptor = tensor.descriptor;
    if (descriptor.is_opaque() || descriptor.layout() != layout_tag::block_paged) {
        return fail(Status::unsupported, Error::no_offset, "layout: expected block_paged, got %s",
                    descriptor.is_opaque() ? "an opaque descriptor" : find_layout(descriptor.layout())->name);
    }
    if (const auto count = descriptor.element_count(); !count) return std::unexpected(count.error());
    if (auto checked = check_host_buffers(tensor); !checked) return std::unexpected(checked.error());
    for (std::uint32_t i = 0; i < block_paged_buffer::count; ++i) {
        if (tensor.buffers[i].prefix == 0) continue;
        return fail(Status::misaligned, Error::no_offset,
                    "buffer %u: expected no prefix, since the layout's buffers start with their first entry, got %u bytes",
                    i, tensor.buffers[i].prefix);
    }
    PagedView view(tensor);
    const std::uint64_t last = view.fields_.num_seqs;
    view.logical_pages_ = view.load(view.seq_ptr_, last);
    if (view.logical_pages_ > view.table_entries_) {
        return pointer_fault(last, view.index_width_, 0, view.table_entries_, view.logical_pages_);
    }
    if (!token_counts.empty()) {
        if (auto taken = view.take_counts(token_counts); !taken) return std::unexpected(taken.error());
        return view;
    }
    const auto room = checked_mul(view.logical_pages_, view.fields_.page_size);
    if (view.shape_[0] > room.value_or(~std::uint64_t{0})) {
        return fail(Status::invalid_layout, last * view.index_width_,
                    "buffer %u (seq_ptr): entry %llu: expected pages for %llu tokens, got %llu pages of %u",
                    block_paged_buffer::seq_ptr, static_cast<ull>(last), static_cast<ull>(view.shape_[0]),
                    static_cast<ull>(view.logical_pages_), view.fields_.page_size);
    }
    view.dense_ = room == view.shape_[0] || view.only_one_has_pages();
    return view;
}

Result<void> PagedView::take_counts(std::span<const std::uint64_t> token_counts) {
    if (token_counts.size() != fields_.num_seqs) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "token_counts: expected %u values, one a sequence, got %zu", fields_.num_seqs, token_counts.size());
    }
    starts_.reserve(token_counts.size() + 1);
    starts_.push_back(0);
    for (std::uint64_t s = 0; s < token_counts.size(); ++s) {
        const auto owned = pages(s);
        if (!owned) return std::unexpected(owned.error());
        const auto room = checked_mul(owned->count, fields_.page_size);
        if (room && token_counts[s] > *room) {
            return fail(Status::invalid_argument, Error::no_offset,
                        "token_counts[%llu]: expected at most %llu, as many as its %llu pages of %u have room for, got "
                        "%llu",
                        static_cast<ull>(s), static_cast<ull>(*room), static_cast<ull>(owned->count), fields_.page_size,
                        static_cast<ull>(token_counts[s]));
        }
        const auto end = checked_add(starts_.back(), token_counts[s]);
        if (!end || *end > shape_[0]) {
            return fail(Status::invalid_argument, Error::no_offset,
                        "token_counts: expected shape[0] = %llu tokens in all, got more with sequence %llu",
                        static_cast<ull>(shape_[0]), static_cast<ull>(s));
        }
        starts_.push_back(*end);
    }
    if (starts_.back() != shape_[0]) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "token_counts: expected shape[0] = %llu tokens in all, got %llu", static_cast<ull>(shape_[0]),
                    static_cast<ull>(starts_.back()));
    }
    return {};
}

// Pointers ascend: the sequence is the first one that does not end at 0, and it must end at the last page.
bool PagedView::only_one_has_pages() const noexcept {
    if (logical_pages_ == 0) return true;
    std::uint64_t low = 0;
    std::uint64_t high = fields_.num_seqs;
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (load(seq_ptr_, middle) == 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return load(seq_ptr_, low) == logical_pages_;
}

Result<PagedView::Pages> PagedView::pages(std::uint64_t sequence) const {
    if (sequence >= fields_.num_seqs) [[unlikely]]
        return beyond("sequence", sequence, fields_.num_seqs);
    const std::uint64_t begin = load(seq_ptr_, sequence);
    const std::uint64_t end = load(seq_ptr_, sequence + 1);
    if (sequence == 0 && begin != 0) [[unlikely]]
        return pointer_fault(0, index_width_, 0, 0, begin);
    if (begin > logical_pages_) [[unlikely]]
        return pointer_fault(sequence, index_width_, 0, logical_pages_, begin);
    if (end < begin || end > logical_pages_) [[unlikely]]
        return pointer_fault(sequence + 1, index_width_, begin, logical_pages_, end);
    return Pages{begin, end - begin};
}

Result<std::uint64_t> PagedView::page(std::uint64_t entry) const {
    if (entry >= logical_pages_) [[unlikely]]
        return beyond("block_table entry", entry, logical_pages_);
    const std::uint64_t page = load(table_, entry);
    if (page >= fields_.num_pages) [[unlikely]] {
        return fail(Status::invalid_layout, entry * index_width_,
                    "buffer %u (block_table): entry %llu: expected a page below num_pages = %llu, got %llu",
                    block_paged_buffer::block_table, static_cast<ull>(entry), static_cast<ull>(fields_.num_pages),
                    static_cast<ull>(page));
    }
    return page;
}

Result<std::optional<std::uint64_t>> PagedView::token_count(std::uint64_t sequence) const {
    const auto owned = pages(sequence);
    if (!owned) return std::unexpected(owned.error());
    if (!starts_.empty()) return starts_[sequence + 1] - starts_[sequence];
    if (owned->count == 0) return 0;
    if (!dense_) return std::optional<std::uint64_t>();
    // All tokens where it has all pages, and otherwise full pages, which make up at most shape[0].
    if (owned->count == logical_pages_) return shape_[0];
    return std::min(checked_mul(owned->count, fields_.page_size).value_or(shape_[0]), shape_[0]);
}

Result<std::uint64_t> PagedView::known_tokens(std::uint64_t sequence) const {
    const auto count = token_count(sequence);
    if (!count) return std::unexpected(count.error());
    if (*count) return **count;
    return fail(Status::unsupported, Error::no_offset,
                "sequence %llu: its last page may be filled in part, and the tensor does not tell how many tokens it has: "
                "expected token counts from the caller",
                static_cast<ull>(sequence));
}

Result<std::uint64_t> PagedView::slot_in(const Pages& pages, std::uint64_t token) const {
    const auto found = page(pages.first + token / fields_.page_size);
    if (!found) return found;
    // Below num_pages * page_size; only pages without elements can be too many to count.
    return *found * fields_.page_size + token % fields_.page_size;
}

Result<std::uint64_t> PagedView::slot(std::uint64_t sequence, std::uint64_t token) const {
    const auto owned = pages(sequence);
    if (!owned) return std::unexpected(owned.error());
    const auto known = token_count(sequence);
    if (!known) return std::unexpected(known.error());
    const std::uint64_t room = checked_mul(owned->count, fields_.page_size).value_or(~std::uint64_t{0});
    const std::uint64_t count = std::min(known->value_or(room), room);
    if (token >= count) [[unlikely]]
        return beyond("token", token, count);
    return slot_in(*owned, token);
}

Result<std::uint64_t> PagedView::slot_of_token(std::uint64_t token) const {
    if (token >= shape_[0]) [[unlikely]]
        return beyond("token", token, shape_[0]);
    if (!starts_.empty()) {
        // The first sequence that ends behind the token.
        const auto end = std::upper_bound(starts_.begin() + 1, starts_.end(), token);
        const auto sequence = static_cast<std::uint64_t>(end - starts_.begin() - 1);
        return slot(sequence, token - starts_[sequence]);
    }
    if (!dense_) {
        return fail(Status::unsupported, Error::no_offset,
                    "token %llu: the last pages of %u sequences may be filled in part, and the tensor does not tell how "
                    "many tokens each has: expected token counts, or an index of sequence and token",
                    static_cast<ull>(token), fields_.num_seqs);
    }
    return slot_in({0, logical_pages_}, token);
}

Result<std::uint64_t> PagedView::find(std::uint64_t sequence, std::uint64_t token, std::uint64_t head,
                                      std::uint64_t element) const {
    const std::uint64_t index[] = {sequence, token, head, element};
    return find(index);
}

Result<std::uint64_t> PagedView::find(std::span<const std::uint64_t> index) const {
    if (index.size() != 3 && index.size() != 4) [[unlikely]] {
        return fail(Status::invalid_argument, Error::no_offset,
                    "index: expected [token, head, element] or [sequence, token, head, element], got %zu values",
                    index.size());
    }
    const auto found = index.size() == 4 ? slot(index[0], index[1]) : slot_of_token(index[0]);
    if (!found) return found;
    const std::uint64_t head = index[index.size() - 2];
    const std::uint64_t element = index[index.size() - 1];
    if (head >= shape_[1]) [[unlikely]]
        return beyond("head", head, shape_[1]);
    if (element >= shape_[2]) [[unlikely]]
        return beyond("element", element, shape_[2]);
    // Within the pool, whose size decode compared with what all slots take.
    return *found * slot_elements_ + head * shape_[2] + element;
}

}  // namespace hurray

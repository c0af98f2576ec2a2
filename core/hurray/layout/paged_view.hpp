// The tokens of a block-paged tensor: where each of them lies in the pool. (format: block-paged, element lookup)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/base/error.hpp"
#include "core/hurray/layout/block_paged.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// The tables of a block-paged tensor, of which only the sizes were looked at. Whatever is in them, nothing outside the
/// buffers is read: each entry is checked when it is used.
///
/// A slot is the place of one token in the pool: slot i of page p is p * page_size + i. Its elements follow each other,
/// head by head.
///
/// The format tells how many pages a sequence has, and how many tokens there are in all, but not how many tokens each
/// sequence has, which may end within its last page. That is known where the caller says it, where every page is full,
/// for a sequence without pages, and where only one sequence has pages.
///
/// Refers to the tensor's descriptor and its memory. Takes memory only for the token counts that it is given. Thread
/// rule: may be read by any number of threads.
class PagedView {
  public:
    /// @param tensor block-paged, without a dynamic dimension, in memory that the CPU can read
    /// @param token_counts tokens of each sequence, num_seqs numbers; empty when they are not known
    /// @errors as check_host_buffers; unsupported: another layout, an opaque descriptor; invalid_layout: a dynamic
    ///     dimension, or seq_ptr is at fault (the offset is that of the entry in its buffer); misaligned: a buffer with
    ///     a prefix, which none of them can have; invalid_argument: token_counts that are not one a sequence, more than
    ///     its pages have room for, or not all tokens together
    static Result<PagedView> make(const Tensor& tensor, std::span<const std::uint64_t> token_counts = {});

    [[nodiscard]] const BlockPagedFields& fields() const noexcept { return fields_; }
    /// [tokens of all sequences, heads, elements of a head].
    [[nodiscard]] std::span<const std::uint64_t> shape() const noexcept { return shape_; }
    /// Elements of a token: heads times elements of a head.
    [[nodiscard]] std::uint64_t slot_elements() const noexcept { return slot_elements_; }
    /// Slots of the pool.
    [[nodiscard]] std::uint64_t slot_count() const noexcept { return slot_count_; }
    /// The bytes of the pool.
    [[nodiscard]] std::span<const std::byte> pool() const noexcept { return pool_; }
    /// Entries of the table that the sequences have together.
    [[nodiscard]] std::uint64_t logical_page_count() const noexcept { return logical_pages_; }
    /// Whether the tokens of every sequence are known.
    [[nodiscard]] bool knows_tokens() const noexcept { return !starts_.empty() || dense_; }

    /// The entries of the table that a sequence has: from the first one on, `count` of them.
    struct Pages {
        std::uint64_t first = 0;
        std::uint64_t count = 0;
    };
    /// @errors index_out_of_bounds: sequence; invalid_layout: seq_ptr is at fault
    [[nodiscard]] Result<Pages> pages(std::uint64_t sequence) const;
    /// The page of the pool that an entry of the table names.
    /// @errors index_out_of_bounds: entry; invalid_layout: the entry names no page (the offset is its place)
    [[nodiscard]] Result<std::uint64_t> page(std::uint64_t entry) const;
    /// Tokens of a sequence, where they are known.
    /// @errors as pages
    [[nodiscard]] Result<std::optional<std::uint64_t>> token_count(std::uint64_t sequence) const;

    /// The slot of a token of a sequence. Where the tokens of the sequence are not known, every slot of its pages counts
    /// as one: what is behind its last token there is undefined.
    /// @errors index_out_of_bounds: sequence or token; invalid_layout: the tables are at fault
    [[nodiscard]] Result<std::uint64_t> slot(std::uint64_t sequence, std::uint64_t token) const;
    /// The slot of a token by its index in dimension 0, in which the sequences follow each other.
    /// @errors index_out_of_bounds; unsupported: it is not known which sequence has how many tokens; invalid_layout: the
    ///     tables are at fault
    [[nodiscard]] Result<std::uint64_t> slot_of_token(std::uint64_t token) const;

    /// The place in the pool, in elements, of an element of a token of a sequence.
    /// @errors as slot; index_out_of_bounds: head or element
    [[nodiscard]] Result<std::uint64_t> find(std::uint64_t sequence, std::uint64_t token, std::uint64_t head,
                                             std::uint64_t element) const;
    /// The place in the pool, in elements, of the element at an index of the shape.
    /// @param index [token, head, element], or [sequence, token, head, element]
    /// @errors as slot_of_token; invalid_argument: neither three nor four values
    [[nodiscard]] Result<std::uint64_t> find(std::span<const std::uint64_t> index) const;

    /// Calls `use(first_slot, count)` for the slots of the tokens of a sequence in their order, page by page; when it
    /// returns false, that ends it.
    /// @errors as token_count; unsupported: the tokens of the sequence are not known
    template <typename Use>
    Result<void> for_each_run(std::uint64_t sequence, Use&& use) const {
        const auto count = known_tokens(sequence);
        if (!count) return std::unexpected(count.error());
        const std::uint64_t size = fields_.page_size;
        for (std::uint64_t token = 0; token < *count; token += size) {
            const auto first = slot(sequence, token);
            if (!first) return std::unexpected(first.error());
            if (!use(*first, *count - token < size ? *count - token : size)) return {};
        }
        return {};
    }

  private:
    explicit PagedView(const Tensor& tensor);

    [[nodiscard]] std::uint64_t load(const std::byte* array, std::uint64_t entry) const noexcept {
        return index_width_ == 4 ? load_le<std::uint32_t>(array + 4 * entry) : load_le<std::uint64_t>(array + 8 * entry);
    }
    Result<void> take_counts(std::span<const std::uint64_t> token_counts);
    [[nodiscard]] bool only_one_has_pages() const noexcept;
    [[nodiscard]] Result<std::uint64_t> known_tokens(std::uint64_t sequence) const;
    [[nodiscard]] Result<std::uint64_t> slot_in(const Pages& pages, std::uint64_t token) const;

    BlockPagedFields fields_;
    std::span<const std::uint64_t> shape_;
    std::span<const std::byte> pool_;
    const std::byte* table_ = nullptr;
    const std::byte* seq_ptr_ = nullptr;
    std::uint64_t table_entries_ = 0;
    std::uint64_t logical_pages_ = 0;
    std::uint64_t slot_elements_ = 0;
    std::uint64_t slot_count_ = 0;
    std::uint32_t index_width_ = 4;
    // Token t is in entry t / page_size of the table: all pages are full, or there is one sequence with pages.
    bool dense_ = false;
    // Where the tokens of each sequence start, and the end; empty when nobody said it.
    std::vector<std::uint64_t> starts_;
};

}  // namespace hurray

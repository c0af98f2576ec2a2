// The sparse tensor that a transcoding makes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/transcode/options.hpp"
#include "core/hurray/transcode/sparse/element_bits.hpp"
#include "core/hurray/transcode/sparse/ordered_entries.hpp"
#include "core/hurray/transcode/transcode_spec.hpp"

namespace hurray::transcode_detail {

/// Takes in entries one after the other, in the order in which the layout stores them: first to count them, then, once
/// there is memory, with their values. Never writes outside that memory, even when the entries are not the same the second
/// time.
class SparseTarget {
  public:
    /// @param source whose shape, type and sections the tensor gets
    /// @param spec layout, mode_order, alignment
    /// @errors invalid_argument: fields of other layouts, ranks that the layout does not have, mode_order, alignment;
    ///     unsupported: a shard as CSF
    static Result<SparseTarget> make(const Descriptor& source, const TranscodeSpec& spec);

    /// The order in which entries must come.
    [[nodiscard]] const LoopOrder& order() const noexcept { return order_; }
    /// Whether entries must be counted even when their number is known: the nodes of CSF's levels are.
    [[nodiscard]] bool counts_nodes() const noexcept { return layout_ == layout_tag::csf; }

    void count(std::span<const std::uint64_t> index) noexcept {
        ++nnz_;
        if (!counts_nodes()) return;
        for (std::size_t level = first_new_level(index); level < rank_; ++level) ++capacity_[level];
    }
    /// Instead of count(), where the number is known.
    void set_count(std::uint64_t nnz) noexcept { nnz_ = nnz; }

    /// Whether there may be memory for what was counted until now, of which more can only be needed later.
    /// @errors limit_exceeded
    Result<void> check_room(Work& work) const;
    /// Takes the memory for what was counted.
    /// @errors limit_exceeded, out_of_memory
    Result<void> allocate(Work& work);

    /// @param from, from_bit where the entry's value is
    void add(std::span<const std::uint64_t> index, const std::byte* from, std::uint64_t from_bit) noexcept {
        if (added_ == nnz_ || !add_index(index)) {
            changed_ = true;
            return;
        }
        bits_.copy(from, from_bit, buffers_[0].data, added_ * bits_.bits());
        ++added_;
    }

    /// The tensor of all entries, with the sections of its source.
    /// @param parameters the buffers with scales and zero points
    /// @errors invalid_argument: not the entries that were counted came
    Result<Tensor> finish(std::vector<Buffer>&& parameters);

  private:
    SparseTarget(const Descriptor& source, const TranscodeSpec& spec, const LoopOrder& order);

    // The outermost level of which this index has another coordinate than the one before; remembers the index.
    std::size_t first_new_level(std::span<const std::uint64_t> index) noexcept {
        const auto order = order_.dimensions();
        std::size_t level = 0;
        while (any_ && level + 1 < rank_ && index[order[level]] == last_[order[level]]) ++level;
        any_ = true;
        for (std::size_t k = 0; k < rank_; ++k) last_[k] = index[k];
        return level;
    }
    [[nodiscard]] bool add_index(std::span<const std::uint64_t> index) noexcept;
    void put(std::size_t buffer, std::uint64_t at, std::uint64_t value) noexcept {
        store_le(buffers_[buffer].data + 8 * at, value);
    }
    void sum_up_pointers() noexcept;
    [[nodiscard]] std::optional<std::uint64_t> bytes() const noexcept;
    Result<void> add_buffer(Work& work, std::optional<std::uint64_t> entries, std::uint64_t width);

    const Descriptor* source_;
    std::uint8_t layout_;
    std::uint32_t alignment_;
    std::size_t rank_;
    LoopOrder order_;
    ElementBits bits_;
    std::uint64_t nnz_ = 0;
    std::uint64_t added_ = 0;
    bool changed_ = false;
    std::vector<Buffer> buffers_;
    // CSF: the index before, nodes of each level, and how many of them there are already.
    bool any_ = false;
    std::array<std::uint64_t, max_rank> last_{};
    std::array<std::uint64_t, max_rank> capacity_{};
    std::array<std::uint64_t, max_rank> nodes_{};
};

}  // namespace hurray::transcode_detail

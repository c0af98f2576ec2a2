#include "core/hurray/transcode/sparse/sparse_target.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/descriptor/statistics_section.hpp"
#include "core/hurray/layout/compressed.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/csf.hpp"
#include "core/hurray/layout/layout.hpp"
#include "core/hurray/transcode/dense_target.hpp"

namespace hurray::transcode_detail {
namespace {

using ull = unsigned long long;

constexpr std::uint64_t index_width = 8;

Result<void> check_spec(const Descriptor& source, const TranscodeSpec& spec) {
    const Layout& layout = *find_layout(spec.layout);
    if (!spec.strides.empty() || !spec.tiled.empty() || !spec.morton_bits.empty() || spec.hilbert_order != 0) {
        return fail(Status::invalid_argument, Error::no_offset, "%s: expected none for layout %s",
                    !spec.strides.empty()       ? "strides"
                    : !spec.tiled.empty()       ? "tiled"
                    : !spec.morton_bits.empty() ? "morton_bits"
                                                : "hilbert_order",
                    layout.name);
    }
    if (spec.alignment != 0 && (!std::has_single_bit(spec.alignment) || spec.alignment < minimum_alignment)) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "alignment: expected a power of two of at least %u, got %u", minimum_alignment, spec.alignment);
    }
    if (source.rank() < layout.min_rank || source.rank() > layout.max_rank) {
        return fail(Status::invalid_argument, Error::no_offset, "layout: %s has ranks %u to %u, got a tensor of rank %u",
                    layout.name, layout.min_rank, layout.max_rank, source.rank());
    }
    if (spec.layout == layout_tag::csf && source.has_shard()) {
        return fail(Status::unsupported, Error::no_offset, "layout: a shard cannot be csf");
    }
    return {};
}

// The dimensions of CSF's levels; empty for other layouts.
Result<std::vector<std::uint64_t>> mode_order_of(const Descriptor& source, const TranscodeSpec& spec) {
    const std::size_t rank = source.rank();
    std::vector<std::uint64_t> modes(spec.mode_order.begin(), spec.mode_order.end());
    if (spec.layout != layout_tag::csf) {
        if (modes.empty()) return modes;
        return fail(Status::invalid_argument, Error::no_offset, "mode_order: expected none for layout %s",
                    find_layout(spec.layout)->name);
    }
    if (modes.empty()) {
        for (std::size_t k = 0; k < rank; ++k) modes.push_back(k);
    }
    if (modes.size() != rank) {
        return fail(Status::invalid_argument, Error::no_offset, "mode_order: expected %zu values, one a dimension, got %zu",
                    rank, modes.size());
    }
    for (std::size_t level = 0; level < rank; ++level) {
        const auto before = std::span(modes).first(level);
        if (modes[level] < rank && std::ranges::find(before, modes[level]) == before.end()) continue;
        return fail(Status::invalid_argument, Error::no_offset,
                    "mode_order[%zu]: expected each dimension from 0 to %zu once, got %llu", level, rank - 1,
                    static_cast<ull>(modes[level]));
    }
    return modes;
}

}  // namespace

SparseTarget::SparseTarget(const Descriptor& source, const TranscodeSpec& spec, const LoopOrder& order)
    : source_(&source),
      layout_(spec.layout),
      alignment_(spec.alignment == 0 ? minimum_alignment : spec.alignment),
      rank_(source.rank()),
      order_(order),
      bits_(element_type_info(source).bits) {}

Result<SparseTarget> SparseTarget::make(const Descriptor& source, const TranscodeSpec& spec) {
    if (auto checked = check_spec(source, spec); !checked) return std::unexpected(checked.error());
    const auto modes = mode_order_of(source, spec);
    if (!modes) return std::unexpected(modes.error());
    return SparseTarget(source, spec, LoopOrder(spec.layout, source.rank(), *modes));
}

Result<void> SparseTarget::add_buffer(Work& work, std::optional<std::uint64_t> entries, std::uint64_t width) {
    const auto bytes = entries ? checked_mul(*entries, width) : std::nullopt;
    if (!bytes) {
        return fail(Status::limit_exceeded, Error::no_offset, "buffer %zu: expected a result within 2^64 bytes",
                    buffers_.size());
    }
    auto buffer = work.allocate(*bytes, alignment_);
    if (!buffer) return std::unexpected(buffer.error());
    buffers_.push_back(std::move(*buffer));
    return {};
}

// Of all buffers that allocate() would take now; nothing where that is beyond any number.
std::optional<std::uint64_t> SparseTarget::bytes() const noexcept {
    // Values, and 8 bytes for each of the other entries.
    const auto values = packed_size(element_type_info(*source_), nnz_);
    std::optional<std::uint64_t> entries;
    if (layout_ == layout_tag::coo) {
        entries = checked_mul(nnz_, rank_);
    } else if (layout_ != layout_tag::csf) {
        entries = checked_add(source_->shape()[order_.dimensions()[0]], 1);
        if (entries) entries = checked_add(*entries, nnz_);
    } else {
        entries = 0;
        std::uint64_t above = 1;
        for (std::size_t level = 0; level < rank_ && entries; ++level) {
            const auto here = checked_add(above, capacity_[level]);
            // One more position than there are nodes above.
            const auto sum = here ? checked_add(*here, 1) : std::nullopt;
            entries = sum ? checked_add(*entries, *sum) : std::nullopt;
            above = capacity_[level];
        }
    }
    const auto indices = entries ? checked_mul(*entries, index_width) : std::nullopt;
    return values && indices ? checked_add(*values, *indices) : std::nullopt;
}

Result<void> SparseTarget::check_room(Work& work) const {
    const auto needed = bytes();
    if (!needed) {
        return fail(Status::limit_exceeded, Error::no_offset,
                    "nnz: expected a result within 2^64 bytes, got %llu entries", static_cast<ull>(nnz_));
    }
    if (auto reserved = work.reserve(*needed); !reserved) return reserved;
    work.release(*needed);
    return {};
}

Result<void> SparseTarget::allocate(Work& work) {
    any_ = false;
    if (auto added = add_buffer(work, packed_size(element_type_info(*source_), nnz_), 1); !added) return added;
    if (layout_ == layout_tag::coo) return add_buffer(work, checked_mul(nnz_, rank_), index_width);
    if (layout_ != layout_tag::csf) {
        if (auto added = add_buffer(work, nnz_, index_width); !added) return added;
        return add_buffer(work, checked_add(source_->shape()[order_.dimensions()[0]], 1), index_width);
    }
    std::uint64_t above = 1;
    for (std::size_t level = 0; level < rank_; ++level) {
        if (auto added = add_buffer(work, checked_add(above, 1), index_width); !added) return added;
        if (auto added = add_buffer(work, capacity_[level], index_width); !added) return added;
        above = capacity_[level];
    }
    return {};
}

bool SparseTarget::add_index(std::span<const std::uint64_t> index) noexcept {
    const auto order = order_.dimensions();
    if (layout_ == layout_tag::coo) {
        for (std::size_t k = 0; k < rank_; ++k) put(coo_buffer::indices, added_ * rank_ + k, index[k]);
        return true;
    }
    if (layout_ != layout_tag::csf) {
        put(compressed_buffer::indices, added_, index[order[1]]);
        // Counts first, see sum_up_pointers.
        std::byte* pointer = buffers_[compressed_buffer::pointers].data + 8 * (index[order[0]] + 1);
        store_le(pointer, load_le<std::uint64_t>(pointer) + 1);
        return true;
    }
    for (std::size_t level = first_new_level(index); level < rank_; ++level) {
        if (nodes_[level] == capacity_[level]) return false;
        const auto here = static_cast<std::uint32_t>(level);
        put(csf_buffer::coordinates(here), nodes_[level]++, index[order[level]]);
        // Where the children of the newest node above end.
        put(csf_buffer::positions(here), level == 0 ? 1 : nodes_[level - 1], nodes_[level]);
    }
    return true;
}

void SparseTarget::sum_up_pointers() noexcept {
    std::byte* pointers = buffers_[compressed_buffer::pointers].data;
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < buffers_[compressed_buffer::pointers].handle.byte_size / 8; ++i) {
        sum += load_le<std::uint64_t>(pointers + 8 * i);
        store_le(pointers + 8 * i, sum);
    }
}

Result<Tensor> SparseTarget::finish(std::vector<Buffer>&& parameters) {
    const bool complete = added_ == nnz_ && (layout_ != layout_tag::csf || nodes_ == capacity_);
    if (changed_ || !complete) {
        return fail(Status::invalid_argument, Error::no_offset, "tensor: changed while it was read");
    }
    DescriptorBuilder builder(source_->element_type(), layout_, source_->shape());
    if (layout_ == layout_tag::coo) {
        builder.set_coo({nnz_, true});
    } else if (layout_ == layout_tag::csf) {
        builder.set_csf({nnz_, order_.dimensions()});
    } else {
        sum_up_pointers();
        builder.set_compressed(nnz_);
    }
    for (const Buffer& buffer : buffers_) {
        if (auto added = builder.add_buffer(buffer.handle); !added) return std::unexpected(added.error());
    }
    const auto own = layout_buffer_count(source_->layout(), source_->rank()).value_or(0);
    const CarriedParts parts{.parameters = std::move(parameters),
                             .moved = own - static_cast<std::uint32_t>(buffers_.size())};
    if (auto carried = carry_sections(*source_, parts, builder); !carried) return std::unexpected(carried.error());
    if (auto statistics = statistics_fields(*source_); statistics && (statistics->computed_mask & statistics_bit::nnz)) {
        // As the layout says it: a negative zero, say, is stored.
        statistics->nnz = nnz_;
        builder.set_statistics(*statistics);
    }
    auto descriptor = builder.build();
    if (!descriptor) return std::unexpected(descriptor.error());
    Tensor result{std::move(*descriptor), std::move(buffers_)};
    result.buffers.insert(result.buffers.end(), parts.parameters.begin(), parts.parameters.end());
    return result;
}

}  // namespace hurray::transcode_detail

// Dense tensors and pages: row by row of the innermost dimension of the result, and dimensions that continue one another
// as one.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "core/hurray/layout/address.hpp"
#include "core/hurray/layout/block_paged.hpp"
#include "core/hurray/quantization/dequantizer.hpp"
#include "core/hurray/quantization/entry_map.hpp"
#include "core/hurray/quantization/packed_run.hpp"

namespace hurray::quantization_detail {
namespace {

/// A dimension of the result, of more than one element.
struct Dimension {
    std::uint64_t size;
    /// Elements of the buffer from one to the next; affine addresses only.
    std::int64_t stride;
    /// Entries from one to the next; not along the axis.
    std::uint64_t entry_stride;
    /// Elements that share an entry along the axis; 0 for other dimensions.
    std::uint64_t block;
    /// Along the axis: after so many elements the entries start again.
    std::uint64_t period;
    std::uint32_t index;
};

/// The dimensions from the slowest to the fastest.
std::vector<Dimension> dimensions_of(std::span<const std::uint64_t> shape, const EntryMap& entries, bool col_major) {
    std::vector<Dimension> dimensions;
    const auto rank = static_cast<std::uint32_t>(shape.size());
    for (std::uint32_t i = 0; i < rank; ++i) {
        const std::uint32_t k = col_major ? rank - 1 - i : i;
        if (shape[k] == 1) continue;
        const bool axis = k == entries.axis();
        dimensions.push_back({.size = shape[k],
                              .stride = 0,
                              .entry_stride = axis ? 0 : entries.stride(k),
                              .block = axis ? entries.block() : 0,
                              .period = shape[k],
                              .index = k});
    }
    if (dimensions.empty()) dimensions.push_back({1, 1, 0, 0, 1, 0});
    return dimensions;
}

/// The longest rows that are worth to be made a part of longer ones with their scales repeated.
constexpr std::uint64_t most_repeated = 256;

/// Makes one dimension of the two fastest ones, as often as the elements and the entries of both continue one another.
void merge(std::vector<Dimension>& dimensions, unsigned bits) {
    while (dimensions.size() > 1) {
        Dimension& inner = dimensions.back();
        const Dimension& outer = dimensions[dimensions.size() - 2];
        if (outer.stride != inner.stride * static_cast<std::int64_t>(inner.size)) return;
        if (outer.block != 0) {
            // Short rows that have a channel each: a row of blocks.
            if (outer.block != 1 || inner.block != 0 || inner.entry_stride != 0 || inner.stride != 1 ||
                inner.size > Dequantizer::piece / 2 || inner.size * bits % 8 != 0) {
                return;
            }
            inner.block = inner.size;
        } else if (inner.block == 0) {
            if (outer.entry_stride != inner.entry_stride * inner.size) return;
        } else if (outer.entry_stride != 0) {
            // Whole blocks along the axis, and those of the next row behind them.
            if (inner.size % inner.block != 0 || outer.entry_stride != inner.size / inner.block) return;
            inner.period *= outer.size;
        } else if (inner.block != 1 || inner.period > most_repeated) {
            return;
        }
        inner.size *= outer.size;
        const Dimension merged = inner;
        dimensions.pop_back();
        dimensions.back() = merged;
    }
}

/// Strides for every dimension; the elements of a row are where they are, or are brought together.
class AffineRows {
  public:
    AffineRows(const std::byte* data, std::uint64_t first_bit, unsigned bits) noexcept
        : data_(data), first_bit_(first_bit), bits_(bits) {}

    void enter(const std::vector<Dimension>& dimensions, const std::uint64_t* index) noexcept {
        offset_ = 0;
        for (std::size_t k = 0; k + 1 < dimensions.size(); ++k) {
            offset_ += static_cast<std::int64_t>(index[k]) * dimensions[k].stride;
        }
    }
    /// Elements first to first + count - 1 of the row.
    const std::byte* piece(const Dimension& row, std::uint64_t first, std::size_t count, std::byte* scratch) const {
        const std::int64_t start = offset_ + static_cast<std::int64_t>(first) * row.stride;
        const std::uint64_t bit = bit_of(start);
        if (row.stride == 1) {
            if (bit % 8 == 0) return data_ + bit / 8;
            copy_bits(data_, bit, count * bits_, scratch);
        } else {
            pack_elements(data_, bits_, count, scratch, [&](std::size_t i) {
                return bit_of(start + static_cast<std::int64_t>(i) * row.stride);
            });
        }
        return scratch;
    }

  private:
    [[nodiscard]] std::uint64_t bit_of(std::int64_t offset) const noexcept {
        return first_bit_ + static_cast<std::uint64_t>(offset * static_cast<std::int64_t>(bits_));
    }
    const std::byte* data_;
    std::uint64_t first_bit_;
    unsigned bits_;
    std::int64_t offset_ = 0;
};

/// Any address: every element of a row is looked up.
class MappedRows {
  public:
    MappedRows(const std::byte* data, const AddressMap& map) noexcept : data_(data), map_(map) {}

    void enter(const std::vector<Dimension>& dimensions, const std::uint64_t* index) noexcept {
        for (std::size_t k = 0; k + 1 < dimensions.size(); ++k) index_[dimensions[k].index] = index[k];
    }
    const std::byte* piece(const Dimension& row, std::uint64_t first, std::size_t count, std::byte* scratch) {
        const auto bits = static_cast<unsigned>(map_.element_bits());
        index_[row.index] = 0;
        map_.visit([&](const auto& address) {
            if constexpr (requires { address.along(0, 0); }) {
                const std::int64_t start = address(index_.data());
                pack_elements(data_, bits, count, scratch, [&](std::size_t i) {
                    return map_.bit_of(start + address.along(row.index, first + i));
                });
            } else {
                pack_elements(data_, bits, count, scratch, [&](std::size_t i) {
                    index_[row.index] = first + i;
                    return map_.bit_of(address(index_.data()));
                });
            }
        });
        return scratch;
    }

  private:
    const std::byte* data_;
    const AddressMap& map_;
    std::array<std::uint64_t, max_rank> index_{};
};

/// The scales and zero points of consecutive elements of a row that are no neighbours in the arrays, kept as long as the
/// next rows need the same ones.
class GatheredEntries {
  public:
    static constexpr std::uint64_t most = 1U << 16;

    GatheredEntries(const ParameterArrays& arrays, std::uint64_t capacity)
        : arrays_(arrays), scales_(capacity), zeros_(arrays.has_zeros() ? capacity : 0) {}

    [[nodiscard]] std::uint64_t capacity() const noexcept { return scales_.size(); }
    /// Elements first to first + count - 1 of a row, whose entries are a stride apart from one on.
    void fetch(std::uint64_t entry, std::uint64_t stride, std::uint64_t first, std::uint64_t count) {
        if (valid_ && entry == entry_ && first == first_) return;
        const std::uint64_t start = entry + first * stride;
        arrays_.gather_scales(start, stride, static_cast<std::size_t>(count), scales_.data());
        if (!zeros_.empty()) arrays_.gather_zeros(start, stride, static_cast<std::size_t>(count), zeros_.data());
        valid_ = true;
        entry_ = entry;
        first_ = first;
    }
    /// The first `period` entries of those from one on, again and again.
    void repeat(std::uint64_t entry, std::uint64_t period) {
        if (valid_ && entry == entry_) return;
        fetch(entry, 1, 0, period);
        for (std::uint64_t i = period; i < scales_.size(); ++i) scales_[i] = scales_[i - period];
        for (std::uint64_t i = period; i < zeros_.size(); ++i) zeros_[i] = zeros_[i - period];
    }
    [[nodiscard]] const float* scales(std::uint64_t i) const noexcept { return scales_.data() + i; }
    [[nodiscard]] const std::int32_t* zeros(std::uint64_t i) const noexcept {
        return zeros_.empty() ? nullptr : zeros_.data() + i;
    }

  private:
    const ParameterArrays& arrays_;
    std::vector<float> scales_;
    std::vector<std::int32_t> zeros_;
    std::uint64_t entry_ = 0;
    std::uint64_t first_ = 0;
    bool valid_ = false;
};

template <typename Rows>
class Walk {
  public:
    Walk(Dequantizer& dequantizer, const std::vector<Dimension>& dimensions, Rows& rows)
        : dequantizer_(dequantizer),
          dimensions_(dimensions),
          row_(dimensions.back()),
          rows_(rows),
          scratch_(std::make_unique_for_overwrite<std::byte[]>(Dequantizer::piece * 4)) {}

    /// Bytes that gathered() takes.
    [[nodiscard]] std::uint64_t gathered_bytes() const noexcept { return gathered_count() * 8; }

    Result<bool> run() {
        GatheredEntries gathered(dequantizer_.arrays(), gathered_count());
        std::array<std::uint64_t, max_rank> index{};
        for (;;) {
            std::uint64_t entry = 0;
            for (std::size_t k = 0; k + 1 < dimensions_.size(); ++k) {
                const Dimension& dimension = dimensions_[k];
                entry += dimension.block != 0 ? index[k] / dimension.block : index[k] * dimension.entry_stride;
            }
            rows_.enter(dimensions_, index.data());
            if (!row(entry, gathered)) return false;
            std::size_t k = dimensions_.size() - 1;
            while (k > 0 && ++index[k - 1] == dimensions_[k - 1].size) index[--k] = 0;
            if (k == 0) return true;
        }
    }

  private:
    [[nodiscard]] bool repeats() const noexcept { return row_.block == 1 && row_.period != row_.size; }
    [[nodiscard]] bool scattered() const noexcept { return row_.block == 0 && row_.entry_stride != 0; }
    // Of rows that are repeated: as many whole ones as a piece has room for.
    [[nodiscard]] std::uint64_t gathered_count() const noexcept {
        if (repeats()) return Dequantizer::piece / row_.period * row_.period;
        return scattered() ? std::min(row_.size, GatheredEntries::most) : 0;
    }

    bool row(std::uint64_t entry, GatheredEntries& gathered) {
        std::uint64_t step = repeats() ? gathered.capacity() : Dequantizer::piece;
        // Whole blocks, or a part of one.
        if (row_.block != 0 && row_.block <= step) step = step / row_.block * row_.block;
        if (repeats()) gathered.repeat(entry, row_.period);
        for (std::uint64_t first = 0; first < row_.size; first += step) {
            const auto count = static_cast<std::size_t>(std::min(step, row_.size - first));
            const std::byte* codes = rows_.piece(row_, first, count, scratch_.get());
            bool goes_on = true;
            if (repeats()) {
                goes_on = dequantizer_.elements(codes, count, gathered.scales(0), gathered.zeros(0));
            } else if (scattered()) {
                const std::uint64_t start = first / gathered.capacity() * gathered.capacity();
                gathered.fetch(entry, row_.entry_stride, start, std::min(gathered.capacity(), row_.size - start));
                goes_on = dequantizer_.elements(codes, count, gathered.scales(first - start),
                                                gathered.zeros(first - start));
            } else if (row_.block == 0) {
                goes_on = dequantizer_.one_entry(codes, count, entry);
            } else if (row_.block == 1) {
                goes_on = dequantizer_.consecutive_entries(codes, count, entry + first);
            } else {
                const auto block = static_cast<std::size_t>(std::min<std::uint64_t>(row_.block, Dequantizer::piece));
                goes_on = dequantizer_.blocks(codes, count, entry + first / row_.block, block);
            }
            if (!goes_on) return false;
        }
        return true;
    }

    Dequantizer& dequantizer_;
    const std::vector<Dimension>& dimensions_;
    const Dimension& row_;
    Rows& rows_;
    std::unique_ptr<std::byte[]> scratch_;
};

template <typename Rows>
Result<bool> walk(Dequantizer& dequantizer, const std::vector<Dimension>& dimensions, Rows rows, Work& work) {
    Walk<Rows> walk(dequantizer, dimensions, rows);
    if (auto reserved = work.reserve(walk.gathered_bytes()); !reserved) return std::unexpected(reserved.error());
    return walk.run();
}

}  // namespace

Result<bool> dequantize_dense(const Tensor& tensor, const QuantizationFields& fields, Dequantizer& dequantizer,
                              Work& work) {
    const Descriptor& descriptor = tensor.descriptor;
    const auto map = AddressMap::make(descriptor);
    if (!map) return std::unexpected(map.error());
    if (map->element_count() == 0) return true;
    const EntryMap entries(fields, descriptor.shape());
    auto dimensions = dimensions_of(descriptor.shape(), entries, descriptor.layout() == layout_tag::col_major);
    const std::byte* data = tensor.buffers[0].data;
    return map->visit([&](const auto& address) -> Result<bool> {
        if constexpr (requires { address.strides(); }) {
            for (Dimension& dimension : dimensions) {
                if (dimension.size != 1) dimension.stride = address.strides()[dimension.index];
            }
            merge(dimensions, dequantizer.bits());
            const AffineRows rows(data, descriptor.byte_offset() * 8, dequantizer.bits());
            return walk(dequantizer, dimensions, rows, work);
        } else {
            return walk(dequantizer, dimensions, MappedRows(data, *map), work);
        }
    });
}

Result<bool> dequantize_paged(const Tensor& tensor, const QuantizationFields& fields, Dequantizer& dequantizer,
                              Work& work) {
    const Descriptor& descriptor = tensor.descriptor;
    const BlockPagedFields paged = block_paged_fields(descriptor);
    const std::array<std::uint64_t, 3> pool = {paged.num_pages * paged.page_size, descriptor.shape()[1],
                                               descriptor.shape()[2]};
    if (std::ranges::find(pool, std::uint64_t{0}) != pool.end()) return true;
    // Blocks are along the slots there, and have a scale for each slot: slots are channels.
    QuantizationFields slots = fields;
    if (fields.scheme == scheme_tag::per_block_affine) slots.scheme = scheme_tag::per_channel_affine;
    const EntryMap entries(slots, pool);
    auto dimensions = dimensions_of(pool, entries, false);
    std::int64_t stride = 1;
    for (std::size_t k = dimensions.size(); k-- > 0;) {
        dimensions[k].stride = stride;
        stride *= static_cast<std::int64_t>(dimensions[k].size);
    }
    merge(dimensions, dequantizer.bits());
    return walk(dequantizer, dimensions, AffineRows(tensor.buffers[0].data, 0, dequantizer.bits()), work);
}

}  // namespace hurray::quantization_detail

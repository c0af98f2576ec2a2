// Which entry of the parameter arrays an element belongs to. (format: block index of the per-block scheme)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/quantization/scheme.hpp"

namespace hurray::quantization_detail {

/// The share of each dimension in the entry: index * stride, and index / block * 1 along the axis.
class EntryMap {
  public:
    /// @param fields of a known scheme whose axis is below the rank
    /// @param shape without a dynamic dimension; its entries were counted, so that none of them is beyond 64 bits
    EntryMap(const QuantizationFields& fields, std::span<const std::uint64_t> shape) noexcept : rank_(shape.size()) {
        const QuantizationScheme* scheme = find_scheme(fields.scheme);
        if (!scheme->has(SchemeField::axis)) return;
        axis_ = fields.axis;
        block_ = scheme->has_blocks() ? fields.block_size : 1;
        if (!scheme->has_blocks()) return;
        std::uint64_t step = shape[axis_] / block_ + (shape[axis_] % block_ != 0 ? 1 : 0);
        for (std::size_t k = rank_; k-- > 0;) {
            if (k == axis_) continue;
            strides_[k] = step;
            step *= shape[k];
        }
    }

    static constexpr std::size_t no_axis = ~std::size_t{0};

    /// The quantized dimension; no_axis of the per-tensor scheme.
    [[nodiscard]] std::size_t axis() const noexcept { return axis_; }
    /// Elements that share an entry along the axis: 1 for channels.
    [[nodiscard]] std::uint64_t block() const noexcept { return block_; }
    /// What a step in another dimension than the axis adds to the entry.
    [[nodiscard]] std::uint64_t stride(std::size_t dimension) const noexcept { return strides_[dimension]; }

    [[nodiscard]] std::uint64_t operator()(const std::uint64_t* index) const noexcept {
        std::uint64_t entry = 0;
        for (std::size_t k = 0; k < rank_; ++k) {
            entry += k == axis_ ? index[k] / block_ : index[k] * strides_[k];
        }
        return entry;
    }

  private:
    std::size_t rank_;
    std::size_t axis_ = no_axis;
    std::uint64_t block_ = 1;
    std::array<std::uint64_t, max_rank> strides_{};
};

}  // namespace hurray::quantization_detail

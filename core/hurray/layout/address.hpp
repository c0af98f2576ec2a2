// Where the elements of a dense tensor lie, for every dense layout. (format: memory layout, element address)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/layout/hilbert_curve.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {

/// Row-major, column-major and strided: a step for each dimension.
class AffineAddress {
  public:
    explicit AffineAddress(std::span<const std::int64_t> strides) noexcept : rank_(strides.size()) {
        for (std::size_t k = 0; k < rank_; ++k) strides_[k] = strides[k];
    }
    [[nodiscard]] std::int64_t operator()(const std::uint64_t* index) const noexcept {
        std::int64_t offset = 0;
        for (std::size_t k = 0; k < rank_; ++k) offset += along(k, index[k]);
        return offset;
    }
    [[nodiscard]] std::int64_t along(std::size_t dimension, std::uint64_t i) const noexcept {
        return static_cast<std::int64_t>(i) * strides_[dimension];
    }
    /// In elements, one a dimension; 0 where a dimension has one element only.
    [[nodiscard]] std::span<const std::int64_t> strides() const noexcept { return {strides_.data(), rank_}; }

  private:
    std::size_t rank_;
    std::array<std::int64_t, max_rank> strides_{};
};

/// Tiles: the offset of an index is a sum over the dimensions and, in each, over the levels.
class TiledAddress {
  public:
    /// One level of one dimension: tiles of `unit` elements, `stride` elements apart. The last level's unit is 1.
    struct Step {
        std::uint64_t unit;
        std::int64_t stride;
        /// Binary logarithm of the unit; not_a_power when it has none.
        std::uint8_t shift;
    };
    static constexpr std::uint8_t not_a_power = 64;

    /// @param steps those of dimension 0 from the outermost level on, then those of dimension 1, ...
    TiledAddress(std::size_t rank, std::vector<Step> steps)
        : rank_(rank), depth_(steps.size() / rank), steps_(std::move(steps)) {}

    [[nodiscard]] std::int64_t operator()(const std::uint64_t* index) const noexcept {
        std::int64_t offset = 0;
        for (std::size_t k = 0; k < rank_; ++k) offset += along(k, index[k]);
        return offset;
    }
    [[nodiscard]] std::int64_t along(std::size_t dimension, std::uint64_t i) const noexcept {
        const Step* step = steps_.data() + dimension * depth_;
        const Step* last = step + depth_ - 1;
        std::int64_t offset = 0;
        for (; step != last; ++step) {
            const std::uint64_t tile = step->shift != not_a_power ? i >> step->shift : i / step->unit;
            offset += static_cast<std::int64_t>(tile) * step->stride;
            i -= tile * step->unit;
        }
        return offset + static_cast<std::int64_t>(i) * last->stride;
    }
    /// Levels of tiles and, as one more, the elements of the innermost.
    [[nodiscard]] std::size_t depth() const noexcept { return depth_; }
    [[nodiscard]] const Step& step(std::size_t dimension, std::size_t level) const noexcept {
        return steps_[dimension * depth_ + level];
    }

  private:
    std::size_t rank_;
    std::size_t depth_;
    std::vector<Step> steps_;
};

/// Morton: the codes of the dimensions have no bit in common, so that they add up.
class MortonAddress {
  public:
    explicit MortonAddress(std::size_t rank) noexcept;

    [[nodiscard]] std::int64_t operator()(const std::uint64_t* index) const noexcept {
        std::int64_t code = 0;
        for (std::size_t k = 0; k < rank_; ++k) code += along(k, index[k]);
        return code;
    }
    [[nodiscard]] std::int64_t along(std::size_t dimension, std::uint64_t i) const noexcept {
        std::uint64_t code = 0;
        for (std::size_t shift = dimension; i != 0; shift += 8 * rank_, i >>= 8) {
            // Bits of the code beyond 63 are those of index bits that no element has.
            if ((i & 0xFF) != 0) code |= spread_[i & 0xFF] << shift;
        }
        return static_cast<std::int64_t>(code);
    }

  private:
    std::size_t rank_;
    // Bit b of the byte at bit b * rank.
    std::array<std::uint64_t, 256> spread_;
};

/// Hilbert: the place on the curve.
class HilbertAddress {
  public:
    HilbertAddress(std::uint32_t rank, std::uint32_t order) noexcept : rank_(rank), order_(order) {}

    [[nodiscard]] std::int64_t operator()(const std::uint64_t* index) const noexcept {
        std::uint64_t x[max_rank];
        for (std::uint32_t k = 0; k < rank_; ++k) x[k] = index[k];
        return static_cast<std::int64_t>(hilbert_index(x, rank_, order_));
    }
    [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
    [[nodiscard]] std::uint32_t order() const noexcept { return order_; }

  private:
    std::uint32_t rank_;
    std::uint32_t order_;
};

/// A dense tensor's way from an index to a place, made once and then used without a check, an allocation or a virtual
/// call for each element. Offsets are in elements from byte_offset; every one of them, and its bit in the buffer, fits
/// into 63 bits.
///
/// Keeps nothing of the descriptor. Thread rule: may be read by any number of threads.
class AddressMap {
  public:
    using Address = std::variant<AffineAddress, TiledAddress, MortonAddress, HilbertAddress>;

    /// Counts over whole blocks where the last block of a quantized axis is short.
    /// @param descriptor row-major, column-major, strided, tiled, Morton or Hilbert, without a dynamic dimension
    /// @errors unsupported: another layout; invalid_layout: a dynamic dimension; limit_exceeded: places beyond 2^63-1 bits
    static Result<AddressMap> make(const Descriptor& descriptor);
    /// As above, for elements of another type, and for a tensor that is stored as one of another shape.
    /// @param storage_shape the shape that implied strides and tiles are counted over; no size below the tensor's own.
    ///     Row-major and column-major only
    /// @errors likewise; invalid_argument: storage_shape; invalid_layout: no room in buffer 0 for it
    static Result<AddressMap> make(const Descriptor& descriptor, const ElementTypeInfo& type,
                                   std::span<const std::uint64_t> storage_shape);

    [[nodiscard]] std::uint8_t layout() const noexcept { return layout_; }
    [[nodiscard]] std::span<const std::uint64_t> shape() const noexcept { return shape_; }
    [[nodiscard]] std::uint64_t element_count() const noexcept { return element_count_; }
    /// Bits from one element to the next one.
    [[nodiscard]] std::uint64_t element_bits() const noexcept { return element_bits_; }
    [[nodiscard]] std::uint64_t byte_offset() const noexcept { return byte_offset_; }
    /// The reach of the elements, and of the padding of tiles: the lowest and the highest offset. Both 0 without elements.
    [[nodiscard]] std::int64_t lowest() const noexcept { return lowest_; }
    [[nodiscard]] std::int64_t highest() const noexcept { return highest_; }

    /// The offset of an element, for an index within the shape. For loops take visit: it decides on the layout once.
    [[nodiscard]] std::int64_t offset(const std::uint64_t* index) const noexcept;
    /// The bit of buffer 0 in which the element at an offset starts: its lowest bit, bits of a byte counted from the
    /// lowest. A multiple of 8 for types of whole bytes. For 6-bit types, whose groups of four fill three bytes in the
    /// same order, it holds as well.
    [[nodiscard]] std::uint64_t bit_of(std::int64_t offset) const noexcept {
        return byte_offset_ * 8 + static_cast<std::uint64_t>(offset * static_cast<std::int64_t>(element_bits_));
    }
    /// The byte of buffer 0 in which the element at an offset starts.
    [[nodiscard]] std::uint64_t byte_of(std::int64_t offset) const noexcept { return bit_of(offset) / 8; }

    /// As offset, for an index that comes from outside.
    /// @errors invalid_argument: not one value a dimension; index_out_of_bounds
    [[nodiscard]] Result<std::int64_t> checked_offset(std::span<const std::uint64_t> index) const;

    /// Whether the offset of an index is a sum of one number for each dimension (all layouts but Hilbert). Loops may
    /// then look these numbers up in a table for each dimension.
    [[nodiscard]] bool is_separable() const noexcept { return !std::holds_alternative<HilbertAddress>(address_); }
    /// The share of dimension k in the offset; 0 for a layout that is not separable.
    [[nodiscard]] std::int64_t offset_along(std::size_t k, std::uint64_t i) const noexcept;

    /// Calls `use` with the address of the layout: const AffineAddress&, TiledAddress, MortonAddress or HilbertAddress.
    template <typename Use>
    decltype(auto) visit(Use&& use) const {
        switch (address_.index()) {
            case 0:
                return use(*std::get_if<0>(&address_));
            case 1:
                return use(*std::get_if<1>(&address_));
            case 2:
                return use(*std::get_if<2>(&address_));
            default:
                return use(*std::get_if<3>(&address_));
        }
    }

    /// A loop of the storage: `unit` elements of a dimension at a time, `stride` elements of the buffer apart.
    struct Loop {
        std::uint64_t unit;
        std::int64_t stride;
        std::uint32_t dimension;
    };
    /// The loops from the slowest to the fastest one; empty for Hilbert. See StorageOrder.
    [[nodiscard]] std::span<const Loop> loops() const noexcept { return loops_; }

  private:
    AddressMap(Address&& address, std::vector<Loop>&& loops) noexcept
        : address_(std::move(address)), loops_(std::move(loops)) {}
    friend class AddressMapMaker;

    Address address_;
    std::vector<Loop> loops_;
    std::vector<std::uint64_t> shape_;
    std::uint64_t element_count_ = 0;
    std::uint64_t byte_offset_ = 0;
    std::int64_t lowest_ = 0;
    std::int64_t highest_ = 0;
    std::uint64_t element_bits_ = 0;
    std::uint8_t layout_ = 0;
};

inline std::int64_t AddressMap::offset(const std::uint64_t* index) const noexcept {
    return visit([&](const auto& address) { return address(index); });
}

}  // namespace hurray

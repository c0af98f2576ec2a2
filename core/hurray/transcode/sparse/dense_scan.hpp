// Finding the elements of a dense tensor that are not 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/hurray/layout/address.hpp"
#include "core/hurray/transcode/sparse/element_bits.hpp"

namespace hurray::transcode_detail {

/// Looks at the elements of a dense tensor in the order of nested loops over its dimensions, a piece of the innermost loop
/// at a time, and lists those with any bit set. No allocation; no virtual call for an element.
///
/// Refers to map and buffer.
class DenseScan {
  public:
    /// The most elements of a piece.
    static constexpr std::size_t most = 4096;

    /// @param buffer buffer 0, as the descriptor of the map has it
    /// @param order the dimensions from the outermost loop to the innermost; empty for rank 0
    DenseScan(const AddressMap& map, const std::byte* buffer, std::span<const std::uint64_t> order) noexcept;

    /// Looks at the next piece; false when there is none.
    bool next() noexcept;
    /// How many elements the piece had.
    [[nodiscard]] std::uint64_t looked_at() const noexcept { return piece_; }
    /// Calls `use(index, bit)` for each element of the piece that is not 0, in order: the index has one value a dimension,
    /// the element starts at that bit of the buffer.
    template <typename Use>
    void for_each(Use&& use) noexcept {
        const std::span<const std::uint64_t> given(index_.data(), map_.shape().size());
        std::uint64_t& inner = index_[innermost_];
        const std::uint64_t first = inner;
        for (std::size_t i = 0; i < hits_; ++i) {
            inner = first + steps_[i];
            use(given, bits_[i]);
        }
        inner = first;
    }

  private:
    template <typename Address>
    void look_at(const Address& address) noexcept;
    void hit(std::uint64_t step, std::uint64_t bit) noexcept {
        if (elements_.is_zero(buffer_, bit)) return;
        steps_[hits_] = static_cast<std::uint16_t>(step);
        bits_[hits_] = bit;
        ++hits_;
    }
    void look_at_run(std::uint64_t bit) noexcept;

    const AddressMap& map_;
    const std::byte* buffer_;
    ElementBits elements_;
    std::size_t innermost_ = 0;
    std::size_t loops_ = 0;
    std::array<std::uint64_t, max_rank> order_{};
    std::array<std::uint64_t, max_rank> index_{};
    std::uint64_t piece_ = 0;
    std::size_t hits_ = 0;
    bool started_ = false;
    std::array<std::uint16_t, most> steps_;
    std::array<std::uint64_t, most> bits_;
};

}  // namespace hurray::transcode_detail

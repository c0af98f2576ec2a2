#include "core/hurray/composite/region.hpp"

#include <algorithm>
#include <cstring>

namespace hurray {
namespace {

// Up to 8 bits from a bit on.
unsigned load_up_to_a_byte(const std::byte* from, std::uint64_t bit, unsigned count) noexcept {
    const unsigned shift = bit % 8;
    unsigned value = static_cast<unsigned>(from[bit / 8]) >> shift;
    if (shift + count > 8) value |= static_cast<unsigned>(from[bit / 8 + 1]) << (8 - shift);
    return value & ((1U << count) - 1);
}

}  // namespace

RowMajorRegion::RowMajorRegion(std::span<const std::uint64_t> whole, std::span<const std::uint64_t> low,
                               std::span<const std::uint64_t> shape) noexcept
    : rank_(whole.size()) {
    std::uint64_t stride = 1;
    for (std::size_t k = rank_; k-- > 0;) {
        strides_[k] = stride;
        shape_[k] = shape[k];
        start_ += low[k] * stride;
        count_ *= shape[k];
        stride *= whole[k];
    }
    if (count_ == 0) return;
    // A run goes on into a dimension as long as the ones behind it are whole.
    outer_ = rank_;
    while (outer_ > 0) {
        --outer_;
        run_ *= shape[outer_];
        if (shape[outer_] != whole[outer_]) break;
    }
}

void copy_bits(const std::byte* from, std::uint64_t from_bit, std::byte* to, std::uint64_t to_bit,
               std::uint64_t bit_count) noexcept {
    const auto copy_some = [&](unsigned count) {
        const unsigned value = load_up_to_a_byte(from, from_bit, count);
        const unsigned shift = to_bit % 8;
        const unsigned mask = ((1U << count) - 1) << shift;
        std::byte& target = to[to_bit / 8];
        target = static_cast<std::byte>((static_cast<unsigned>(target) & ~mask) | (value << shift & mask));
        from_bit += count;
        to_bit += count;
        bit_count -= count;
    };
    if (to_bit % 8 != 0) copy_some(static_cast<unsigned>(std::min<std::uint64_t>(8 - to_bit % 8, bit_count)));
    if (from_bit % 8 == 0) {
        const std::uint64_t bytes = bit_count / 8;
        std::memcpy(to + to_bit / 8, from + from_bit / 8, bytes);
        from_bit += 8 * bytes;
        to_bit += 8 * bytes;
        bit_count -= 8 * bytes;
    }
    while (bit_count >= 8) copy_some(8);
    if (bit_count != 0) copy_some(static_cast<unsigned>(bit_count));
}

}  // namespace hurray

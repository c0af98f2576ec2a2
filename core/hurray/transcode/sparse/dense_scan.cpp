#include "core/hurray/transcode/sparse/dense_scan.hpp"

#include <algorithm>
#include <cstring>

namespace hurray::transcode_detail {
namespace {

// Whole groups of every packed type, and whole elements of every other that is not too wide.
constexpr std::uint64_t block_bytes = 48;

bool is_zero_block(const std::byte* from) noexcept {
    std::array<std::uint64_t, block_bytes / 8> words;
    std::memcpy(words.data(), from, block_bytes);
    std::uint64_t all = 0;
    for (const std::uint64_t word : words) all |= word;
    return all == 0;
}

}  // namespace

DenseScan::DenseScan(const AddressMap& map, const std::byte* buffer, std::span<const std::uint64_t> order) noexcept
    : map_(map), buffer_(buffer), elements_(map.element_bits()), loops_(order.size()) {
    std::ranges::copy(order, order_.begin());
    if (loops_ != 0) innermost_ = order_[loops_ - 1];
}

// Elements one after the other in memory: blocks of zeros, of which there are most in a tensor that is worth the while,
// are passed over.
void DenseScan::look_at_run(std::uint64_t bit) noexcept {
    const std::uint64_t width = elements_.bits();
    const std::uint64_t in_block = block_bytes * 8 % width == 0 ? block_bytes * 8 / width : 0;
    std::uint64_t step = 0;
    while (step < piece_) {
        const std::uint64_t at = bit + step * width;
        if (in_block != 0 && piece_ - step >= in_block && at % 8 == 0 && is_zero_block(buffer_ + at / 8)) {
            step += in_block;
            continue;
        }
        // Up to the next place at which a block may start.
        const std::uint64_t end = std::min(piece_, step + std::max<std::uint64_t>(in_block, 1));
        for (; step < end; ++step) hit(step, bit + step * width);
    }
}

template <typename Address>
void DenseScan::look_at(const Address& address) noexcept {
    std::uint64_t& inner = index_[innermost_];
    const std::uint64_t first = inner;
    if constexpr (requires { address.along(innermost_, first); }) {
        const std::int64_t others = address(index_.data()) - address.along(innermost_, first);
        for (std::uint64_t step = 0; step < piece_; ++step) hit(step, map_.bit_of(others + address.along(innermost_, first + step)));
    } else {
        for (std::uint64_t step = 0; step < piece_; ++step) {
            inner = first + step;
            hit(step, map_.bit_of(address(index_.data())));
        }
        inner = first;
    }
}

bool DenseScan::next() noexcept {
    if (map_.element_count() == 0) return false;
    if (!started_) {
        started_ = true;
    } else {
        // Behind the piece: further along the innermost loop, or one step of a loop around it.
        std::size_t loop = loops_;
        if (loop == 0) return false;
        std::uint64_t step = piece_;
        while (loop > 0) {
            std::uint64_t& i = index_[order_[loop - 1]];
            i += step;
            if (i < map_.shape()[order_[loop - 1]]) break;
            i = 0;
            step = 1;
            --loop;
        }
        if (loop == 0) return false;
    }
    const std::uint64_t left = loops_ == 0 ? 1 : map_.shape()[innermost_] - index_[innermost_];
    piece_ = std::min<std::uint64_t>(left, most);
    hits_ = 0;
    map_.visit([&](const auto& address) {
        if constexpr (requires { address.strides(); }) {
            if (loops_ != 0 && address.strides()[innermost_] == 1) {
                look_at_run(map_.bit_of(address(index_.data())));
                return;
            }
        }
        look_at(address);
    });
    return true;
}

}  // namespace hurray::transcode_detail

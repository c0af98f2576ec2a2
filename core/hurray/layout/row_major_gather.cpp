#include "core/hurray/layout/row_major_gather.hpp"

#include <algorithm>
#include <cstring>

namespace hurray {
namespace {

// Arithmetic on element numbers wraps in unsigned form: intermediate steps may pass the range, the results do not.
std::int64_t step(std::int64_t position, std::int64_t stride, std::uint64_t times) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(position) + static_cast<std::uint64_t>(stride) * times);
}

template <std::size_t Size>
void copy_strided(std::byte* out, const std::byte* origin, std::int64_t element, std::int64_t stride,
                  std::uint64_t count) {
    const std::byte* from = origin + element * static_cast<std::int64_t>(Size);
    const std::int64_t distance = stride * static_cast<std::int64_t>(Size);
    for (std::uint64_t i = 0; i < count; ++i) {
        // The address is computed for elements that exist only.
        std::memcpy(out + i * Size, from + static_cast<std::int64_t>(i) * distance, Size);
    }
}

void copy_strided_any(std::byte* out, const std::byte* origin, std::size_t size, std::int64_t element,
                      std::int64_t stride, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        std::memcpy(out + i * size, origin + step(element, stride, i) * static_cast<std::int64_t>(size), size);
    }
}

// An element of less than a byte; may lie in two bytes.
unsigned read_bits(const std::byte* origin, std::int64_t element, std::uint32_t bits) {
    const std::int64_t position = element * static_cast<std::int64_t>(bits);
    const std::int64_t byte = position >> 3;  // rounds down, for negative positions too
    const auto shift = static_cast<unsigned>(position & 7);
    unsigned value = std::to_integer<unsigned>(origin[byte]) >> shift;
    if (shift + bits > 8) value |= std::to_integer<unsigned>(origin[byte + 1]) << (8 - shift);
    return value & ((1U << bits) - 1);
}

void write_bits(std::byte* out, std::uint64_t element, std::uint32_t bits, unsigned value) {
    const std::uint64_t position = element * bits;
    const std::uint64_t byte = position >> 3;
    const auto shift = static_cast<unsigned>(position & 7);
    out[byte] |= static_cast<std::byte>(value << shift);
    if (shift + bits > 8) out[byte + 1] |= static_cast<std::byte>(value >> (8 - shift));
}

}  // namespace

RowMajorGather::RowMajorGather(const StridedElements& elements) noexcept : elements_(elements) {
    remaining_ = 1;
    for (const std::uint64_t dimension : elements.shape) remaining_ *= dimension;
    // The innermost dimensions that continue one another form one run.
    std::size_t rank = elements.shape.size();
    while (rank > 0 && elements.shape[rank - 1] == 1) --rank;
    if (rank > 0) {
        --rank;
        run_length_ = elements.shape[rank];
        run_stride_ = elements.strides[rank];
        while (rank > 0 && (elements.shape[rank - 1] == 1 ||
                            elements.strides[rank - 1] == step(0, run_stride_, run_length_))) {
            --rank;
            run_length_ *= elements.shape[rank];
        }
    }
    outer_rank_ = rank;
}

void RowMajorGather::copy_run(std::byte* out, std::uint64_t out_element, std::uint64_t count) noexcept {
    const std::int64_t element = step(run_start_, run_stride_, run_position_);
    if (elements_.bits < 8) {
        const bool whole_bytes = run_stride_ == 1 && (static_cast<std::uint64_t>(element) * elements_.bits) % 8 == 0 &&
                                 (out_element * elements_.bits) % 8 == 0;
        std::uint64_t done = 0;
        if (whole_bytes) {
            const std::uint64_t bytes = count * elements_.bits / 8;
            const std::int64_t from = element * static_cast<std::int64_t>(elements_.bits) / 8;
            if (bytes != 0) std::memcpy(out + out_element * elements_.bits / 8, elements_.origin + from, bytes);
            done = bytes * 8 / elements_.bits;
            // A 6-bit element that only begins in the bytes copied is written again, whole; its bits are the same.
        }
        for (; done < count; ++done) {
            write_bits(out, out_element + done, elements_.bits,
                       read_bits(elements_.origin, step(element, run_stride_, done), elements_.bits));
        }
        return;
    }
    const std::size_t size = elements_.bits / 8;
    std::byte* to = out + out_element * size;
    if (run_stride_ == 1) {
        std::memcpy(to, elements_.origin + element * static_cast<std::int64_t>(size), count * size);
        return;
    }
    switch (size) {
        case 1: return copy_strided<1>(to, elements_.origin, element, run_stride_, count);
        case 2: return copy_strided<2>(to, elements_.origin, element, run_stride_, count);
        case 4: return copy_strided<4>(to, elements_.origin, element, run_stride_, count);
        case 8: return copy_strided<8>(to, elements_.origin, element, run_stride_, count);
        case 16: return copy_strided<16>(to, elements_.origin, element, run_stride_, count);
        default: return copy_strided_any(to, elements_.origin, size, element, run_stride_, count);
    }
}

void RowMajorGather::advance(std::uint64_t count) noexcept {
    run_position_ += count;
    if (run_position_ < run_length_) return;
    run_position_ = 0;
    for (std::size_t k = outer_rank_; k-- > 0;) {
        run_start_ = step(run_start_, elements_.strides[k], 1);
        if (++index_[k] < elements_.shape[k]) return;
        run_start_ = step(run_start_, elements_.strides[k], 0 - elements_.shape[k]);
        index_[k] = 0;
    }
}

void RowMajorGather::next(std::span<std::byte> out, std::uint64_t count) noexcept {
    if (count == 0) return;
    if (elements_.bits < 8) {
        std::memset(out.data(), 0, static_cast<std::size_t>((count * elements_.bits + 7) / 8));
    }
    std::uint64_t done = 0;
    while (done < count) {
        const std::uint64_t piece = std::min(count - done, run_length_ - run_position_);
        copy_run(out.data(), done, piece);
        advance(piece);
        done += piece;
    }
    remaining_ -= count;
}

}  // namespace hurray

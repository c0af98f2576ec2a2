// Handing out the elements of a dense tensor, whatever its strides, in row-major order and piece by piece.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hurray {

/// Elements that lie at strides. `origin` is the byte in which element (0, ..., 0) starts, at its lowest bit; strides
/// are in elements, any sign, 0 included. The caller has checked that every reachable element is readable.
struct StridedElements {
    const std::byte* origin = nullptr;
    /// Bits of one element: 1, 2, 4, 6 or a multiple of 8.
    std::uint32_t bits = 0;
    /// At most 64 dimensions; as many strides.
    std::span<const std::uint64_t> shape;
    std::span<const std::int64_t> strides;
};

/// Hands out the elements in row-major order of their indices, piece by piece, so that a tensor of any size goes through
/// a small buffer. Elements of less than a byte are packed from the lowest bit, as in every Hurray buffer.
///
/// Refers to shape, strides and memory of what it was made from. One thread at a time.
class RowMajorGather {
public:
    explicit RowMajorGather(const StridedElements& elements) noexcept;

    /// Elements not handed out yet. 0 from the start when a dimension is 0.
    [[nodiscard]] std::uint64_t remaining() const noexcept { return remaining_; }

    /// Writes the next `count` elements (at most remaining()) to `out`, from its first bit, and sets the unused high
    /// bits of the last byte to 0. `out` holds at least the bytes of that many elements.
    void next(std::span<std::byte> out, std::uint64_t count) noexcept;

private:
    void copy_run(std::byte* out, std::uint64_t out_element, std::uint64_t count) noexcept;
    void advance(std::uint64_t count) noexcept;

    StridedElements elements_;
    /// Dimensions in front of the innermost run; the run itself has run_length_ elements, run_stride_ apart.
    std::size_t outer_rank_ = 0;
    std::uint64_t run_length_ = 1;
    std::int64_t run_stride_ = 1;
    std::uint64_t run_position_ = 0;
    std::int64_t run_start_ = 0;
    std::array<std::uint64_t, 64> index_{};
    std::uint64_t remaining_ = 0;
};

}  // namespace hurray

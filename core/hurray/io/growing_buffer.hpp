// Memory for data whose announced length is not believed until the data is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/memory/buffer.hpp"

namespace hurray {

/// Grows towards a final size in doubling steps: never holds more than a first step or twice what has been filled.
/// The data keeps its alignment. Growth moves pages rather than bytes where realloc does so (large blocks).
class GrowingBuffer {
public:
    /// What is taken on trust.
    static constexpr std::uint64_t first_step = std::uint64_t{1} << 20;

    /// `alignment`: a power of two. `trusted`: so many bytes are known to come and may be allocated at once.
    GrowingBuffer(std::uint64_t final_size, std::uint32_t alignment, std::uint64_t trusted = 0) noexcept;
    GrowingBuffer(const GrowingBuffer&) = delete;
    GrowingBuffer& operator=(const GrowingBuffer&) = delete;
    ~GrowingBuffer();

    [[nodiscard]] bool full() const noexcept { return filled_ == final_size_; }

    /// Memory for the next bytes, never empty unless full. Its contents are undefined. Errors: out_of_memory.
    Result<std::span<std::byte>> space();
    /// Declares the first `count` bytes of that memory filled.
    void fill(std::size_t count) noexcept { filled_ += count; }

    /// Hands the full memory over as a buffer of `final_size` bytes. Errors: out_of_memory.
    Result<Buffer> finish();

private:
    Result<void> grow(std::uint64_t capacity);

    std::uint64_t final_size_;
    std::uint64_t trusted_;
    std::uint32_t alignment_;
    void* block_ = nullptr;
    /// Where the aligned data starts in the block.
    std::size_t shift_ = 0;
    std::uint64_t capacity_ = 0;
    std::uint64_t filled_ = 0;
};

}  // namespace hurray

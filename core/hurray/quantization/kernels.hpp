// The inner loops of dequantization: runs of stored elements to float32. What differs between the schemes is what a code
// stands for, and how many elements share a scale; nothing else comes this far down.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hurray::quantization_detail {

/// What the bits of a stored element are.
enum class Codes : std::uint8_t {
    int8,
    uint8,
    int16,
    uint16,
    int32,
    uint32,
    /// The number of one of 16 levels.
    four_bits,
    /// The number of one of the first 4 levels.
    two_bits,
    e4m3,
    e5m2,
    e2m3,
    e3m2,
};
inline constexpr std::size_t codes_count = 12;

/// Bits of one element.
constexpr unsigned bits_of(Codes codes) noexcept {
    switch (codes) {
        case Codes::two_bits:
            return 2;
        case Codes::four_bits:
            return 4;
        case Codes::e2m3:
        case Codes::e3m2:
            return 6;
        case Codes::int16:
        case Codes::uint16:
            return 16;
        case Codes::int32:
        case Codes::uint32:
            return 32;
        default:
            return 8;
    }
}

/// A run of elements that follow one another. Nothing of it needs alignment.
struct Run {
    /// The first element starts at the lowest bit.
    const std::byte* codes = nullptr;
    /// What the codes of 4 and 2 bits stand for: 16 numbers.
    const float* levels = nullptr;
    /// One float32 a block, or an element.
    const std::byte* scales = nullptr;
    /// One int32 likewise; null when all are 0, as for all codes but integers.
    const std::byte* zeros = nullptr;
    float* out = nullptr;
};

/// scale * (number of the code - zero point), the difference exact (with 32 bits: rounded once), the product rounded to
/// float32; `count` elements.
/// @param block how many elements share a scale and zero point: each block but the last has as many; at least 1
using BlockKernel = void (*)(const Run& run, std::size_t block, std::size_t count) noexcept;
/// The same with a scale and zero point for each element.
using ElementKernel = void (*)(const Run& run, std::size_t count) noexcept;

struct Kernels {
    /// The vector instructions that these use.
    const char* name;
    BlockKernel blocks[codes_count];
    ElementKernel elements[codes_count];
    /// Copies numbers past the caches where the processor can do that: for more of them than the caches hold.
    void (*stream)(const float* from, float* to, std::size_t count) noexcept;

    [[nodiscard]] BlockKernel block_kernel(Codes codes) const noexcept {
        return blocks[static_cast<std::size_t>(codes)];
    }
    [[nodiscard]] ElementKernel element_kernel(Codes codes) const noexcept {
        return elements[static_cast<std::size_t>(codes)];
    }
};

/// Without vector instructions; what tests compare the others with.
extern const Kernels scalar_kernels;

/// The best ones that this processor runs; the same ones for the whole life of the process.
const Kernels& kernels() noexcept;

/// Every set that this processor runs, the best one first, the scalar one last; ends with a null pointer.
const Kernels* const* all_kernels() noexcept;

}  // namespace hurray::quantization_detail

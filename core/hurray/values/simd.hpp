// Conversions from and to float32 with vector instructions, for the processor at hand.
#pragma once

#include <cstddef>

namespace hurray::values_detail {

/// Converts `count` elements, which need no alignment.
using SimdRead = void (*)(const std::byte* data, float* out, std::size_t count) noexcept;

/// Converts `count` numbers to elements, which need no alignment; what is too large becomes infinity.
using SimdWrite = void (*)(const float* numbers, std::byte* data, std::size_t count) noexcept;

struct SimdKernels {
    /// The vector instructions that these use.
    const char* name;
    SimdRead float16;
    SimdRead bfloat16;
    SimdRead e4m3;
    SimdRead e5m2;
    SimdWrite to_float16;
    SimdWrite to_bfloat16;
};

/// The best ones that this processor runs; the same ones for the whole life of the process.
const SimdKernels& simd_kernels() noexcept;

/// Every set that this processor runs, the best one first; ends with a null pointer.
const SimdKernels* const* all_simd_kernels() noexcept;

}  // namespace hurray::values_detail

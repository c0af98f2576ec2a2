// Which of the sets of kernels that a file was compiled to this processor runs. Comes after <hwy/highway.h>, for the part
// of the file that is compiled once.
#pragma once

#include <hwy/highway.h>

#include <cstddef>

#include "core/hurray/values/x86_features.hpp"

namespace hurray::values_detail {

/// The sets that this processor runs, the best one first; ends with a null pointer.
template <typename Set>
struct SimdSets {
    const Set* sets[6] = {};
    std::size_t count = 0;

    void add(const Set& set, bool runs = true) noexcept {
        if (runs) sets[count++] = &set;
    }
};

}  // namespace hurray::values_detail

#if HWY_ARCH_X86 && (HWY_TARGETS & HWY_AVX3)
#define HURRAY_ADD_AVX3(out, kernels) (out).add(N_AVX3::kernels, ::hurray::values_detail::X86Features().avx512)
#else
#define HURRAY_ADD_AVX3(out, kernels) static_cast<void>(0)
#endif
#if HWY_ARCH_X86 && (HWY_TARGETS & HWY_AVX2)
#define HURRAY_ADD_AVX2(out, kernels) (out).add(N_AVX2::kernels, ::hurray::values_detail::X86Features().avx2)
#else
#define HURRAY_ADD_AVX2(out, kernels) static_cast<void>(0)
#endif
#if HWY_ARCH_X86 && (HWY_TARGETS & HWY_SSE4)
#define HURRAY_ADD_SSE4(out, kernels) (out).add(N_SSE4::kernels, ::hurray::values_detail::X86Features().sse4)
#else
#define HURRAY_ADD_SSE4(out, kernels) static_cast<void>(0)
#endif
// What the library was compiled for, where that is none of those.
#if HWY_STATIC_TARGET != HWY_AVX3 && HWY_STATIC_TARGET != HWY_AVX2 && HWY_STATIC_TARGET != HWY_SSE4
#define HURRAY_ADD_STATIC(out, kernels) (out).add(HWY_STATIC_DISPATCH(kernels))
#else
#define HURRAY_ADD_STATIC(out, kernels) static_cast<void>(0)
#endif

/// Adds the sets called `kernels`, one in the namespace of each set of instructions within the current one.
#define HURRAY_ADD_SIMD_SETS(out, kernels) \
    HURRAY_ADD_AVX3(out, kernels);         \
    HURRAY_ADD_AVX2(out, kernels);         \
    HURRAY_ADD_SSE4(out, kernels);         \
    HURRAY_ADD_STATIC(out, kernels)

// Which vector instructions this x86 processor and its operating system run. Asked of the processor itself: the
// compilers'
// __builtin_cpu_supports needs a run-time library that not all of them bring (Zig does not).
#pragma once

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

#include <cstdint>
#include <initializer_list>

namespace hurray::values_detail {

struct X86Features {
    bool sse4 = false;
    /// With FMA, BMI 1 and 2 and F16C.
    bool avx2 = false;
    /// F, DQ, BW, VL, and all of avx2.
    bool avx512 = false;
    /// Carry-less multiplication in the vectors of AVX2, and in those of AVX-512 where these are there, too.
    bool vpclmul = false;

    X86Features() noexcept {
        unsigned a = 0;
        unsigned b = 0;
        unsigned c = 0;
        unsigned d = 0;
        if (__get_cpuid(1, &a, &b, &c, &d) == 0) return;
        const auto all = [](unsigned word, std::initializer_list<int> bits) {
            for (const int bit : bits) {
                if ((word >> bit & 1) == 0) return false;
            }
            return true;
        };
        // PCLMULQDQ, SSSE3, SSE4.1, SSE4.2, AES
        sse4 = all(c, {1, 9, 19, 20, 25});
        // FMA, OSXSAVE, AVX, F16C
        if (!sse4 || !all(c, {12, 27, 28, 29})) return;
        // Registers that the operating system keeps: XMM and YMM; opmask and both parts of ZMM.
        const std::uint64_t kept = kept_registers();
        if ((kept & 0x06) != 0x06 || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return;
        // BMI1, AVX2, BMI2
        avx2 = all(b, {3, 5, 8});
        vpclmul = avx2 && all(c, {10});
        avx512 = avx2 && (kept & 0xE0) == 0xE0 && all(b, {16, 17, 30, 31});
    }

  private:
    static std::uint64_t kept_registers() noexcept {
        std::uint32_t low = 0;
        std::uint32_t high = 0;
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        return std::uint64_t{high} << 32 | low;
    }
};

}  // namespace hurray::values_detail
#endif

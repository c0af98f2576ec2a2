#include "processor.hpp"

namespace cli {

Kernels kernels() {
    Kernels result;
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool sse4 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("pclmul") &&
                      __builtin_cpu_supports("aes");
    const bool avx2 = sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    result.sets = {{"scalar", "nothing", true},
                   {"sse4", "SSE4.2, SSSE3, PCLMULQDQ, AES", sse4},
                   {"avx2", "AVX2, FMA, BMI 1 and 2, F16C", avx2},
                   {"avx512", "AVX-512 F, DQ, BW, VL", avx512}};
#elif defined(__aarch64__)
    result.sets = {{"scalar", "nothing", true}, {"neon", "every processor of 64 bits", true}};
#else
    result.sets = {{"scalar", "nothing", true}};
#endif
    for (const VectorSet& set : result.sets) {
        if (set.there) result.chosen = set.name;
    }
    return result;
}

}  // namespace cli

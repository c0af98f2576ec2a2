// Compiled once for each set of vector instructions below, by including itself; what the processor runs is chosen at
// load. Integer arithmetic and one exact conversion from integers only: neither signalling NaNs nor subnormal numbers
// depend on a mode of the processor.
#include "core/hurray/values/simd.hpp"

#include <cstdint>
#include <cstring>

// Sets beyond these gain nothing here.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/hurray/values/simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hurray::values_detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Words = hn::RebindToSigned<Floats>;
using Word = hn::Vec<Words>;

HWY_INLINE Word constant(int value) {
    return hn::Set(Words(), value);
}

// From the bits of an element to those of a float32.
struct Float16 {
    using Element = std::uint16_t;
    static HWY_INLINE Word convert(Word bits) {
        const Word sign = hn::ShiftLeft<16>(hn::And(bits, constant(0x8000)));
        const Word magnitude = hn::And(bits, constant(0x7FFF));
        const Word rebias = constant((127 - 15) << 23);
        const Word normal = hn::Add(hn::ShiftLeft<13>(magnitude), rebias);
        const Word special = hn::Add(normal, rebias);
        // Mantissa * 2^-24, which is exact.
        const Word subnormal =
            hn::BitCast(Words(), hn::Mul(hn::ConvertTo(Floats(), magnitude), hn::Set(Floats(), 1.0f / (1 << 24))));
        Word result = hn::IfThenElse(hn::Lt(magnitude, constant(0x0400)), subnormal, normal);
        result = hn::IfThenElse(hn::Gt(magnitude, constant(0x7BFF)), special, result);
        return hn::Or(result, sign);
    }
};

struct Bfloat16 {
    using Element = std::uint16_t;
    static HWY_INLINE Word convert(Word bits) { return hn::ShiftLeft<16>(bits); }
};

struct E4m3 {
    using Element = std::uint8_t;
    static HWY_INLINE Word convert(Word bits) {
        const Word sign = hn::ShiftLeft<24>(hn::And(bits, constant(0x80)));
        const Word magnitude = hn::And(bits, constant(0x7F));
        const Word normal = hn::Add(hn::ShiftLeft<20>(magnitude), constant((127 - 7) << 23));
        const Word subnormal =
            hn::BitCast(Words(), hn::Mul(hn::ConvertTo(Floats(), magnitude), hn::Set(Floats(), 1.0f / (1 << 9))));
        Word result = hn::IfThenElse(hn::Lt(magnitude, constant(0x08)), subnormal, normal);
        result = hn::IfThenElse(hn::Eq(magnitude, constant(0x7F)), constant(0x7FC00000), result);
        return hn::Or(result, sign);
    }
};

// The upper byte of a float16.
struct E5m2 {
    using Element = std::uint8_t;
    static HWY_INLINE Word convert(Word bits) { return Float16::convert(hn::ShiftLeft<8>(bits)); }
};

template <typename Format>
HWY_INLINE void convert_vector(const std::uint8_t* from, float* to) {
    using Element = typename Format::Element;
    const hn::Rebind<Element, Floats> elements;
#if HWY_TARGET == HWY_SCALAR
    Element element;
    std::memcpy(&element, from, sizeof element);
    const auto packed = hn::Set(elements, element);
#else
    const hn::Repartition<std::uint8_t, decltype(elements)> bytes;  // which need no alignment
    const auto packed = hn::BitCast(elements, hn::LoadU(bytes, from));
#endif
    hn::StoreU(hn::BitCast(Floats(), Format::convert(hn::PromoteTo(Words(), packed))), Floats(), to);
}

template <typename Format>
void convert_all(const std::byte* data, float* out, std::size_t count) noexcept {
    constexpr std::size_t size = sizeof(typename Format::Element);
    const std::size_t lanes = hn::Lanes(Floats());
    const auto* from = reinterpret_cast<const std::uint8_t*>(data);
    std::size_t done = 0;
    for (; done + lanes <= count; done += lanes) convert_vector<Format>(from + done * size, out + done);
    const std::size_t rest = count - done;
    if (rest == 0) return;
    // The last ones by way of a whole vector, so that nothing beyond them is touched.
    std::uint8_t last_bytes[hn::MaxLanes(Floats()) * size] = {};
    float last[hn::MaxLanes(Floats())];
    std::memcpy(last_bytes, from + done * size, rest * size);
    convert_vector<Format>(last_bytes, last);
    std::memcpy(out + done, last, rest * sizeof(float));
}

constexpr SimdKernels kernels = {
    HWY_STR(HWY_NAMESPACE), convert_all<Float16>, convert_all<Bfloat16>, convert_all<E4m3>, convert_all<E5m2>,
};

}  // namespace hurray::values_detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hurray::values_detail {
namespace {

struct Available {
    const SimdKernels* sets[5] = {};

    Available() noexcept {
        std::size_t count = 0;
        const auto add = [&](const SimdKernels& set, bool runs) {
            if (runs) sets[count++] = &set;
        };
#if HWY_TARGETS & HWY_AVX3
        add(N_AVX3::kernels, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                                 __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                                 __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                                 __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"));
#endif
#if HWY_TARGETS & HWY_AVX2
        add(N_AVX2::kernels, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                                 __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"));
#endif
#if HWY_TARGETS & HWY_SSE4
        add(N_SSE4::kernels, __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul"));
#endif
#if HWY_STATIC_TARGET != HWY_AVX3 && HWY_STATIC_TARGET != HWY_AVX2 && HWY_STATIC_TARGET != HWY_SSE4
        // What the library was compiled for.
        add(HWY_STATIC_DISPATCH(kernels), true);
#endif
    }
};

const Available& available() noexcept {
    static const Available sets;
    return sets;
}

}  // namespace

const SimdKernels& simd_kernels() noexcept {
    return *available().sets[0];
}

const SimdKernels* const* all_simd_kernels() noexcept {
    return available().sets;
}

}  // namespace hurray::values_detail
#endif

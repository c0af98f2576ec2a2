// Compiled once for each set of vector instructions below, by including itself; what the processor runs is chosen at
// the first use. Nothing here depends on a mode of the processor: integer arithmetic, conversions that are exact, and
// no NaN that an instruction makes quiet is left so.
#include "core/hurray/values/simd.hpp"

#include <cstdint>
#include <cstring>

#include "core/hurray/values/x86_features.hpp"

// Sets beyond these gain nothing here. Vectors of 64 bytes are left out where they do not work: the stack on which the
// address sanitizer watches for use after return is not aligned for them with GCC 12, whose code then faults; and newer
// clangs (Zig's) want a feature named for them that this Highway does not know of.
#if defined(HURRAY_ASAN) || defined(__clang__)
#define HURRAY_BROKEN_HERE HWY_AVX3
#else
#define HURRAY_BROKEN_HERE 0
#endif
#define HWY_DISABLED_TARGETS \
    (HURRAY_BROKEN_HERE | HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
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

    // From the bits of a float32, in the lower 16 bits.
    static HWY_INLINE Word round(Word bits) {
        const Word magnitude = hn::And(bits, constant(0x7FFFFFFF));
        const Word odd = hn::And(hn::ShiftRight<13>(magnitude), constant(1));
        const Word rebias = constant((127 - 15) << 23);
        // A carry goes on into the exponent. From 65520 on, everything is infinity.
        Word result = hn::ShiftRight<13>(hn::Sub(hn::Add(hn::Add(magnitude, constant(0xFFF)), odd), rebias));
        result = hn::IfThenElse(hn::Gt(magnitude, constant(0x477FEFFF)), constant(0x7C00), result);
        // Below 2^-14: in units of 2^-24, of which there are less than 2^11.
        result = hn::IfThenElse(hn::Lt(magnitude, constant(113 << 23)), subnormal(magnitude), result);
        const Word payload = hn::And(hn::ShiftRight<13>(magnitude), constant(0x03FF));
        const Word nan =
            hn::Or(constant(0x7C00), hn::IfThenElse(hn::Eq(payload, constant(0)), constant(0x0200), payload));
        result = hn::IfThenElse(hn::Gt(magnitude, constant(0x7F800000)), nan, result);
        return hn::Or(result, hn::And(hn::ShiftRight<16>(bits), constant(0x8000)));
    }

  private:
    // The significand shifted down to units of 2^-24 by an amount of its own, and rounded.
    static HWY_INLINE Word subnormal(Word magnitude) {
        const hn::RebindToUnsigned<Words> unsigned_words;
        const Word significand = hn::Or(hn::And(magnitude, constant(0x007FFFFF)), constant(0x00800000));
        // 126 minus the exponent's field: at least 14, or the result is not used; with 25, nothing is left of 24 bits.
        const Word exact = hn::Sub(constant(126), hn::ShiftRight<23>(magnitude));
        const Word shift = hn::Max(hn::Min(exact, constant(25)), constant(14));
        const auto by = hn::BitCast(unsigned_words, shift);
        const auto wide = hn::BitCast(unsigned_words, significand);
        const auto one = hn::Set(unsigned_words, 1);
        const auto kept = hn::Shr(wide, by);
        const auto half = hn::Shl(one, hn::Sub(by, one));
        const auto rounded = hn::Add(hn::Add(wide, hn::Sub(half, one)), hn::And(kept, one));
        return hn::BitCast(Words(), hn::Shr(rounded, by));
    }
};

struct Bfloat16 {
    using Element = std::uint16_t;
    static HWY_INLINE Word convert(Word bits) { return hn::ShiftLeft<16>(bits); }

    // The upper half, rounded: a carry goes on into the exponent and makes infinity of what is too large.
    static HWY_INLINE Word round(Word bits) {
        const Word magnitude = hn::And(bits, constant(0x7FFFFFFF));
        const Word odd = hn::And(hn::ShiftRight<16>(magnitude), constant(1));
        const Word number = hn::ShiftRight<16>(hn::Add(hn::Add(magnitude, constant(0x7FFF)), odd));
        const Word cut = hn::ShiftRight<16>(magnitude);
        const Word nan = hn::IfThenElse(hn::Eq(cut, constant(0x7F80)), constant(0x7FC0), cut);
        const Word result = hn::IfThenElse(hn::Gt(magnitude, constant(0x7F800000)), nan, number);
        return hn::Or(result, hn::And(hn::ShiftRight<16>(bits), constant(0x8000)));
    }
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

// Elements of `from`, which need no alignment.
template <typename Element>
HWY_INLINE auto load_elements(const std::uint8_t* from) {
    const hn::Rebind<Element, Floats> elements;
#if HWY_TARGET == HWY_SCALAR
    Element element;
    std::memcpy(&element, from, sizeof element);
    return hn::Set(elements, element);
#else
    const hn::Repartition<std::uint8_t, decltype(elements)> bytes;
    return hn::BitCast(elements, hn::LoadU(bytes, from));
#endif
}

template <typename Format>
HWY_INLINE void read_vector(const std::uint8_t* from, float* to) {
    const auto elements = load_elements<typename Format::Element>(from);
    hn::StoreU(hn::BitCast(Floats(), Format::convert(hn::PromoteTo(Words(), elements))), Floats(), to);
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
// The processor's own conversion, which is exact in every mode of it but makes signalling NaNs quiet.
template <>
HWY_INLINE void read_vector<Float16>(const std::uint8_t* from, float* to) {
    const auto elements = load_elements<std::uint16_t>(from);
    const auto numbers = hn::PromoteTo(Floats(), hn::BitCast(hn::Rebind<hwy::float16_t, Floats>(), elements));
    hn::StoreU(numbers, Floats(), to);
    if (!hn::AllTrue(Floats(), hn::Eq(numbers, numbers))) {
        hn::StoreU(hn::BitCast(Floats(), Float16::convert(hn::PromoteTo(Words(), elements))), Floats(), to);
    }
}
#endif

template <typename Format>
void read_all(const std::byte* data, float* out, std::size_t count) noexcept {
    constexpr std::size_t size = sizeof(typename Format::Element);
    const std::size_t lanes = hn::Lanes(Floats());
    const auto* from = reinterpret_cast<const std::uint8_t*>(data);
    std::size_t done = 0;
    for (; done + 4 * lanes <= count; done += 4 * lanes) {
        for (std::size_t i = 0; i < 4; ++i) {
            read_vector<Format>(from + (done + i * lanes) * size, out + done + i * lanes);
        }
    }
    for (; done + lanes <= count; done += lanes) read_vector<Format>(from + done * size, out + done);
    const std::size_t rest = count - done;
    if (rest == 0) return;
    // The last ones by way of a whole vector, so that nothing beyond them is touched.
    std::uint8_t last_bytes[hn::MaxLanes(Floats()) * size] = {};
    float last[hn::MaxLanes(Floats())];
    std::memcpy(last_bytes, from + done * size, rest * size);
    read_vector<Format>(last_bytes, last);
    std::memcpy(out + done, last, rest * sizeof(float));
}

template <typename Format>
HWY_INLINE void write_vector(const float* from, std::uint8_t* to) {
    const hn::Rebind<std::uint16_t, Floats> elements;
    const auto packed = hn::DemoteTo(elements, Format::round(hn::BitCast(Words(), hn::LoadU(Floats(), from))));
#if HWY_TARGET == HWY_SCALAR
    const std::uint16_t element = hn::GetLane(packed);
    std::memcpy(to, &element, sizeof element);
#else
    const hn::Repartition<std::uint8_t, decltype(elements)> bytes;
    hn::StoreU(hn::BitCast(bytes, packed), bytes, to);
#endif
}

template <typename Format>
void write_all(const float* numbers, std::byte* data, std::size_t count) noexcept {
    const std::size_t lanes = hn::Lanes(Floats());
    auto* to = reinterpret_cast<std::uint8_t*>(data);
    std::size_t done = 0;
    for (; done + lanes <= count; done += lanes) write_vector<Format>(numbers + done, to + done * 2);
    const std::size_t rest = count - done;
    if (rest == 0) return;
    float last[hn::MaxLanes(Floats())] = {};
    std::uint8_t last_bytes[hn::MaxLanes(Floats()) * 2];
    std::memcpy(last, numbers + done, rest * sizeof(float));
    write_vector<Format>(last, last_bytes);
    std::memcpy(to + done * 2, last_bytes, rest * 2);
}

constexpr SimdKernels kernels = {
    HWY_STR(HWY_NAMESPACE), read_all<Float16>,  read_all<Bfloat16>,  read_all<E4m3>,
    read_all<E5m2>,         write_all<Float16>, write_all<Bfloat16>,
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
#if HWY_ARCH_X86
        const X86Features processor;
#if HWY_TARGETS & HWY_AVX3
        add(N_AVX3::kernels, processor.avx512);
#endif
#if HWY_TARGETS & HWY_AVX2
        add(N_AVX2::kernels, processor.avx2);
#endif
#if HWY_TARGETS & HWY_SSE4
        add(N_SSE4::kernels, processor.sse4);
#endif
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

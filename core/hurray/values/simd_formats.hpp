// From the bits of floating-point formats to those of float32 and back, in vectors. Part of every file that is compiled
// once for each set of vector instructions: its guard lets it in once for each of them.
#if defined(HURRAY_VALUES_SIMD_FORMATS_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef HURRAY_VALUES_SIMD_FORMATS_HPP
#undef HURRAY_VALUES_SIMD_FORMATS_HPP
#else
#define HURRAY_VALUES_SIMD_FORMATS_HPP
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

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

}  // namespace hurray::values_detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

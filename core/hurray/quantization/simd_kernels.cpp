// Compiled once for each set of vector instructions, by including itself; what the processor runs is chosen at the first
// use. Every number is worked out by the same roundings as in the scalar kernels, so that the results have the same bits.
#include "core/hurray/quantization/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/hurray/quantization/scalar_kernels.hpp"
#include "core/hurray/values/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/hurray/quantization/simd_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "core/hurray/values/simd_formats.hpp"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && !HWY_HAVE_SCALABLE
HWY_BEFORE_NAMESPACE();
namespace hurray::quantization_detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace formats = values_detail::HWY_NAMESPACE;
using formats::constant;
using formats::Floats;
using formats::Word;
using formats::Words;
using Float = hn::Vec<Floats>;
using UnsignedWords = hn::RebindToUnsigned<Words>;

constexpr std::size_t lanes = HWY_MAX_BYTES / sizeof(float);
static_assert(lanes == 4 || lanes == 8 || lanes == 16);

template <typename T>
HWY_INLINE T load(const std::uint8_t* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// The same part of consecutive lanes: one word for every `group` of them, from `size` bytes.
template <std::size_t group, std::size_t size>
HWY_INLINE auto spread(const std::uint8_t* from) {
    if constexpr (group == lanes) {
        std::uint32_t word = 0;
        std::memcpy(&word, from, size);
        return hn::Set(UnsignedWords(), word);
    } else {
        static_assert(lanes == 2 * group);
        const hn::Half<UnsignedWords> half;
        std::uint32_t words[2] = {};
        std::memcpy(&words[0], from, size);
        std::memcpy(&words[1], from + size, size);
        return hn::Combine(UnsignedWords(), hn::Set(half, words[1]), hn::Set(half, words[0]));
    }
}

// Packed elements, each in the low bits of its lane; what is above them is cut off.
template <unsigned bits, std::size_t group>
HWY_INLINE Word unpack(const std::uint8_t* from) {
    const auto lane = hn::And(hn::Iota(UnsignedWords(), 0), hn::Set(UnsignedWords(), group - 1));
    const auto shifts = hn::Mul(lane, hn::Set(UnsignedWords(), bits));
    const auto words = hn::Shr(spread<group, group * bits / 8>(from), shifts);
    return hn::BitCast(Words(), hn::And(words, hn::Set(UnsignedWords(), (1U << bits) - 1)));
}

#if HWY_TARGET == HWY_AVX3
// Twice as many elements of 4 bits as there are lanes. What is above the 4 bits is left: the instruction that looks
// numbers up in a table of 16 does not look at it.
struct TwoWords {
    Word first;
    Word second;
};
HWY_INLINE TwoWords unpack_32_of_4_bits(const std::uint8_t* from) {
    const hn::FixedTag<std::uint8_t, 16> bytes;
    const hn::FixedTag<std::uint16_t, 8> pairs;
    const auto even = hn::LoadU(bytes, from);
    const auto odd = hn::BitCast(bytes, hn::ShiftRight<4>(hn::BitCast(pairs, even)));
    return {hn::PromoteTo(Words(), hn::InterleaveLower(bytes, even, odd)),
            hn::PromoteTo(Words(), hn::InterleaveUpper(bytes, even, odd))};
}
#endif

// 16 numbers to look up.
class Levels {
  public:
    HWY_INLINE explicit Levels(const float* levels) {
        for (std::size_t i = 0; i < 16 / lanes; ++i) parts_[i] = hn::LoadU(Floats(), levels + i * lanes);
    }
    // What they are with a scale and a zero point.
    template <bool with_zeros>
    HWY_INLINE Levels scaled(float scale, std::int32_t zero) const {
        Levels result(*this);
        for (auto& part : result.parts_) {
            if constexpr (with_zeros) part = hn::Sub(part, hn::Set(Floats(), static_cast<float>(zero)));
            part = hn::Mul(hn::Set(Floats(), scale), part);
        }
        return result;
    }
#if HWY_TARGET == HWY_AVX3
    // Looks at the lowest 4 bits of each code only.
    HWY_INLINE Float of_lowest_bits(Word codes) const { return Float{_mm512_permutexvar_ps(codes.raw, parts_[0].raw)}; }
#endif
    HWY_INLINE Float operator[](Word codes) const {
        if constexpr (lanes == 16) {
            return hn::TableLookupLanes(parts_[0], hn::IndicesFromVec(Floats(), codes));
        } else if constexpr (lanes == 8) {
            const auto place = hn::IndicesFromVec(Floats(), hn::And(codes, constant(7)));
            const auto upper = hn::RebindMask(Floats(), hn::Gt(codes, constant(7)));
            return hn::IfThenElse(upper, hn::TableLookupLanes(parts_[1], place), hn::TableLookupLanes(parts_[0], place));
        } else {
            const auto place = hn::IndicesFromVec(Floats(), hn::And(codes, constant(3)));
            Float result = hn::TableLookupLanes(parts_[0], place);
            for (int i = 1; i < 4; ++i) {
                const auto above = hn::RebindMask(Floats(), hn::Gt(codes, constant(4 * i - 1)));
                result = hn::IfThenElse(above, hn::TableLookupLanes(parts_[i], place), result);
            }
            return result;
        }
    }

  private:
    Float parts_[16 / lanes];
};

// Bytes of elements, one a lane.
HWY_INLINE auto bytes_of(const std::uint8_t* from) {
    return formats::load_elements<std::uint8_t>(from);
}

// Elements of 6 bits, four in three bytes, as bytes.
HWY_INLINE auto six_bits_of(const std::uint8_t* from) {
    const hn::FixedTag<std::uint64_t, 1> half;
    const hn::FixedTag<std::uint64_t, 2> whole;
    const hn::FixedTag<std::uint8_t, 16> bytes;
    const hn::FixedTag<std::uint32_t, 4> words;
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    if constexpr (lanes == 16) {
        low = load<std::uint64_t>(from);
        high = load<std::uint32_t>(from + 8);
    } else if constexpr (lanes == 8) {
        low = load<std::uint32_t>(from) | std::uint64_t{load<std::uint16_t>(from + 4)} << 32;
    } else {
        low = load<std::uint16_t>(from) | std::uint64_t{from[2]} << 16;
    }
    const auto packed = hn::BitCast(bytes, hn::Combine(whole, hn::Set(half, high), hn::Set(half, low)));
    // Three bytes to a word; the fourth is cut off below.
    HWY_ALIGN static constexpr std::uint8_t places[16] = {0, 1, 2, 15, 3, 4, 5, 15, 6, 7, 8, 15, 9, 10, 11, 15};
    const auto groups = hn::BitCast(words, hn::TableLookupBytes(packed, hn::Load(bytes, places)));
    const auto first = hn::And(groups, hn::Set(words, 0x0000003F));
    const auto second = hn::And(hn::ShiftLeft<2>(groups), hn::Set(words, 0x00003F00));
    const auto third = hn::And(hn::ShiftLeft<4>(groups), hn::Set(words, 0x003F0000));
    const auto fourth = hn::And(hn::ShiftLeft<6>(groups), hn::Set(words, 0x3F000000));
    const auto apart = hn::BitCast(bytes, hn::Or(hn::Or(first, second), hn::Or(third, fourth)));
    if constexpr (lanes == 16) {
        return apart;
    } else if constexpr (lanes == 8) {
        return hn::LowerHalf(apart);
    } else {
        return hn::LowerHalf(hn::LowerHalf(apart));
    }
}

template <Codes codes>
HWY_INLINE auto codes_of(const std::uint8_t* from) {
    if constexpr (bits_of(codes) == 6) {
        return six_bits_of(from);
    } else {
        return bytes_of(from);
    }
}

constexpr bool are_levels(Codes codes) {
    return codes == Codes::four_bits || codes == Codes::two_bits;
}
constexpr bool are_integers(Codes codes) {
    return codes == Codes::int8 || codes == Codes::uint8 || codes == Codes::int16 || codes == Codes::uint16;
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
// Small floating-point numbers by way of float16, which the processor converts by itself, its subnormal numbers included
// and whatever its mode. The exponents differ in their bias: what is left to multiply with is a power of two.
constexpr float rest_of(Codes codes) {
    switch (codes) {
        case Codes::e4m3:
            return 1 << (15 - 7);
        case Codes::e2m3:
            return 1 << (15 - 1);
        case Codes::e3m2:
            return 1 << (15 - 3);
        default:
            return 1;
    }
}

// e4m3's NaN is a number of float16: it is looked for in many elements at once.
constexpr bool looks_for_nan(Codes codes) {
    return codes == Codes::e4m3;
}
template <Codes codes, std::size_t count>
HWY_INLINE bool has_nan(const std::uint8_t* from) {
    if constexpr (codes == Codes::e4m3) {
        const hn::FixedTag<std::uint8_t, std::min<std::size_t>(count, HWY_MAX_BYTES)> bytes;
        const auto all = hn::Set(bytes, 0x7F);
        auto found = hn::Eq(hn::And(hn::LoadU(bytes, from), all), all);
        for (std::size_t i = hn::Lanes(bytes); i < count; i += hn::Lanes(bytes)) {
            found = hn::Or(found, hn::Eq(hn::And(hn::LoadU(bytes, from + i), all), all));
        }
        return !hn::AllFalse(bytes, found);
    } else {
        return false;
    }
}

template <Codes codes, bool may_be_nan = false>
HWY_INLINE Float unbiased_of(const std::uint8_t* from) {
    using Halves = hn::Rebind<std::uint16_t, Floats>;
    using SignedHalves = hn::RebindToSigned<Halves>;
    const Halves halves;
    hn::Vec<Halves> half;
    if constexpr (codes == Codes::e5m2) {
        half = hn::ShiftLeft<8>(hn::PromoteTo(halves, codes_of<codes>(from)));
    } else if constexpr (codes == Codes::e4m3) {
        const hn::Rebind<std::int8_t, Floats> signed_bytes;
        const auto wide = hn::PromoteTo(SignedHalves(), hn::BitCast(signed_bytes, codes_of<codes>(from)));
        half = hn::And(hn::BitCast(halves, hn::ShiftLeft<7>(wide)), hn::Set(halves, 0xBF80));
        if constexpr (may_be_nan) {
            const auto all = hn::Set(halves, 0x3F80);
            const auto nan = hn::Or(hn::And(half, hn::Set(halves, 0x8000)), hn::Set(halves, 0x7E00));
            half = hn::IfThenElse(hn::Eq(hn::And(half, all), all), nan, half);
        }
    } else {
        const auto wide = hn::PromoteTo(halves, codes_of<codes>(from));
        const auto sign = hn::ShiftLeft<10>(hn::And(wide, hn::Set(halves, 0x20)));
        constexpr int up = codes == Codes::e2m3 ? 7 : 8;
        half = hn::Or(sign, hn::ShiftLeft<up>(hn::And(wide, hn::Set(halves, 0x1F))));
    }
    return hn::PromoteTo(Floats(), hn::BitCast(hn::Rebind<hwy::float16_t, Floats>(), half));
}
#else
constexpr float rest_of(Codes) {
    return 1;
}
constexpr bool looks_for_nan(Codes) {
    return false;
}
template <Codes codes, std::size_t count>
HWY_INLINE bool has_nan(const std::uint8_t*) {
    return false;
}

// float6: exponent and mantissa below the sign bit.
template <int mantissa_bits, int bias>
HWY_INLINE Word float6(Word bits) {
    const Word sign = hn::ShiftLeft<26>(hn::And(bits, constant(0x20)));
    const Word magnitude = hn::And(bits, constant(0x1F));
    const Word normal = hn::Add(hn::ShiftLeft<23 - mantissa_bits>(magnitude), constant((127 - bias) << 23));
    constexpr float unit = 1.0f / static_cast<float>(1 << (mantissa_bits + bias - 1));
    const Word subnormal =
        hn::BitCast(Words(), hn::Mul(hn::ConvertTo(Floats(), magnitude), hn::Set(Floats(), unit)));
    return hn::Or(hn::IfThenElse(hn::Lt(magnitude, constant(1 << mantissa_bits)), subnormal, normal), sign);
}

template <Codes codes, bool may_be_nan = false>
HWY_INLINE Float unbiased_of(const std::uint8_t* from) {
    const Word bits = hn::PromoteTo(Words(), codes_of<codes>(from));
    if constexpr (codes == Codes::e5m2) {
        return hn::BitCast(Floats(), formats::E5m2::convert(bits));
    } else if constexpr (codes == Codes::e4m3) {
        return hn::BitCast(Floats(), formats::E4m3::convert(bits));
    } else if constexpr (codes == Codes::e2m3) {
        return hn::BitCast(Floats(), float6<3, 1>(bits));
    } else {
        return hn::BitCast(Floats(), float6<2, 3>(bits));
    }
}
#endif

template <Codes codes>
HWY_INLINE Word integers_of(const std::uint8_t* from) {
    if constexpr (codes == Codes::int8) {
        return hn::PromoteTo(Words(), formats::load_elements<std::int8_t>(from));
    } else if constexpr (codes == Codes::uint8) {
        return hn::PromoteTo(Words(), formats::load_elements<std::uint8_t>(from));
    } else if constexpr (codes == Codes::int16) {
        return hn::PromoteTo(Words(), formats::load_elements<std::int16_t>(from));
    } else {
        static_assert(codes == Codes::uint16);
        return hn::PromoteTo(Words(), formats::load_elements<std::uint16_t>(from));
    }
}

template <Codes codes>
HWY_INLINE Word levels_of(const std::uint8_t* from) {
    if constexpr (codes == Codes::four_bits) {
        return unpack<4, (lanes < 8 ? lanes : 8)>(from);
    } else {
        return unpack<2, lanes>(from);
    }
}

// Scales below this one can be multiplied with what is left to multiply with.
template <Codes codes>
constexpr float largest_scale = 1e38f / rest_of(codes);

// Whether all scales are below it.
template <Codes codes>
HWY_INLINE bool scales_leave_room(const Run& run, std::size_t entries) {
    const hn::Repartition<std::uint8_t, Floats> bytes;
    const auto* scales = reinterpret_cast<const std::uint8_t*>(run.scales);
    const Float limit = hn::Set(Floats(), largest_scale<codes>);
    auto fits = hn::Lt(hn::Zero(Floats()), limit);
    std::size_t i = 0;
    for (; i + lanes <= entries; i += lanes) {
        const Float some = hn::BitCast(Floats(), hn::LoadU(bytes, scales + i * sizeof(float)));
        fits = hn::And(fits, hn::Lt(hn::Abs(some), limit));
    }
    if (!hn::AllTrue(Floats(), fits)) return false;
    for (; i < entries; ++i) {
        if (!(std::fabs(scale_at(run, i)) < largest_scale<codes>)) return false;
    }
    return true;
}

// What the elements of a block are made with.
template <Codes codes, bool with_zeros>
class BlockMaker {
  public:
    HWY_INLINE explicit BlockMaker(const Run&) {}
    // Whether the scale can be taken: not when it is too large for what is multiplied into it.
    HWY_INLINE bool take(float scale, [[maybe_unused]] std::int32_t zero) {
        constexpr float rest = rest_of(codes);
        if constexpr (rest != 1) {
            // NaN neither.
            if (!(std::fabs(scale) < largest_scale<codes>)) return false;
            scale *= rest;
        }
        scale_ = hn::Set(Floats(), scale);
        if constexpr (with_zeros) zero_ = constant(zero);
        return true;
    }
    // The same for a scale that can be taken.
    HWY_INLINE void take_unchecked(float scale) {
        scale_ = hn::Mul(hn::Set(Floats(), scale), hn::Set(Floats(), rest_of(codes)));
    }
    template <bool may_be_nan>
    HWY_INLINE Float make(const std::uint8_t* from) const {
        if constexpr (are_integers(codes)) {
            Word integers = integers_of<codes>(from);
            if constexpr (with_zeros) integers = hn::Sub(integers, zero_);
            return hn::Mul(scale_, hn::ConvertTo(Floats(), integers));
        } else {
            return hn::Mul(scale_, unbiased_of<codes, may_be_nan>(from));
        }
    }

  private:
    Float scale_;
    Word zero_;
};

template <Codes codes, bool with_zeros>
class LevelsMaker {
  public:
    HWY_INLINE explicit LevelsMaker(const Run& run) : base_(run.levels), levels_(base_) {}
    HWY_INLINE bool take(float scale, std::int32_t zero) {
        levels_ = base_.scaled<with_zeros>(scale, zero);
        return true;
    }
#if HWY_TARGET == HWY_AVX3
    HWY_INLINE void make_two_vectors(const std::uint8_t* from, float* to) const {
        const TwoWords words = unpack_32_of_4_bits(from);
        hn::StoreU(levels_.of_lowest_bits(words.first), Floats(), to);
        hn::StoreU(levels_.of_lowest_bits(words.second), Floats(), to + lanes);
    }
#endif
    template <bool>
    HWY_INLINE Float make(const std::uint8_t* from) const {
        return levels_[levels_of<codes>(from)];
    }

  private:
    Levels base_;
    Levels levels_;
};

template <Codes codes, bool with_zeros>
using Maker = std::conditional_t<are_levels(codes), LevelsMaker<codes, with_zeros>, BlockMaker<codes, with_zeros>>;

// A number of elements that is known here, of one block.
template <Codes codes, std::size_t size, bool with_zeros>
HWY_INLINE void some(const Maker<codes, with_zeros>& maker, const std::uint8_t* from, float* to, bool may_be_nan) {
    static_assert(size % lanes == 0);
    constexpr std::size_t bits = bits_of(codes);
#if HWY_TARGET == HWY_AVX3
    if constexpr (codes == Codes::four_bits && size % 32 == 0) {
        for (std::size_t i = 0; i < size; i += 32) maker.make_two_vectors(from + i / 2, to + i);
        return;
    }
#endif
    if (looks_for_nan(codes) && may_be_nan) [[unlikely]] {
        for (std::size_t i = 0; i < size; i += lanes) {
            hn::StoreU(maker.template make<true>(from + i * bits / 8), Floats(), to + i);
        }
        return;
    }
    for (std::size_t i = 0; i < size; i += lanes) {
        hn::StoreU(maker.template make<false>(from + i * bits / 8), Floats(), to + i);
    }
}

// Whole blocks of a size that is known here.
template <Codes codes, std::size_t size, bool with_zeros>
HWY_INLINE std::size_t whole_blocks(const Run& given, std::size_t count) {
    static_assert(size % lanes == 0);
    constexpr std::size_t bits = bits_of(codes);
    // A copy that the numbers written cannot be thought to change.
    const Run run = given;
    const auto* from = reinterpret_cast<const std::uint8_t*>(run.codes);
    float* to = run.out;
    Maker<codes, with_zeros> maker(run);
    std::size_t done = 0;
    std::size_t entry = 0;
    const auto step = [&] {
        ++entry;
        done += size;
        from += size * bits / 8;
        to += size;
    };
    if constexpr (rest_of(codes) != 1) {
        // Many blocks at once of which is known that there is nothing special in them.
        constexpr std::size_t together = size < 256 ? 256 : size;
        if (scales_leave_room<codes>(run, count / size)) {
            while (done + together <= count) {
                const std::size_t end = done + together;
                if (has_nan<codes, together>(from)) {
                    while (done < end) {
                        maker.take_unchecked(scale_at(run, entry));
                        some<codes, size, with_zeros>(maker, from, to, true);
                        step();
                    }
                } else {
                    while (done < end) {
                        maker.take_unchecked(scale_at(run, entry));
                        some<codes, size, with_zeros>(maker, from, to, false);
                        step();
                    }
                }
            }
        }
    }
    for (; done + size <= count; step()) {
        const float scale = scale_at(run, entry);
        std::int32_t zero = 0;
        if constexpr (with_zeros) zero = zero_at(run, entry);
        if (maker.take(scale, zero)) [[likely]] {
            some<codes, size, with_zeros>(maker, from, to, true);
        } else {
            for (std::size_t i = 0; i < size; ++i) to[i] = dequantize_one<codes>(run, done + i, scale, zero);
        }
    }
    return done;
}

template <Codes codes, bool with_zeros>
HWY_INLINE void all_blocks(const Run& given, std::size_t block, std::size_t count) {
    constexpr std::size_t bits = bits_of(codes);
    std::size_t start = 0;
    switch (block) {
        case 16:
            start = whole_blocks<codes, 16, with_zeros>(given, count);
            break;
        case 32:
            start = whole_blocks<codes, 32, with_zeros>(given, count);
            break;
        case 64:
            start = whole_blocks<codes, 64, with_zeros>(given, count);
            break;
        case 128:
            start = whole_blocks<codes, 128, with_zeros>(given, count);
            break;
        default:
            break;
    }
    const Run run = given;
    const auto* from = reinterpret_cast<const std::uint8_t*>(run.codes);
    Maker<codes, with_zeros> maker(run);
    for (std::size_t entry = start / block; start < count; ++entry) {
        const std::size_t end = start + std::min(block, count - start);
        const float scale = scale_at(run, entry);
        std::int32_t zero = 0;
        if constexpr (with_zeros) zero = zero_at(run, entry);
        if (maker.take(scale, zero)) [[likely]] {
            for (; start + 4 * lanes <= end; start += 4 * lanes) {
                const auto* at = from + start * bits / 8;
                some<codes, 4 * lanes, with_zeros>(maker, at, run.out + start, has_nan<codes, 4 * lanes>(at));
            }
            for (; start + lanes <= end; start += lanes) {
                some<codes, lanes, with_zeros>(maker, from + start * bits / 8, run.out + start, true);
            }
        }
        for (; start < end; ++start) run.out[start] = dequantize_one<codes>(run, start, scale, zero);
    }
}

template <Codes codes>
void blocks(const Run& run, std::size_t block, std::size_t count) noexcept {
    if (block * bits_of(codes) % 8 != 0 && block < count) {
        // Blocks that do not start at whole bytes.
        scalar_kernels.block_kernel(codes)(run, block, count);
    } else if ((are_levels(codes) || are_integers(codes)) && run.zeros != nullptr) {
        all_blocks<codes, true>(run, block, count);
    } else {
        all_blocks<codes, false>(run, block, count);
    }
}

template <Codes codes>
void elements(const Run& given, std::size_t count) noexcept {
    constexpr std::size_t bits = bits_of(codes);
    const Run run = given;
    const auto* from = reinterpret_cast<const std::uint8_t*>(run.codes);
    const auto* scales = reinterpret_cast<const std::uint8_t*>(run.scales);
    const auto* zeros = reinterpret_cast<const std::uint8_t*>(run.zeros);
    const hn::Repartition<std::uint8_t, Floats> bytes;
    const auto scale = [&](std::size_t i)
                           HWY_ATTR { return hn::BitCast(Floats(), hn::LoadU(bytes, scales + i * 4)); };
    const auto zero = [&](std::size_t i) HWY_ATTR { return hn::BitCast(Words(), hn::LoadU(bytes, zeros + i * 4)); };
    std::size_t i = 0;
    const auto run_through = [&](auto&& make) HWY_ATTR {
        for (; i + lanes <= count; i += lanes) {
            hn::StoreU(hn::Mul(scale(i), make(from + i * bits / 8, i)), Floats(), run.out + i);
        }
    };
    if constexpr (are_levels(codes)) {
        const Levels levels(run.levels);
        if (zeros == nullptr) {
            run_through([&](const std::uint8_t* at, std::size_t) HWY_ATTR { return levels[levels_of<codes>(at)]; });
        } else {
            run_through([&](const std::uint8_t* at, std::size_t place) HWY_ATTR {
                return hn::Sub(levels[levels_of<codes>(at)], hn::ConvertTo(Floats(), zero(place)));
            });
        }
    } else if constexpr (are_integers(codes)) {
        if (zeros == nullptr) {
            run_through([&](const std::uint8_t* at, std::size_t) HWY_ATTR {
                return hn::ConvertTo(Floats(), integers_of<codes>(at));
            });
        } else {
            run_through([&](const std::uint8_t* at, std::size_t place) HWY_ATTR {
                return hn::ConvertTo(Floats(), hn::Sub(integers_of<codes>(at), zero(place)));
            });
        }
    } else {
        const Float rest = hn::Set(Floats(), rest_of(codes));
        for (; i + lanes <= count; i += lanes) {
            const Float numbers = hn::Mul(rest, unbiased_of<codes, true>(from + i * bits / 8));
            hn::StoreU(hn::Mul(scale(i), numbers), Floats(), run.out + i);
        }
    }
    for (; i < count; ++i) run.out[i] = dequantize_one<codes>(run, i, scale_at(run, i), zero_at(run, i));
}

void stream(const float* from, float* to, std::size_t count) noexcept {
    constexpr std::size_t alignment = 64;
    const std::size_t beyond = reinterpret_cast<std::uintptr_t>(to) % alignment;
    if (beyond % sizeof(float) != 0 || count < 2 * alignment) {
        if (count != 0) std::memcpy(to, from, count * sizeof(float));
        return;
    }
    const std::size_t before = beyond == 0 ? 0 : (alignment - beyond) / sizeof(float);
    std::memcpy(to, from, before * sizeof(float));
    std::size_t i = before;
    for (; i + 16 <= count; i += 16) {
        for (std::size_t part = 0; part < 16; part += lanes) {
            hn::Stream(hn::LoadU(Floats(), from + i + part), Floats(), to + i + part);
        }
    }
    std::memcpy(to + i, from + i, (count - i) * sizeof(float));
    hwy::FlushStream();
}

constexpr Kernels kernels = {
    HWY_STR(HWY_NAMESPACE),
    {blocks<Codes::int8>, blocks<Codes::uint8>, blocks<Codes::int16>, blocks<Codes::uint16>, nullptr, nullptr,
     blocks<Codes::four_bits>, blocks<Codes::two_bits>, blocks<Codes::e4m3>, blocks<Codes::e5m2>, blocks<Codes::e2m3>,
     blocks<Codes::e3m2>},
    {elements<Codes::int8>, elements<Codes::uint8>, elements<Codes::int16>, elements<Codes::uint16>, nullptr, nullptr,
     elements<Codes::four_bits>, elements<Codes::two_bits>, elements<Codes::e4m3>, elements<Codes::e5m2>,
     elements<Codes::e2m3>, elements<Codes::e3m2>},
    stream,
};

}  // namespace hurray::quantization_detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
#include "core/hurray/values/simd_choice.hpp"

namespace hurray::quantization_detail {
namespace {

// The sets without gaps: the scalar kernels where vectors gain nothing.
struct Available : values_detail::SimdSets<Kernels> {
    Kernels filled[4];

    Available() noexcept {
#if HWY_STATIC_TARGET != HWY_SCALAR && HWY_STATIC_TARGET != HWY_EMU128 && !HWY_HAVE_SCALABLE
        HURRAY_ADD_SIMD_SETS(*this, kernels);
#else
        HURRAY_ADD_AVX3(*this, kernels);
        HURRAY_ADD_AVX2(*this, kernels);
        HURRAY_ADD_SSE4(*this, kernels);
#endif
        for (std::size_t set = 0; set < count; ++set) {
            filled[set] = *sets[set];
            for (std::size_t i = 0; i < codes_count; ++i) {
                if (filled[set].blocks[i] == nullptr) filled[set].blocks[i] = scalar_kernels.blocks[i];
                if (filled[set].elements[i] == nullptr) filled[set].elements[i] = scalar_kernels.elements[i];
            }
            sets[set] = &filled[set];
        }
        add(scalar_kernels);
    }
    Available(const Available&) = delete;
    Available& operator=(const Available&) = delete;
};

const Available& available() noexcept {
    static const Available sets;
    return sets;
}

}  // namespace

const Kernels& kernels() noexcept {
    return *available().sets[0];
}

const Kernels* const* all_kernels() noexcept {
    return available().sets;
}

}  // namespace hurray::quantization_detail
#endif

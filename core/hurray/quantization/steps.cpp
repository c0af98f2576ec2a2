#include "core/hurray/quantization/steps.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/hurray/quantization/nf4_levels.hpp"
#include "core/hurray/quantization/scheme_types.hpp"
#include "core/hurray/values/codecs.hpp"

namespace hurray::quantization_detail {
namespace {

using values_detail::FloatCodec;

// To the nearest integer, to the even one of two; magnitudes are far below 2^52.
double round_to_even(double number) noexcept {
    constexpr double all_integers = 4503599627370496.0;
    const double magnitude = std::fabs(number);
    if (!(magnitude < all_integers)) return number;
    const double rounded = (magnitude + all_integers) - all_integers;
    return number < 0 ? -rounded : rounded;
}

// The smallest number of the type that is not below a positive one: with it, every number of the range has a step.
template <FloatFormat format>
std::uint32_t round_up(double exact, float& scale) noexcept {
    std::uint32_t bits = FloatCodec<format>::encode(exact, Overflow::saturate).bits;
    double value = 0;
    const auto decode = [&] {
        FloatCodec<format>::decode(static_cast<typename FloatCodec<format>::Bits>(bits), value);
    };
    decode();
    if (value < exact) {
        ++bits;
        decode();
    }
    scale = static_cast<float>(value);
    return bits;
}

// The exponent of the largest power of two of an element type of MXFP.
int largest_exponent(std::uint8_t storage_type) noexcept {
    switch (storage_type) {
        case scheme_types::float8_e4m3:
            return 8;
        case scheme_types::float8_e5m2:
            return 15;
        case scheme_types::float6_e3m2:
            return 4;
        case scheme_types::int8:
            return 6;
        default:
            // float4_e2m1, float6_e2m3 and int4.
            return 2;
    }
}

template <FloatFormat format>
std::uint32_t saturated(double number) noexcept {
    return FloatCodec<format>::encode(number, Overflow::saturate).bits;
}

// Half way between the levels of NF4; sums of two float32 are exact.
constexpr std::array<double, 15> nf4_boundaries = [] {
    std::array<double, 15> boundaries{};
    for (std::size_t i = 0; i < boundaries.size(); ++i) {
        boundaries[i] = (double{nf4_levels[i]} + double{nf4_levels[i + 1]}) / 2;
    }
    return boundaries;
}();

}  // namespace

Steps::Steps(const QuantizeSpec& spec, const StoredValues& stored, std::uint8_t scale_type) noexcept
    : spec_(spec),
      scale_type_(scale_type),
      is_affine_(spec.scheme == scheme_tag::per_tensor_affine || spec.scheme == scheme_tag::per_channel_affine ||
                 spec.scheme == scheme_tag::per_block_affine),
      smallest_(stored.smallest),
      largest_(stored.largest),
      mask_(static_cast<std::uint32_t>((std::uint64_t{1} << bits_of(stored.codes)) - 1)) {
    // As far down as up; the microscaling formats leave the lowest code unused likewise.
    const bool both_ways = (is_affine_ && spec.symmetric) || spec.scheme == scheme_tag::mxfp;
    if (both_ways && smallest_ < 0) smallest_ = -largest_;
}

Result<Shared> Steps::share(const Range& range) const {
    switch (spec_.scheme) {
        case scheme_tag::nf4:
            return nf4(range);
        case scheme_tag::mxfp:
            return mxfp(range);
        default:
            return affine(range);
    }
}

Result<Shared> Steps::affine(const Range& range) const {
    // Zero points are int32, whatever the storage type.
    const std::int64_t largest_zero = std::min<std::int64_t>(largest_, std::numeric_limits<std::int32_t>::max());
    double exact = 0;
    if (spec_.symmetric) {
        exact = range.magnitude() / static_cast<double>(largest_);
    } else {
        exact = (range.highest - range.lowest) / static_cast<double>(largest_ - smallest_);
        exact = std::max(exact, -range.lowest / static_cast<double>(largest_zero - smallest_));
    }
    // Nothing but 0, which any scale has.
    if (exact == 0) exact = 1;
    Shared shared;
    switch (scale_type_) {
        case scheme_types::float16:
            shared.scale_bits = round_up<float_formats::float16>(exact, shared.scale);
            break;
        case scheme_types::bfloat16:
            shared.scale_bits = round_up<float_formats::bfloat16>(exact, shared.scale);
            break;
        default:
            shared.scale_bits = round_up<float_formats::float32>(exact, shared.scale);
            break;
    }
    if (!std::isfinite(shared.scale)) {
        if (scale_type_ != scheme_types::float32) {
            return fail(Status::invalid_argument, Error::no_offset,
                        "scale_type: expected one that the scale %.9g of numbers from %.9g to %.9g fits into", exact,
                        range.lowest, range.highest);
        }
        // A float64 between the largest float32 and where rounding would leave that.
        shared.scale = std::numeric_limits<float>::max();
        shared.scale_bits = std::bit_cast<std::uint32_t>(shared.scale);
    }
    if (!spec_.symmetric && (range.lowest != 0 || range.highest != 0)) {
        const double zero = round_to_even(static_cast<double>(smallest_) - range.lowest / double{shared.scale});
        shared.zero = static_cast<std::int32_t>(
            std::clamp(zero, static_cast<double>(smallest_), static_cast<double>(largest_zero)));
    }
    return shared;
}

Shared Steps::nf4(const Range& range) const noexcept {
    Shared shared;
    shared.scale = static_cast<float>(range.magnitude());
    shared.scale_bits = std::bit_cast<std::uint32_t>(shared.scale);
    return shared;
}

Shared Steps::mxfp(const Range& range) const noexcept {
    Shared shared;
    int exponent = 0;
    if (range.magnitude() != 0) {
        exponent = std::clamp(std::ilogb(range.magnitude()) - largest_exponent(spec_.storage_type), -126, 127);
    }
    shared.scale_bits = static_cast<std::uint32_t>(exponent + 127);
    shared.scale = std::ldexp(1.0f, exponent);
    return shared;
}

std::uint32_t Steps::code(double number, const Shared& shared) const noexcept {
    switch (spec_.scheme) {
        case scheme_tag::nf4:
            return nf4_code(number, shared);
        case scheme_tag::mxfp:
            return mxfp_code(number, shared);
        default:
            return affine_code(number, shared);
    }
}

std::uint32_t Steps::affine_code(double number, const Shared& shared) const noexcept {
    const double step = round_to_even(number / double{shared.scale}) + static_cast<double>(shared.zero);
    auto code = static_cast<std::int64_t>(
        std::clamp(step, static_cast<double>(smallest_), static_cast<double>(largest_)));
    // At the end of float32 the nearest step can lie beyond it: then the one before.
    while (std::isinf(shared.scale * static_cast<float>(code - shared.zero))) code += code > shared.zero ? -1 : 1;
    return static_cast<std::uint32_t>(code) & mask_;
}

std::uint32_t Steps::nf4_code(double number, const Shared& shared) const noexcept {
    const double level = shared.scale == 0 ? 0 : number / double{shared.scale};
    // Half way, the lower one.
    const auto place = std::lower_bound(nf4_boundaries.begin(), nf4_boundaries.end(), level);
    return static_cast<std::uint32_t>(place - nf4_boundaries.begin());
}

std::uint32_t Steps::mxfp_code(double number, const Shared& shared) const noexcept {
    // A power of two: exact.
    const double scaled = number / double{shared.scale};
    switch (spec_.storage_type) {
        case scheme_types::float8_e4m3:
            return saturated<float_formats::e4m3>(scaled);
        case scheme_types::float8_e5m2:
            return saturated<float_formats::e5m2>(scaled);
        case scheme_types::float4_e2m1:
            return saturated<float_formats::e2m1>(scaled);
        case scheme_types::float6_e2m3:
            return saturated<float_formats::e2m3>(scaled);
        case scheme_types::float6_e3m2:
            return saturated<float_formats::e3m2>(scaled);
        default: {
            const double step = std::clamp(round_to_even(scaled), static_cast<double>(smallest_),
                                           static_cast<double>(largest_));
            return static_cast<std::uint32_t>(static_cast<std::int64_t>(step)) & mask_;
        }
    }
}

}  // namespace hurray::quantization_detail

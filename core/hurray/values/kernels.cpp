#include "core/hurray/values/kernels.hpp"

#include <algorithm>
#include <array>

#include "core/hurray/values/codecs.hpp"
#include "core/hurray/values/simd.hpp"

namespace hurray::values_detail {
namespace {

using Complex = std::complex<double>;

template <typename Codec, typename Number>
Progress read(const NumberFormat&, const std::byte* data, std::uint64_t first, Number* out,
              std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        const bool valid = Codec::decode(get_bits<Codec::bits>(data, first + i), out[i]);
        if constexpr (!Codec::always_valid) {
            if (!valid) return {i, Outcome::invalid_pattern};
        }
    }
    return {count, Outcome::ok};
}

template <typename Codec>
Progress read_real_as_complex(const NumberFormat&, const std::byte* data, std::uint64_t first, Complex* out,
                              std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        double real = 0;
        if (!Codec::decode(get_bits<Codec::bits>(data, first + i), real)) return {i, Outcome::invalid_pattern};
        out[i] = Complex(real, 0);
    }
    return {count, Outcome::ok};
}

template <typename Codec, typename Number>
Progress write(const NumberFormat&, const Number* numbers, std::size_t count, std::byte* data, std::uint64_t first,
               Overflow overflow) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        const auto encoded = Codec::encode(numbers[i], overflow);
        if (encoded.outcome != Outcome::ok) [[unlikely]]
            return {i, encoded.outcome};
        put_bits<Codec::bits>(data, first + i, encoded.bits);
    }
    return {count, Outcome::ok};
}

template <typename Codec>
constexpr Kernels kernels_of = {
    read<Codec, float>,  read<Codec, double>,  read_real_as_complex<Codec>,
    write<Codec, float>, write<Codec, double>, nullptr,
};

// Complex types: pairs of a floating-point type, the real part first. What is complex is not made real.
template <typename Half>
Progress read_complex(const NumberFormat&, const std::byte* data, std::uint64_t first, Complex* out,
                      std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        double parts[2];
        for (std::uint64_t half = 0; half < 2; ++half) {
            Half::decode(get_bits<Half::bits>(data, 2 * (first + i) + half), parts[half]);
        }
        out[i] = Complex(parts[0], parts[1]);
    }
    return {count, Outcome::ok};
}

template <typename Half>
Progress write_complex(const NumberFormat&, const Complex* numbers, std::size_t count, std::byte* data,
                       std::uint64_t first, Overflow overflow) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        const auto real = Half::encode(numbers[i].real(), overflow);
        const auto imaginary = Half::encode(numbers[i].imag(), overflow);
        if (real.outcome != Outcome::ok) return {i, real.outcome};
        if (imaginary.outcome != Outcome::ok) return {i, imaginary.outcome};
        put_bits<Half::bits>(data, 2 * (first + i), real.bits);
        put_bits<Half::bits>(data, 2 * (first + i) + 1, imaginary.bits);
    }
    return {count, Outcome::ok};
}

template <typename Half, typename Number>
Progress write_real_as_complex(const NumberFormat&, const Number* numbers, std::size_t count, std::byte* data,
                               std::uint64_t first, Overflow overflow) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        const auto real = Half::encode(numbers[i], overflow);
        if (real.outcome != Outcome::ok) return {i, real.outcome};
        put_bits<Half::bits>(data, 2 * (first + i), real.bits);
        put_bits<Half::bits>(data, 2 * (first + i) + 1, 0);
    }
    return {count, Outcome::ok};
}

template <typename Half>
constexpr Kernels complex_kernels = {
    nullptr,
    nullptr,
    read_complex<Half>,
    write_real_as_complex<Half, float>,
    write_real_as_complex<Half, double>,
    write_complex<Half>,
};

// Private types: as above, with what is known of the format at run time only.
template <typename Number>
Number decode_private_float(const FloatFormat& format, Wide element) noexcept {
    const auto native = convert_float<Wide>(format, native_format<Number>, element, Overflow::to_infinity);
    return std::bit_cast<Number>(static_cast<NativeBits<Number>>(native.bits));
}

template <typename Number>
Progress read_private_float(const NumberFormat& format, const std::byte* data, std::uint64_t first, Number* out,
                            std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        const Wide element = get_bits(data, first + i, format.bits);
        if constexpr (std::is_same_v<Number, Complex>) {
            out[i] = Complex(decode_private_float<double>(format.floating, element), 0);
        } else {
            out[i] = decode_private_float<Number>(format.floating, element);
        }
    }
    return {count, Outcome::ok};
}

template <typename Number>
Progress write_private_float(const NumberFormat& format, const Number* numbers, std::size_t count, std::byte* data,
                             std::uint64_t first, Overflow overflow) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        const auto native = std::bit_cast<NativeBits<Number>>(numbers[i]);
        const auto encoded = convert_float<Wide>(native_format<Number>, format.floating, native, overflow);
        if (encoded.outcome != Outcome::ok) return {i, encoded.outcome};
        put_bits(data, first + i, format.bits, encoded.bits);
    }
    return {count, Outcome::ok};
}

IntegerRange range_of(const NumberFormat& format) noexcept {
    return {format.bits, format.kind == ElementKind::signed_integer};
}

template <typename Number>
Progress read_private_integer(const NumberFormat& format, const std::byte* data, std::uint64_t first, Number* out,
                              std::size_t count) noexcept {
    const IntegerRange range = range_of(format);
    for (std::size_t i = 0; i < count; ++i) {
        const auto element = static_cast<std::uint64_t>(get_bits(data, first + i, format.bits));
        if constexpr (std::is_same_v<Number, Complex>) {
            out[i] = Complex(integer_to_native<double>(range, element), 0);
        } else {
            out[i] = integer_to_native<Number>(range, element);
        }
    }
    return {count, Outcome::ok};
}

template <typename Number>
Progress write_private_integer(const NumberFormat& format, const Number* numbers, std::size_t count, std::byte* data,
                               std::uint64_t first, Overflow overflow) noexcept {
    const IntegerRange range = range_of(format);
    for (std::size_t i = 0; i < count; ++i) {
        const auto encoded = integer_from_float64(range, numbers[i], overflow);
        if (encoded.outcome != Outcome::ok) return {i, encoded.outcome};
        put_bits(data, first + i, format.bits, encoded.bits);
    }
    return {count, Outcome::ok};
}

// The same type with vector instructions for the conversion to float32, and to float64 by way of it: every number of
// these formats is a float32, and a NaN's payload keeps its place.
template <typename Codec, SimdRead SimdKernels::*to_float32>
Progress read_simd_float32(const NumberFormat&, const std::byte* data, std::uint64_t first, float* out,
                           std::size_t count) noexcept {
    (simd_kernels().*to_float32)(data + first * sizeof(typename Codec::Bits), out, count);
    return {count, Outcome::ok};
}

template <typename Codec, SimdRead SimdKernels::*to_float32>
Progress read_simd_float64(const NumberFormat&, const std::byte* data, std::uint64_t first, double* out,
                           std::size_t count) noexcept {
    const auto convert = simd_kernels().*to_float32;
    data += first * sizeof(typename Codec::Bits);
    constexpr std::size_t piece = 256;
    float narrow[piece];
    for (std::size_t done = 0; done < count;) {
        const std::size_t now = std::min(piece, count - done);
        convert(data + done * sizeof(typename Codec::Bits), narrow, now);
        for (std::size_t i = 0; i < now; ++i) {
            FloatCodec<float_formats::float32>::decode(std::bit_cast<std::uint32_t>(narrow[i]), out[done + i]);
        }
        done += now;
    }
    return {count, Outcome::ok};
}

template <typename Codec, SimdRead SimdKernels::*to_float32>
constexpr Kernels simd_kernels_of = {
    read_simd_float32<Codec, to_float32>,
    read_simd_float64<Codec, to_float32>,
    read_real_as_complex<Codec>,
    write<Codec, float>,
    write<Codec, double>,
    nullptr,
};

template <typename Codec, SimdWrite SimdKernels::*from_float32>
Progress write_simd(const NumberFormat& format, const float* numbers, std::size_t count, std::byte* data,
                    std::uint64_t first, Overflow overflow) noexcept {
    if (overflow != Overflow::to_infinity) return write<Codec>(format, numbers, count, data, first, overflow);
    (simd_kernels().*from_float32)(numbers, data + first * sizeof(typename Codec::Bits), count);
    return {count, Outcome::ok};
}

template <typename Codec, SimdRead SimdKernels::*to_float32, SimdWrite SimdKernels::*from_float32>
constexpr Kernels simd_both_ways = {
    read_simd_float32<Codec, to_float32>,
    read_simd_float64<Codec, to_float32>,
    read_real_as_complex<Codec>,
    write_simd<Codec, from_float32>,
    write<Codec, double>,
    nullptr,
};

template <FloatFormat format>
constexpr Conversion float_row(std::uint8_t tag) {
    return {tag, format, kernels_of<FloatCodec<format>>};
}

template <FloatFormat format, SimdRead SimdKernels::*to_float32>
constexpr Conversion simd_row(std::uint8_t tag) {
    return {tag, format, simd_kernels_of<FloatCodec<format>, to_float32>};
}

template <unsigned bits, bool is_signed>
constexpr Conversion integer_row(std::uint8_t tag) {
    return {tag, {}, kernels_of<IntegerCodec<bits, is_signed>>};
}

template <FloatFormat half>
constexpr Conversion complex_row(std::uint8_t tag) {
    return {tag, half, complex_kernels<FloatCodec<half>>};
}

constexpr Conversion conversions[] = {
    {0x01, float_formats::float16,
     simd_both_ways<FloatCodec<float_formats::float16>, &SimdKernels::float16, &SimdKernels::to_float16>},
    {0x02, float_formats::bfloat16,
     simd_both_ways<FloatCodec<float_formats::bfloat16>, &SimdKernels::bfloat16, &SimdKernels::to_bfloat16>},
    float_row<float_formats::float32>(0x03),
    float_row<float_formats::float64>(0x04),
    integer_row<8, true>(0x10),
    integer_row<8, false>(0x11),
    integer_row<16, true>(0x12),
    integer_row<16, false>(0x13),
    integer_row<32, true>(0x14),
    integer_row<32, false>(0x15),
    integer_row<64, true>(0x16),
    integer_row<64, false>(0x17),
    {0x20, {}, kernels_of<BoolCodec>},
    simd_row<float_formats::e4m3, &SimdKernels::e4m3>(0x40),
    simd_row<float_formats::e5m2, &SimdKernels::e5m2>(0x41),
    {0x42, {}, kernels_of<ExponentCodec>},
    float_row<float_formats::e2m1>(0x43),
    float_row<float_formats::e2m3>(0x44),
    float_row<float_formats::e3m2>(0x45),
    float_row<float_formats::float128>(0x46),
    integer_row<4, true>(0x48),
    integer_row<4, false>(0x49),
    integer_row<2, true>(0x4A),
    integer_row<2, false>(0x4B),
    complex_row<float_formats::float32>(0x50),
    complex_row<float_formats::float64>(0x51),
};

constexpr auto conversion_of_tag = [] {
    std::array<const Conversion*, 256> table{};
    for (const Conversion& conversion : conversions) table[conversion.tag] = &conversion;
    return table;
}();

constexpr Conversion scalar_conversions[] = {
    float_row<float_formats::float16>(0x01),
    float_row<float_formats::bfloat16>(0x02),
    float_row<float_formats::e4m3>(0x40),
    float_row<float_formats::e5m2>(0x41),
};

}  // namespace

const Conversion* find_conversion(std::uint8_t tag) noexcept {
    return conversion_of_tag[tag];
}

const Kernels* scalar_kernels(std::uint8_t tag) noexcept {
    for (const Conversion& conversion : scalar_conversions) {
        if (conversion.tag == tag) return &conversion.kernels;
    }
    const Conversion* conversion = find_conversion(tag);
    return conversion != nullptr ? &conversion->kernels : nullptr;
}

const Kernels private_integer_kernels = {
    read_private_integer<float>,  read_private_integer<double>,  read_private_integer<Complex>,
    write_private_integer<float>, write_private_integer<double>, nullptr,
};

const Kernels private_float_kernels = {
    read_private_float<float>,  read_private_float<double>,  read_private_float<Complex>,
    write_private_float<float>, write_private_float<double>, nullptr,
};

}  // namespace hurray::values_detail

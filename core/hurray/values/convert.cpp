#include "core/hurray/values/convert.hpp"

#include "core/hurray/values/kernels.hpp"
#include "core/hurray/values/packing.hpp"

namespace hurray {
namespace {

using namespace values_detail;
using ull = unsigned long long;

// The byte that an element starts in; of an element that lies within the memory, so that it fits.
std::uint64_t byte_of(const NumberFormat& format, std::uint64_t index) {
    return static_cast<std::uint64_t>(Wide{index} * format.bits / 8);
}

Result<void> check_range(const NumberFormat& format, std::uint64_t size, std::uint64_t first, std::uint64_t count) {
    if (lie_within(size, format.bits, first, count)) [[likely]]
        return {};
    return fail(Status::index_out_of_bounds, Error::no_offset,
                "elements: expected room for %llu of %s from element %llu on, got %llu bytes", static_cast<ull>(count),
                format.name, static_cast<ull>(first), static_cast<ull>(size));
}

std::unexpected<Error> complex_to_real(const NumberFormat& format, const char* from, const char* to) {
    return fail(Status::unsupported, Error::no_offset, "element type: %s to %s is not defined; the type at hand is %s",
                from, to, format.name);
}

std::unexpected<Error> refused(const NumberFormat& format, std::uint64_t index, double number, Outcome outcome) {
    const char* expected = "a number of the type";
    switch (outcome) {
        case Outcome::overflow:
            expected = "a number within the type's range";
            break;
        case Outcome::nan:
            expected = "a number, since the type has no NaN";
            break;
        case Outcome::not_positive:
            expected = format.kind == ElementKind::exponent ? "a number above 0" : "a number that is not negative";
            break;
        case Outcome::ok:
        case Outcome::invalid_pattern:
            break;
    }
    return fail(Status::invalid_argument, byte_of(format, index), "element %llu of %s: expected %s, got %.17g",
                static_cast<ull>(index), format.name, expected, number);
}

template <typename Number>
Result<void> read(const NumberFormat& format, Read<Number> kernel, std::span<const std::byte> data, std::uint64_t first,
                  Number* out, std::size_t count) {
    if (kernel == nullptr) [[unlikely]]
        return complex_to_real(format, "complex", "real");
    if (auto inside = check_range(format, data.size(), first, count); !inside) return inside;
    const Progress progress = kernel(format, data.data(), first, out, count);
    if (progress.outcome == Outcome::ok) [[likely]]
        return {};
    const std::uint64_t index = first + progress.done;
    return fail(Status::invalid_type, byte_of(format, index),
                "element %llu of %s: expected a pattern that is valid as data, got %02X", static_cast<ull>(index),
                format.name, static_cast<unsigned>(get_bits(data.data(), index, format.bits)));
}

double shown(double number, const NumberFormat&, Outcome) {
    return number;
}
// The part that was refused cannot be told apart any more: the larger one is the likely one.
double shown(const std::complex<double>& number, const NumberFormat&, Outcome) {
    const double real = number.real() < 0 ? -number.real() : number.real();
    const double imaginary = number.imag() < 0 ? -number.imag() : number.imag();
    return real >= imaginary ? number.real() : number.imag();
}

template <typename Number>
Result<void> write(const NumberFormat& format, Write<Number> kernel, const Number* numbers, std::size_t count,
                   std::span<std::byte> data, std::uint64_t first, Overflow overflow) {
    if (kernel == nullptr) [[unlikely]]
        return complex_to_real(format, "complex", "real");
    if (auto inside = check_range(format, data.size(), first, count); !inside) return inside;
    const Progress progress = kernel(format, numbers, count, data.data(), first, overflow);
    if (progress.outcome == Outcome::ok) [[likely]]
        return {};
    return refused(format, first + progress.done, shown(numbers[progress.done], format, progress.outcome),
                   progress.outcome);
}

template <typename Number>
Result<Number> load(const NumberFormat& format, Read<Number> kernel, std::span<const std::byte> data,
                    std::uint64_t index) {
    Number number{};
    if (auto done = read(format, kernel, data, index, &number, 1); !done) return std::unexpected(done.error());
    return number;
}

}  // namespace

Result<void> to_float32(const NumberFormat& format, std::span<const std::byte> data, std::uint64_t first,
                        std::span<float> out) {
    return read(format, format.kernels->to_float32, data, first, out.data(), out.size());
}

Result<void> to_float64(const NumberFormat& format, std::span<const std::byte> data, std::uint64_t first,
                        std::span<double> out) {
    return read(format, format.kernels->to_float64, data, first, out.data(), out.size());
}

Result<void> to_complex128(const NumberFormat& format, std::span<const std::byte> data, std::uint64_t first,
                           std::span<std::complex<double>> out) {
    return read(format, format.kernels->to_complex128, data, first, out.data(), out.size());
}

Result<float> load_float32(const NumberFormat& format, std::span<const std::byte> data, std::uint64_t index) {
    return load(format, format.kernels->to_float32, data, index);
}

Result<double> load_float64(const NumberFormat& format, std::span<const std::byte> data, std::uint64_t index) {
    return load(format, format.kernels->to_float64, data, index);
}

Result<std::complex<double>> load_complex128(const NumberFormat& format, std::span<const std::byte> data,
                                             std::uint64_t index) {
    return load(format, format.kernels->to_complex128, data, index);
}

Result<RawBits> load_bits(const NumberFormat& format, std::span<const std::byte> data, std::uint64_t index) {
    if (auto inside = check_range(format, data.size(), index, 1); !inside) return std::unexpected(inside.error());
    const Wide bits = get_bits(data.data(), index, format.bits);
    return RawBits{static_cast<std::uint64_t>(bits), static_cast<std::uint64_t>(bits >> 64)};
}

Result<void> from_float32(const NumberFormat& format, std::span<const float> numbers, std::span<std::byte> data,
                          std::uint64_t first, Overflow overflow) {
    return write(format, format.kernels->from_float32, numbers.data(), numbers.size(), data, first, overflow);
}

Result<void> from_float64(const NumberFormat& format, std::span<const double> numbers, std::span<std::byte> data,
                          std::uint64_t first, Overflow overflow) {
    return write(format, format.kernels->from_float64, numbers.data(), numbers.size(), data, first, overflow);
}

Result<void> from_complex128(const NumberFormat& format, std::span<const std::complex<double>> numbers,
                             std::span<std::byte> data, std::uint64_t first, Overflow overflow) {
    return write(format, format.kernels->from_complex128, numbers.data(), numbers.size(), data, first, overflow);
}

Result<void> store_float32(const NumberFormat& format, std::span<std::byte> data, std::uint64_t index, float number,
                           Overflow overflow) {
    return write(format, format.kernels->from_float32, &number, 1, data, index, overflow);
}

Result<void> store_float64(const NumberFormat& format, std::span<std::byte> data, std::uint64_t index, double number,
                           Overflow overflow) {
    return write(format, format.kernels->from_float64, &number, 1, data, index, overflow);
}

Result<void> store_complex128(const NumberFormat& format, std::span<std::byte> data, std::uint64_t index,
                              std::complex<double> number, Overflow overflow) {
    return write(format, format.kernels->from_complex128, &number, 1, data, index, overflow);
}

Result<void> store_bits(const NumberFormat& format, std::span<std::byte> data, std::uint64_t index, RawBits bits) {
    if (auto inside = check_range(format, data.size(), index, 1); !inside) return inside;
    const Wide wide = Wide{bits.high} << 64 | bits.low;
    if (format.bits < 128 && wide >> format.bits != 0) {
        return fail(Status::invalid_argument, byte_of(format, index),
                    "element %llu of %s: expected at most %u bits, got %llX%016llX", static_cast<ull>(index),
                    format.name, unsigned{format.bits}, static_cast<ull>(bits.high), static_cast<ull>(bits.low));
    }
    put_bits(data.data(), index, format.bits, wide);
    return {};
}

}  // namespace hurray

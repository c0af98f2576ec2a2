#include "core/hurray/composite/element_adder.hpp"

#include <algorithm>
#include <array>
#include <complex>

#include "core/hurray/values/convert.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// Elements that go through a buffer on the stack at a time.
constexpr std::uint64_t chunk = 512;
// Two numbers of so many bits add up in float64 and are rounded again as if they had been rounded once.
constexpr std::uint32_t most_mantissa_bits = 23;

std::unexpected<Error> sum_beyond_type(const NumberFormat& format) {
    return fail(Status::unsupported, Error::no_offset,
                "add: a sum beyond what %s can hold, expected one that fits: the format gives it no value",
                format.name);
}

template <typename Number, typename Load, typename Store>
Result<void> add_in_chunks(std::uint64_t count, const Load& load, const Store& store) {
    std::array<Number, chunk> terms;
    std::array<Number, chunk> sums;
    for (std::uint64_t done = 0; done < count;) {
        const std::uint64_t size = std::min(count - done, chunk);
        const std::span some(terms.data(), size);
        const std::span others(sums.data(), size);
        if (auto loaded = load(done, some, others); !loaded) return loaded;
        for (std::uint64_t i = 0; i < size; ++i) others[i] += some[i];
        if (auto stored = store(done, others); !stored) return stored;
        done += size;
    }
    return {};
}

template <typename Integer>
bool add_bits(std::uint64_t term, std::uint64_t& sum) noexcept {
    Integer result = 0;
    if (__builtin_add_overflow(static_cast<Integer>(sum), static_cast<Integer>(term), &result)) return false;
    sum = static_cast<std::uint64_t>(result);
    return true;
}

}  // namespace

Result<ElementAdder> ElementAdder::make(const NumberFormat& format) {
    constexpr std::uint8_t float64 = 0x04;
    constexpr std::uint8_t complex128 = 0x51;
    if (auto checked = check_arithmetic(format); !checked) return std::unexpected(checked.error());
    bool defined = true;
    switch (format.kind) {
        case ElementKind::boolean:
        case ElementKind::exponent:
            defined = false;
            break;
        case ElementKind::signed_integer:
        case ElementKind::unsigned_integer:
            break;
        case ElementKind::floating_point:
        case ElementKind::complex:
            defined = format.floating.mantissa_bits <= most_mantissa_bits || format.tag == float64 ||
                      format.tag == complex128;
            break;
    }
    if (defined) return ElementAdder(format);
    return fail(Status::unsupported, Error::no_offset, "add: not defined for %s: expected a head of another type",
                format.name);
}

Result<void> ElementAdder::add(std::span<const std::byte> from, std::uint64_t from_first, std::span<std::byte> to,
                               std::uint64_t to_first, std::uint64_t count) const {
    const bool integers = format_.kind == ElementKind::signed_integer || format_.kind == ElementKind::unsigned_integer;
    if (integers && format_.bits > 32) return add_wide_integers(from, from_first, to, to_first, count);
    if (format_.kind == ElementKind::complex) {
        using Number = std::complex<double>;
        return add_in_chunks<Number>(
            count,
            [&](std::uint64_t done, std::span<Number> terms, std::span<Number> sums) {
                auto loaded = to_complex128(format_, from, from_first + done, terms);
                if (loaded) loaded = to_complex128(format_, to, to_first + done, sums);
                return loaded;
            },
            [&](std::uint64_t done, std::span<const Number> sums) {
                return from_complex128(format_, sums, to, to_first + done);
            });
    }
    return add_in_chunks<double>(
        count,
        [&](std::uint64_t done, std::span<double> terms, std::span<double> sums) {
            auto loaded = to_float64(format_, from, from_first + done, terms);
            if (loaded) loaded = to_float64(format_, to, to_first + done, sums);
            return loaded;
        },
        [&](std::uint64_t done, std::span<const double> sums) -> Result<void> {
            auto stored =
                from_float64(format_, sums, to, to_first + done, integers ? Overflow::refuse : Overflow::to_infinity);
            if (!stored && integers && stored.error().code == Status::invalid_argument) return sum_beyond_type(format_);
            return stored;
        });
}

Result<void> ElementAdder::add_wide_integers(std::span<const std::byte> from, std::uint64_t from_first,
                                             std::span<std::byte> to, std::uint64_t to_first,
                                             std::uint64_t count) const {
    // 64 bits; private types of other widths are sign-extended.
    const unsigned spare = 64 - format_.bits;
    const bool is_signed = format_.kind == ElementKind::signed_integer;
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto term = load_bits(format_, from, from_first + i);
        const auto old = load_bits(format_, to, to_first + i);
        if (!term) return std::unexpected(term.error());
        if (!old) return std::unexpected(old.error());
        // At the upper end of the word, where what does not fit overflows.
        std::uint64_t sum = old->low << spare;
        const bool fits = is_signed ? add_bits<std::int64_t>(term->low << spare, sum)
                                    : add_bits<std::uint64_t>(term->low << spare, sum);
        if (!fits) return sum_beyond_type(format_);
        if (auto stored = store_bits(format_, to, to_first + i, {sum >> spare, 0}); !stored) return stored;
    }
    return {};
}

}  // namespace hurray

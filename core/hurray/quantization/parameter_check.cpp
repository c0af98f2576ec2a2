#include "core/hurray/quantization/parameter_check.hpp"

#include <algorithm>
#include <limits>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/quantization/parameter_arrays.hpp"
#include "core/hurray/quantization/scheme.hpp"
#include "core/hurray/quantization/scheme_types.hpp"
#include "core/hurray/quantization/stored_values.hpp"

namespace hurray {
namespace {

using namespace quantization_detail;
using ull = unsigned long long;

// What the scales of a scheme may be, told by their bits without the sign.
struct Bounds {
    std::uint32_t least;
    std::uint32_t most;
    /// The sign bit, where it may be either; 0 where there is none or it must not be set.
    std::uint32_t sign;
    const char* expected;
};

Bounds bounds_of(std::uint8_t scheme, std::uint8_t scale_type) noexcept {
    switch (scheme) {
        case scheme_tag::nf4:
            return {0, 0x7F7FFFFF, 0, "a finite number that is not negative"};
        case scheme_tag::mxfp:
            return {0x01, 0xFE, 0, "neither 00 nor FF"};
        default:
            break;
    }
    constexpr const char* expected = "a finite number other than 0";
    switch (scale_type) {
        case scheme_types::float16:
            return {1, 0x7BFF, 0x8000, expected};
        case scheme_types::bfloat16:
            return {1, 0x7F7F, 0x8000, expected};
        default:
            return {1, 0x7F7FFFFF, 0x80000000, expected};
    }
}

template <typename Bits>
bool is_within(const Bounds& bounds, const std::byte* scale) noexcept {
    auto bits = static_cast<Bits>(load_le<Bits>(scale) & static_cast<Bits>(~bounds.sign));
    // -0 is not negative.
    if (bounds.sign == 0 && sizeof(Bits) == 4) bits = bits == static_cast<Bits>(0x80000000) ? Bits{0} : bits;
    return static_cast<Bits>(bits - static_cast<Bits>(bounds.least)) <=
           static_cast<Bits>(bounds.most - bounds.least);
}

// The first entry that is not within the bounds; `count` when there is none.
template <typename Bits>
std::uint64_t find_fault(const Bounds& bounds, const std::byte* scales, std::uint64_t count) noexcept {
    constexpr std::uint64_t piece = 4096;
    for (std::uint64_t first = 0; first < count; first += piece) {
        const std::uint64_t end = std::min(first + piece, count);
        Bits faults = 0;
        for (std::uint64_t i = first; i < end; ++i) {
            faults |= static_cast<Bits>(is_within<Bits>(bounds, scales + i * sizeof(Bits)) ? 0 : 1);
        }
        if (faults == 0) [[likely]]
            continue;
        while (is_within<Bits>(bounds, scales + first * sizeof(Bits))) ++first;
        return first;
    }
    return count;
}

// Checks `count` scales from an entry on.
Result<void> check_scales(const ParameterArrays& arrays, const QuantizationScheme& scheme, std::uint64_t first,
                          std::uint64_t count) {
    const Bounds bounds = bounds_of(scheme.tag, arrays.scale_type());
    const std::byte* scales = arrays.raw_scales();
    std::uint64_t found = 0;
    std::uint64_t width = 4;
    switch (arrays.scale_type()) {
        case scheme_types::float8_e8m0:
            width = 1;
            found = find_fault<std::uint8_t>(bounds, scales + first, count);
            break;
        case scheme_types::float32:
            found = find_fault<std::uint32_t>(bounds, scales + first * 4, count);
            break;
        default:
            width = 2;
            found = find_fault<std::uint16_t>(bounds, scales + first * 2, count);
            break;
    }
    if (found == count) return {};
    const std::uint64_t entry = first + found;
    return fail(Status::invalid_quantization, entry * width,
                "scale %llu of scheme %s (buffer %u): expected %s, got the bits %0*X", static_cast<ull>(entry),
                scheme.name, arrays.scale_buffer(), bounds.expected, static_cast<int>(2 * width),
                arrays.scale_bits(entry));
}

// Likewise of zero points.
Result<void> check_zeros(const ParameterArrays& arrays, const QuantizationScheme& scheme, const StoredValues& stored,
                         std::uint64_t begin, std::uint64_t count) {
    if (!arrays.has_zeros()) return {};
    // All int32 that are not negative are numbers of uint32.
    const auto least = static_cast<std::uint32_t>(stored.smallest);
    const auto reach = static_cast<std::uint32_t>(
        std::min<std::int64_t>(stored.largest, std::numeric_limits<std::int32_t>::max()) - stored.smallest);
    const std::byte* zeros = arrays.direct_zeros(0);
    const auto is_number = [&](std::uint64_t entry) {
        return load_le<std::uint32_t>(zeros + entry * 4) - least <= reach;
    };
    constexpr std::uint64_t piece = 4096;
    for (std::uint64_t first = begin; first < begin + count; first += piece) {
        const std::uint64_t end = std::min(first + piece, begin + count);
        std::uint32_t faults = 0;
        for (std::uint64_t i = first; i < end; ++i) faults |= is_number(i) ? 0U : 1U;
        if (faults == 0) [[likely]]
            continue;
        std::uint64_t entry = first;
        while (is_number(entry)) ++entry;
        return fail(Status::invalid_quantization, arrays.zeros_start() + entry * 4,
                    "zero point %llu of scheme %s (buffer %u): expected a number of the stored type, %lld to %lld, got "
                    "%d",
                    static_cast<ull>(entry), scheme.name, arrays.zero_buffer(), static_cast<long long>(stored.smallest),
                    static_cast<long long>(stored.largest), arrays.zero(entry));
    }
    return {};
}

}  // namespace

Result<void> check_quantization_parameters(const Tensor& tensor) {
    const auto fields = quantization_fields(tensor.descriptor);
    const QuantizationScheme* scheme = fields ? find_scheme(fields->scheme) : nullptr;
    // Those of the per-tensor scheme were checked with the descriptor.
    if (scheme == nullptr || !scheme->has(SchemeField::scale_buffer)) return {};
    if (tensor.descriptor.layout() == layout_tag::block_paged && scheme->has_blocks()) return {};
    const auto arrays = ParameterArrays::make(tensor, *fields);
    if (!arrays) return std::unexpected(arrays.error());
    const auto stored = StoredValues::make(fields->scheme, tensor.descriptor.element_type());
    if (!stored) return std::unexpected(stored.error());
    const auto valid = check_scales(*arrays, *scheme, 0, arrays->entries());
    if (!valid) return valid;
    return check_zeros(*arrays, *scheme, *stored, 0, arrays->entries());
}

Result<void> quantization_detail::check_quantization_entry(const QuantizationFields& fields,
                                                           const ParameterArrays& arrays, const StoredValues& stored,
                                                           std::uint64_t entry) {
    const QuantizationScheme* scheme = find_scheme(fields.scheme);
    if (scheme == nullptr || !scheme->has(SchemeField::scale_buffer)) return {};
    const auto valid = check_scales(arrays, *scheme, entry, 1);
    if (!valid) return valid;
    return check_zeros(arrays, *scheme, stored, entry, 1);
}

}  // namespace hurray

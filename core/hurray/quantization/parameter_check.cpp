#include "core/hurray/quantization/parameter_check.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/quantization/parameter_arrays.hpp"
#include "core/hurray/quantization/scheme.hpp"
#include "core/hurray/quantization/stored_values.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {
namespace {

using namespace quantization_detail;
using ull = unsigned long long;

// Finite and not 0: the bits without the sign, less one, are below those of infinity less one.
bool is_affine_scale(float scale) noexcept {
    return (std::bit_cast<std::uint32_t>(scale) << 1) - 1 < 0xFEFFFFFF;
}

// Finite and not negative. -0 is 0.
bool is_nf4_scale(float scale) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(scale);
    return bits < 0x7F800000 || bits == 0x80000000;
}

bool is_mxfp_scale(float scale) noexcept {
    return scale == scale;
}

template <bool (*valid)(float) noexcept>
std::size_t count_faults(const float* scales, std::size_t count) noexcept {
    std::size_t faults = 0;
    for (std::size_t i = 0; i < count; ++i) faults += valid(scales[i]) ? 0 : 1;
    return faults;
}

template <bool (*valid)(float) noexcept>
Result<void> check_scales(const ParameterArrays& arrays, const QuantizationScheme& scheme, const char* expected) {
    constexpr std::size_t piece = 1024;
    std::array<float, piece> scales;
    for (std::uint64_t first = 0; first < arrays.entries(); first += piece) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(piece, arrays.entries() - first));
        arrays.read_scales(first, count, scales.data());
        if (count_faults<valid>(scales.data(), count) == 0) [[likely]]
            continue;
        const auto bad = std::find_if_not(scales.begin(), scales.begin() + static_cast<std::ptrdiff_t>(count), valid);
        const std::uint64_t entry = first + static_cast<std::uint64_t>(bad - scales.begin());
        const ElementTypeInfo* type = find_element_type(arrays.scale_type());
        const std::uint64_t width = type == nullptr ? 0 : type->group_bytes;
        return fail(Status::invalid_quantization, entry * width,
                    "scale %llu of scheme %s (buffer %d): expected %s, got the bits %0*X", static_cast<ull>(entry),
                    scheme.name, static_cast<int>(arrays.scale_buffer()), expected, static_cast<int>(2 * width),
                    arrays.scale_bits(entry));
    }
    return {};
}

Result<void> check_zeros(const ParameterArrays& arrays, const QuantizationScheme& scheme, const StoredValues& stored) {
    if (!arrays.has_zeros()) return {};
    const std::byte* zeros = arrays.direct_zeros(0);
    const auto zero_at = [&](std::uint64_t entry) {
        return std::int64_t{static_cast<std::int32_t>(load_le<std::uint32_t>(zeros + entry * 4))};
    };
    // All int32 are numbers of that type.
    constexpr std::uint64_t piece = 1024;
    for (std::uint64_t first = 0; first < arrays.entries(); first += piece) {
        const std::uint64_t end = std::min(first + piece, arrays.entries());
        std::int64_t least = 0;
        std::int64_t most = 0;
        for (std::uint64_t i = first; i < end; ++i) {
            least = std::min(least, zero_at(i));
            most = std::max(most, zero_at(i));
        }
        if (least >= stored.smallest && most <= stored.largest) [[likely]]
            continue;
        std::uint64_t entry = first;
        while (zero_at(entry) >= stored.smallest && zero_at(entry) <= stored.largest) ++entry;
        return fail(Status::invalid_quantization, arrays.zeros_start() + entry * 4,
                    "zero point %llu of scheme %s (buffer %d): expected a number of the stored type, %lld to %lld, got "
                    "%lld",
                    static_cast<ull>(entry), scheme.name, static_cast<int>(arrays.zero_buffer()),
                    static_cast<long long>(stored.smallest), static_cast<long long>(stored.largest),
                    static_cast<long long>(zero_at(entry)));
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
    Result<void> valid;
    switch (fields->scheme) {
        case scheme_tag::nf4:
            valid = check_scales<is_nf4_scale>(*arrays, *scheme, "a finite number that is not negative");
            break;
        case scheme_tag::mxfp:
            valid = check_scales<is_mxfp_scale>(*arrays, *scheme, "neither 00 nor FF");
            break;
        default:
            valid = check_scales<is_affine_scale>(*arrays, *scheme, "a finite number other than 0");
            break;
    }
    if (!valid) return valid;
    return check_zeros(*arrays, *scheme, *stored);
}

}  // namespace hurray

// One element at a time: the oracle, and what is left over at the end of a run of vectors.
#pragma once

#include <bit>
#include <cstdint>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/quantization/kernels.hpp"
#include "core/hurray/values/codecs.hpp"
#include "core/hurray/values/packing.hpp"

namespace hurray::quantization_detail {

/// Element `index` of the run with a scale and a zero point, which is a number of the stored type.
template <Codes codes>
inline float dequantize_one(const Run& run, std::size_t index, float scale, std::int32_t zero) noexcept {
    using values_detail::get_bits;
    constexpr unsigned bits = bits_of(codes);
    const auto code = get_bits<bits>(run.codes, index);
    if constexpr (codes == Codes::four_bits || codes == Codes::two_bits) {
        return scale * (run.levels[code] - static_cast<float>(zero));
    } else if constexpr (codes == Codes::int8) {
        return scale * static_cast<float>(static_cast<std::int8_t>(code) - zero);
    } else if constexpr (codes == Codes::int16) {
        return scale * static_cast<float>(static_cast<std::int16_t>(code) - zero);
    } else if constexpr (codes == Codes::uint8 || codes == Codes::uint16) {
        return scale * static_cast<float>(static_cast<std::int32_t>(code) - zero);
    } else if constexpr (codes == Codes::int32) {
        return scale * static_cast<float>(std::int64_t{static_cast<std::int32_t>(code)} - zero);
    } else if constexpr (codes == Codes::uint32) {
        return scale * static_cast<float>(static_cast<std::int64_t>(code) - zero);
    } else {
        constexpr FloatFormat format = codes == Codes::e4m3   ? float_formats::e4m3
                                       : codes == Codes::e5m2 ? float_formats::e5m2
                                       : codes == Codes::e2m3 ? float_formats::e2m3
                                                              : float_formats::e3m2;
        float number = 0;
        values_detail::FloatCodec<format>::decode(code, number);
        return scale * number;
    }
}

inline float scale_at(const Run& run, std::size_t entry) noexcept {
    return std::bit_cast<float>(load_le<std::uint32_t>(run.scales + entry * 4));
}

inline std::int32_t zero_at(const Run& run, std::size_t entry) noexcept {
    return run.zeros == nullptr ? 0 : static_cast<std::int32_t>(load_le<std::uint32_t>(run.zeros + entry * 4));
}

}  // namespace hurray::quantization_detail

#include "core/hurray/quantization/scalar_kernels.hpp"

#include <algorithm>
#include <cstring>

namespace hurray::quantization_detail {
namespace {

template <Codes codes>
void blocks(const Run& run, std::size_t block, std::size_t count) noexcept {
    for (std::size_t start = 0, entry = 0; start < count; ++entry) {
        const std::size_t end = start + std::min(block, count - start);
        const float scale = scale_at(run, entry);
        const std::int32_t zero = zero_at(run, entry);
        for (; start < end; ++start) run.out[start] = dequantize_one<codes>(run, start, scale, zero);
    }
}

template <Codes codes>
void elements(const Run& run, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        run.out[i] = dequantize_one<codes>(run, i, scale_at(run, i), zero_at(run, i));
    }
}

void copy(const float* from, float* to, std::size_t count) noexcept {
    if (count != 0) std::memcpy(to, from, count * sizeof(float));
}

}  // namespace

const Kernels scalar_kernels = {
    "scalar",
    {blocks<Codes::int8>, blocks<Codes::uint8>, blocks<Codes::int16>, blocks<Codes::uint16>, blocks<Codes::int32>,
     blocks<Codes::uint32>, blocks<Codes::four_bits>, blocks<Codes::two_bits>, blocks<Codes::e4m3>, blocks<Codes::e5m2>,
     blocks<Codes::e2m3>, blocks<Codes::e3m2>},
    {elements<Codes::int8>, elements<Codes::uint8>, elements<Codes::int16>, elements<Codes::uint16>,
     elements<Codes::int32>, elements<Codes::uint32>, elements<Codes::four_bits>, elements<Codes::two_bits>,
     elements<Codes::e4m3>, elements<Codes::e5m2>, elements<Codes::e2m3>, elements<Codes::e3m2>},
    copy,
};

}  // namespace hurray::quantization_detail

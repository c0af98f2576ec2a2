// Compiled once for each set of vector instructions below, by including itself; what the processor runs is chosen at
// the first use. Nothing here depends on a mode of the processor: integer arithmetic, conversions that are exact, and
// no NaN that an instruction makes quiet is left so.
#include "core/hurray/values/simd.hpp"

#include <cstdint>
#include <cstring>

#include "core/hurray/values/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/hurray/values/simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/hurray/values/simd_formats.hpp"

HWY_BEFORE_NAMESPACE();
namespace hurray::values_detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename Format>
HWY_INLINE void read_vector(const std::uint8_t* from, float* to) {
    const auto elements = load_elements<typename Format::Element>(from);
    hn::StoreU(hn::BitCast(Floats(), Format::convert(hn::PromoteTo(Words(), elements))), Floats(), to);
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
// The processor's own conversion, which is exact in every mode of it but makes signalling NaNs quiet.
template <>
HWY_INLINE void read_vector<Float16>(const std::uint8_t* from, float* to) {
    const auto elements = load_elements<std::uint16_t>(from);
    const auto numbers = hn::PromoteTo(Floats(), hn::BitCast(hn::Rebind<hwy::float16_t, Floats>(), elements));
    hn::StoreU(numbers, Floats(), to);
    if (!hn::AllTrue(Floats(), hn::Eq(numbers, numbers))) {
        hn::StoreU(hn::BitCast(Floats(), Float16::convert(hn::PromoteTo(Words(), elements))), Floats(), to);
    }
}
#endif

template <typename Format>
void read_all(const std::byte* data, float* out, std::size_t count) noexcept {
    constexpr std::size_t size = sizeof(typename Format::Element);
    const std::size_t lanes = hn::Lanes(Floats());
    const auto* from = reinterpret_cast<const std::uint8_t*>(data);
    std::size_t done = 0;
    for (; done + 4 * lanes <= count; done += 4 * lanes) {
        for (std::size_t i = 0; i < 4; ++i) {
            read_vector<Format>(from + (done + i * lanes) * size, out + done + i * lanes);
        }
    }
    for (; done + lanes <= count; done += lanes) read_vector<Format>(from + done * size, out + done);
    const std::size_t rest = count - done;
    if (rest == 0) return;
    // The last ones by way of a whole vector, so that nothing beyond them is touched.
    std::uint8_t last_bytes[hn::MaxLanes(Floats()) * size] = {};
    float last[hn::MaxLanes(Floats())];
    std::memcpy(last_bytes, from + done * size, rest * size);
    read_vector<Format>(last_bytes, last);
    std::memcpy(out + done, last, rest * sizeof(float));
}

template <typename Format>
HWY_INLINE void write_vector(const float* from, std::uint8_t* to) {
    const hn::Rebind<std::uint16_t, Floats> elements;
    const auto packed = hn::DemoteTo(elements, Format::round(hn::BitCast(Words(), hn::LoadU(Floats(), from))));
#if HWY_TARGET == HWY_SCALAR
    const std::uint16_t element = hn::GetLane(packed);
    std::memcpy(to, &element, sizeof element);
#else
    const hn::Repartition<std::uint8_t, decltype(elements)> bytes;
    hn::StoreU(hn::BitCast(bytes, packed), bytes, to);
#endif
}

template <typename Format>
void write_all(const float* numbers, std::byte* data, std::size_t count) noexcept {
    const std::size_t lanes = hn::Lanes(Floats());
    auto* to = reinterpret_cast<std::uint8_t*>(data);
    std::size_t done = 0;
    for (; done + lanes <= count; done += lanes) write_vector<Format>(numbers + done, to + done * 2);
    const std::size_t rest = count - done;
    if (rest == 0) return;
    float last[hn::MaxLanes(Floats())] = {};
    std::uint8_t last_bytes[hn::MaxLanes(Floats()) * 2];
    std::memcpy(last, numbers + done, rest * sizeof(float));
    write_vector<Format>(last, last_bytes);
    std::memcpy(to + done * 2, last_bytes, rest * 2);
}

constexpr SimdKernels kernels = {
    HWY_STR(HWY_NAMESPACE), read_all<Float16>,  read_all<Bfloat16>,  read_all<E4m3>,
    read_all<E5m2>,         write_all<Float16>, write_all<Bfloat16>,
};

}  // namespace hurray::values_detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/hurray/values/simd_choice.hpp"

namespace hurray::values_detail {
namespace {

struct Available : SimdSets<SimdKernels> {
    Available() noexcept { HURRAY_ADD_SIMD_SETS(*this, kernels); }
};

const Available& available() noexcept {
    static const Available sets;
    return sets;
}

}  // namespace

const SimdKernels& simd_kernels() noexcept {
    return *available().sets[0];
}

const SimdKernels* const* all_simd_kernels() noexcept {
    return available().sets;
}

}  // namespace hurray::values_detail
#endif

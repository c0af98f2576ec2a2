// The vector instructions of this processor against the scalar functions, bit for bit.
#include "core/hurray/values/simd.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "core/hurray/values/kernels.hpp"

namespace hurray::values_detail {
namespace {

struct Type {
    std::uint8_t tag;
    std::size_t size;
    SimdRead SimdKernels::*kernel;
};
constexpr Type types[] = {
    {0x01, 2, &SimdKernels::float16},
    {0x02, 2, &SimdKernels::bfloat16},
    {0x40, 1, &SimdKernels::e4m3},
    {0x41, 1, &SimdKernels::e5m2},
};

std::vector<std::uint32_t> scalar(const Type& type, const std::byte* data, std::size_t count) {
    std::vector<float> out(count);
    const NumberFormat format = number_format(type.tag).value();
    EXPECT_EQ(scalar_kernels(type.tag)->to_float32(format, data, 0, out.data(), count).done, count);
    std::vector<std::uint32_t> bits(count);
    if (count != 0) std::memcpy(bits.data(), out.data(), count * sizeof(float));
    return bits;
}

std::vector<std::byte> all_patterns(const Type& type) {
    std::vector<std::byte> data;
    for (unsigned pattern = 0; pattern < 1U << (8 * type.size); ++pattern) {
        data.push_back(static_cast<std::byte>(pattern & 255));
        if (type.size == 2) data.push_back(static_cast<std::byte>(pattern >> 8));
    }
    return data;
}

TEST(Simd, EveryPatternIsTheScalarOne) {
    for (const SimdKernels* const* set = all_simd_kernels(); *set != nullptr; ++set) {
        for (const Type& type : types) {
            const auto data = all_patterns(type);
            const std::size_t count = data.size() / type.size;
            std::vector<float> out(count);
            ((*set)->*type.kernel)(data.data(), out.data(), count);
            const auto expected = scalar(type, data.data(), count);
            for (std::size_t i = 0; i < count; ++i) {
                ASSERT_EQ(std::bit_cast<std::uint32_t>(out[i]), expected[i])
                    << (*set)->name << ", type " << int{type.tag} << ", pattern " << i;
            }
        }
    }
}

// Blocks of exactly the size: the address sanitizer sees what is read or written beyond.
TEST(Simd, AnyCountAndAnyAddress) {
    for (const SimdKernels* const* set = all_simd_kernels(); *set != nullptr; ++set) {
        for (const Type& type : types) {
            const auto patterns = all_patterns(type);
            for (std::size_t shift = 0; shift < 3; ++shift) {
                for (std::size_t count = 0; count < 70; ++count) {
                    const std::size_t size = shift + count * type.size;
                    const auto data = std::make_unique<std::byte[]>(size);
                    std::memcpy(data.get() + shift, patterns.data() + 90, count * type.size);
                    const auto out = std::make_unique<float[]>(count);
                    ((*set)->*type.kernel)(data.get() + shift, out.get(), count);
                    const auto expected = scalar(type, data.get() + shift, count);
                    if (count != 0) {
                        ASSERT_EQ(std::memcmp(out.get(), expected.data(), count * sizeof(float)), 0)
                            << (*set)->name << ", type " << int{type.tag} << ", " << count << " from " << shift;
                    }
                }
            }
        }
    }
}

TEST(Simd, TheBestSetComesFirst) {
    ASSERT_NE(all_simd_kernels()[0], nullptr);
    EXPECT_EQ(&simd_kernels(), all_simd_kernels()[0]);
}

}  // namespace
}  // namespace hurray::values_detail

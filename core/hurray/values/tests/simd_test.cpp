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

struct Target {
    std::uint8_t tag;
    SimdWrite SimdKernels::*kernel;
};
constexpr Target targets[] = {{0x01, &SimdKernels::to_float16}, {0x02, &SimdKernels::to_bfloat16}};

// Every pattern of sign, exponent and the first seven bits of the mantissa; below them what decides about rounding.
std::vector<float> numbers_to_write() {
    std::vector<float> numbers;
    for (std::uint32_t high = 0; high < 0x10000; ++high) {
        for (const std::uint32_t low : {0x0000U, 0x0001U, 0x0FFFU, 0x1000U, 0x1001U, 0x2FFFU, 0x3000U, 0x7FFFU, 0x8000U,
                                        0x8001U, 0xEFFFU, 0xF000U, 0xFFFFU}) {
            numbers.push_back(std::bit_cast<float>(high << 16 | low));
        }
    }
    return numbers;
}

TEST(Simd, WritesWhatTheScalarOneWrites) {
    const auto numbers = numbers_to_write();
    for (const SimdKernels* const* set = all_simd_kernels(); *set != nullptr; ++set) {
        for (const Target& target : targets) {
            std::vector<std::uint16_t> out(numbers.size());
            std::vector<std::uint16_t> expected(numbers.size());
            ((*set)->*target.kernel)(numbers.data(), reinterpret_cast<std::byte*>(out.data()), numbers.size());
            const Progress progress =
                scalar_kernels(target.tag)
                    ->from_float32(number_format(target.tag).value(), numbers.data(), numbers.size(),
                                   reinterpret_cast<std::byte*>(expected.data()), 0, Overflow::to_infinity);
            ASSERT_EQ(progress.done, numbers.size());
            for (std::size_t i = 0; i < numbers.size(); ++i) {
                ASSERT_EQ(out[i], expected[i]) << (*set)->name << ", type " << int{target.tag} << ", pattern "
                                               << std::hex << std::bit_cast<std::uint32_t>(numbers[i]);
            }
        }
    }
}

TEST(Simd, WritesAnyCountToAnyAddress) {
    const auto numbers = numbers_to_write();
    for (const SimdKernels* const* set = all_simd_kernels(); *set != nullptr; ++set) {
        for (const Target& target : targets) {
            for (std::size_t shift = 0; shift < 3; ++shift) {
                for (std::size_t count = 0; count < 70; ++count) {
                    const std::size_t size = shift + 2 * count;
                    const auto source = std::make_unique<float[]>(count);
                    if (count != 0) std::memcpy(source.get(), numbers.data() + 500000, count * sizeof(float));
                    const auto data = std::make_unique<std::byte[]>(size);
                    ((*set)->*target.kernel)(source.get(), data.get() + shift, count);
                    std::vector<std::byte> expected(size);
                    scalar_kernels(target.tag)
                        ->from_float32(number_format(target.tag).value(), source.get(), count, expected.data() + shift,
                                       0, Overflow::to_infinity);
                    if (size != 0) {
                        ASSERT_EQ(std::memcmp(data.get(), expected.data(), size), 0)
                            << (*set)->name << ", type " << int{target.tag} << ", " << count << " to " << shift;
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

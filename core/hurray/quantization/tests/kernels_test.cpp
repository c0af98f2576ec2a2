// The vector instructions of this processor against the scalar kernels, bit for bit.
#include "core/hurray/quantization/kernels.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "core/hurray/quantization/nf4_levels.hpp"
#include "core/hurray/quantization/stored_values.hpp"

namespace hurray::quantization_detail {
namespace {

constexpr bool has_zero_points(Codes codes) {
    return codes <= Codes::two_bits;
}

std::vector<float> scales_to_try() {
    std::vector<float> scales = {1.0f,
                                 -0.37f,
                                 0.0f,
                                 std::numeric_limits<float>::denorm_min(),
                                 -std::numeric_limits<float>::min(),
                                 std::numeric_limits<float>::max(),
                                 std::ldexp(1.0f, 127),
                                 std::ldexp(1.0f, 120),
                                 std::ldexp(1.0f, 113),
                                 std::ldexp(1.0f, -126),
                                 std::numeric_limits<float>::infinity(),
                                 std::numeric_limits<float>::quiet_NaN(),
                                 3.14159274f};
    std::mt19937 random(7);
    while (scales.size() < 4096) {
        scales.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random() & 0xFF7FFFFF)));
    }
    return scales;
}

std::int32_t zero_point(Codes codes, std::uint32_t random) {
    switch (codes) {
        case Codes::two_bits:
            return static_cast<std::int32_t>(random % 4) - 2;
        case Codes::four_bits:
            return static_cast<std::int32_t>(random % 16) - 8;
        case Codes::int16:
            return static_cast<std::int16_t>(random);
        case Codes::uint16:
            return static_cast<std::uint16_t>(random);
        case Codes::int32:
            return static_cast<std::int32_t>(random);
        case Codes::uint32:
            return static_cast<std::int32_t>(random & 0x7FFFFFFF);
        case Codes::int8:
            return static_cast<std::int8_t>(random);
        default:
            return static_cast<std::uint8_t>(random);
    }
}

/// Memory of exactly the size, at an address off by some bytes: the address sanitizer sees what is touched beyond.
template <typename T>
class Exact {
  public:
    Exact(const std::vector<T>& values, std::size_t shift)
        : memory_(std::make_unique<std::byte[]>(shift + values.size() * sizeof(T))), start_(memory_.get() + shift) {
        if (!values.empty()) std::memcpy(start_, values.data(), values.size() * sizeof(T));
    }
    [[nodiscard]] const std::byte* data() const { return start_; }

  private:
    std::unique_ptr<std::byte[]> memory_;
    std::byte* start_;
};

struct Input {
    std::vector<std::uint8_t> codes;
    std::vector<float> scales;
    std::vector<std::int32_t> zeros;
};

Input input(Codes codes, std::size_t count, std::size_t entries, bool with_zeros, std::uint32_t seed) {
    static const std::vector<float> scales = scales_to_try();
    std::mt19937 random(seed);
    Input made;
    made.codes.resize((count * bits_of(codes) + 7) / 8);
    for (auto& byte : made.codes) byte = static_cast<std::uint8_t>(random());
    for (std::size_t i = 0; i < entries; ++i) {
        made.scales.push_back(scales[(i + seed) % scales.size()]);
        if (with_zeros) made.zeros.push_back(zero_point(codes, static_cast<std::uint32_t>(random())));
    }
    return made;
}

// block 0: an entry for each element.
void compare(const Kernels& set, Codes codes, std::size_t block, std::size_t count, bool with_zeros,
             std::uint32_t seed) {
    const std::size_t entries = block == 0 ? count : (count + block - 1) / block;
    const Input made = input(codes, count, entries, with_zeros, seed);
    const std::size_t shift = seed % 4;
    const Exact<std::uint8_t> stored(made.codes, shift);
    const Exact<float> scales(made.scales, shift + 1);
    const Exact<std::int32_t> zeros(made.zeros, shift + 2);
    const auto levels = StoredValues::make(0x04, 0x49).value().levels;
    const auto out = std::make_unique<float[]>(count);
    std::vector<float> expected(count);
    Run run{.codes = stored.data(),
            .levels = levels.data(),
            .scales = scales.data(),
            .zeros = with_zeros ? zeros.data() : nullptr,
            .out = out.get()};
    Run oracle = run;
    oracle.out = expected.data();
    if (block == 0) {
        set.element_kernel(codes)(run, count);
        scalar_kernels.element_kernel(codes)(oracle, count);
    } else {
        set.block_kernel(codes)(run, block, count);
        scalar_kernels.block_kernel(codes)(oracle, block, count);
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (expected[i] != expected[i] && !std::isfinite(made.scales[block == 0 ? i : i / block])) {
            // Which NaN comes out of such a scale, which checks refuse, is the processor's choice.
            ASSERT_NE(out[i], out[i]) << set.name << ", codes " << int(codes) << ", element " << i;
            continue;
        }
        ASSERT_EQ(std::bit_cast<std::uint32_t>(out[i]), std::bit_cast<std::uint32_t>(expected[i]))
            << set.name << ", codes " << int(codes) << ", block " << block << ", " << count << " elements, element " << i
            << ", scale " << made.scales[block == 0 ? i : i / block];
    }
}

class EverySet : public testing::TestWithParam<int> {};

TEST_P(EverySet, BlocksOfEverySize) {
    const auto codes = static_cast<Codes>(GetParam());
    std::uint32_t seed = 0;
    for (const Kernels* const* set = all_kernels(); *set != nullptr; ++set) {
        for (const std::size_t block : {2, 4, 8, 16, 32, 64, 128, 256, 1024}) {
            for (const std::size_t count : {block, 3 * block, 5 * block + 1, 7 * block + block / 2, std::size_t{4096}}) {
                compare(**set, codes, block, count, false, ++seed);
                if (has_zero_points(codes)) compare(**set, codes, block, count, true, ++seed);
            }
        }
    }
}

TEST_P(EverySet, OneScaleForAnyCount) {
    const auto codes = static_cast<Codes>(GetParam());
    std::uint32_t seed = 0;
    for (const Kernels* const* set = all_kernels(); *set != nullptr; ++set) {
        for (std::size_t count = 1; count < 200; ++count) {
            compare(**set, codes, count, count, false, ++seed);
            if (has_zero_points(codes)) compare(**set, codes, count, count, true, ++seed);
        }
    }
}

TEST_P(EverySet, AScaleForEachElement) {
    const auto codes = static_cast<Codes>(GetParam());
    std::uint32_t seed = 0;
    for (const Kernels* const* set = all_kernels(); *set != nullptr; ++set) {
        for (std::size_t count = 0; count < 150; ++count) {
            compare(**set, codes, 0, count, false, ++seed);
            if (has_zero_points(codes)) compare(**set, codes, 0, count, true, ++seed);
        }
        compare(**set, codes, 0, 4096, false, ++seed);
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EverySet, testing::Range(0, static_cast<int>(codes_count)));

TEST(Kernels, EveryCodeWithEveryZeroPoint) {
    for (const Kernels* const* set = all_kernels(); *set != nullptr; ++set) {
        std::vector<std::uint8_t> all(256);
        for (std::size_t i = 0; i < 256; ++i) all[i] = static_cast<std::uint8_t>(i);
        for (std::int32_t zero = -128; zero < 256; ++zero) {
            const float scale = 0.1f;
            std::vector<float> got(256);
            const quantization_detail::Run run{.codes = reinterpret_cast<const std::byte*>(all.data()),
                          .levels = nullptr,
                          .scales = reinterpret_cast<const std::byte*>(&scale),
                          .zeros = reinterpret_cast<const std::byte*>(&zero),
                          .out = got.data()};
            if (zero < 128) {
                (*set)->block_kernel(Codes::int8)(run, 256, 256);
                for (int i = 0; i < 256; ++i) {
                    ASSERT_EQ(got[static_cast<std::size_t>(i)], scale * static_cast<float>((i < 128 ? i : i - 256) - zero));
                }
            }
            if (zero >= 0) {
                (*set)->block_kernel(Codes::uint8)(run, 256, 256);
                for (int i = 0; i < 256; ++i) {
                    ASSERT_EQ(got[static_cast<std::size_t>(i)], scale * static_cast<float>(i - zero));
                }
            }
        }
    }
}

TEST(Kernels, StreamedCopiesAreCopies) {
    std::vector<float> numbers(5000);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
    for (const Kernels* const* set = all_kernels(); *set != nullptr; ++set) {
        for (const std::size_t shift : {0, 1, 3, 15, 16}) {
            for (const std::size_t count : {0, 1, 127, 128, 129, 1000, 4096}) {
                const auto out = std::make_unique<float[]>(shift + count);
                (*set)->stream(numbers.data(), out.get() + shift, count);
                for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out[shift + i], numbers[i]) << (*set)->name;
            }
        }
    }
}

TEST(Kernels, TheBestSetComesFirstAndTheScalarOneLast) {
    ASSERT_NE(all_kernels()[0], nullptr);
    EXPECT_EQ(&kernels(), all_kernels()[0]);
    const Kernels* const* last = all_kernels();
    while (last[1] != nullptr) ++last;
    EXPECT_EQ(*last, &scalar_kernels);
}

}  // namespace
}  // namespace hurray::quantization_detail

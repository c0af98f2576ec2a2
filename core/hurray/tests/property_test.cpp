// Requirements, over many generated descriptors: what is accepted obeys every rule, and survives the way to bytes and
// back.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "core/hurray/tests/golden.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {
namespace {

using test::Bytes;
using test::DescriptorSpec;
using test::Random;

// Numbers that do not wrap here; __extension__ since ISO C++ has none of 128 bits.
__extension__ using Wide = __int128;

// Far above what fits into 64 bits: as exact as it needs to be.
constexpr Wide far_too_much = Wide{1} << 100;

constexpr std::uint8_t types[] = {0x03, 0x04, 0x11, 0x20, 0x44, 0x48, 0x4B, 0x51};

// The format's rules for a dense descriptor, written once more from its text with wide integers: the offset of the
// first field at fault, or nothing. Header and handles are right here; buffer_handle_test.cpp has those.
std::optional<std::uint64_t> first_fault(const DescriptorSpec& spec) {
    const auto rank = static_cast<std::uint64_t>(spec.shape.size());
    const bool strided = spec.layout == layout_tag::strided;
    const std::uint64_t byte_offset_at = 20 + 8 * rank;
    const std::uint64_t count_at = byte_offset_at + 8 + (strided ? 8 * rank : 0);
    if (rank == 0 && spec.layout != layout_tag::row_major) return 16;
    const bool dynamic = std::count(spec.shape.begin(), spec.shape.end(), dynamic_dimension) != 0;
    const bool empty = std::count(spec.shape.begin(), spec.shape.end(), 0) != 0;
    Wide count = 1;
    for (std::uint64_t k = 0; k < rank; ++k) {
        if (spec.shape[k] == dynamic_dimension && spec.parent_shape) return 20 + 8 * k;
        if (dynamic || empty) continue;
        count = std::min(far_too_much,
                         Wide{spec.shape[k]} > far_too_much / count ? far_too_much : count * Wide{spec.shape[k]});
        if (count > Wide{~std::uint64_t{0}}) return 20 + 8 * k;
    }
    const std::uint64_t byte_size = spec.buffers.empty() ? 0 : spec.buffers[0].byte_size;
    if (!spec.buffers.empty() && spec.byte_offset > byte_size) return byte_offset_at;
    const ElementTypeInfo& type = *find_element_type(spec.type);
    const Wide group = Wide{1} << type.group_shift;
    const auto bytes = [&](Wide elements) { return (elements + group - 1) / group * type.group_bytes; };
    Wide below = 0;
    Wide above = count - 1;
    if (strided && !dynamic && !empty) {
        above = 0;
        for (std::uint64_t k = 0; k < rank; ++k) {
            const Wide end = Wide{spec.strides[k]} * Wide{spec.shape[k] - 1};
            Wide& side = end < 0 ? below : above;
            side = std::min(far_too_much, side + std::min(far_too_much, end < 0 ? -end : end));
        }
        if (bytes(below) > Wide{spec.byte_offset} || below > Wide{~std::uint64_t{0}}) return byte_offset_at;
    }
    if (spec.buffers.size() != 1) return count_at;
    if (!dynamic && !empty) {
        // Elements are counted in 64 bits, which matters to packed types in buffers above 2^61 bytes only.
        if (above + 1 > Wide{~std::uint64_t{0}} || Wide{spec.byte_offset} + bytes(above + 1) > Wide{byte_size}) {
            return count_at + 1;
        }
    }
    if (spec.parent_shape) {
        const std::uint64_t parent_at = count_at + 17;
        for (std::uint64_t k = 0; k < rank; ++k) {
            if ((*spec.parent_shape)[k] == dynamic_dimension || (*spec.parent_shape)[k] < spec.shape[k])
                return parent_at + 8 * k;
        }
        for (std::uint64_t k = 0; k < rank; ++k) {
            if (Wide{spec.shard_offset[k]} + Wide{spec.shape[k]} > Wide{(*spec.parent_shape)[k]})
                return parent_at + 8 * (rank + k);
        }
    }
    return std::nullopt;
}

// Sizes and strides that meet at the limits often.
std::uint64_t some_size(Random& random) {
    switch (random.below(8)) {
        case 0:
            return random.pick({0ULL, 1ULL, dynamic_dimension + 0ULL, dynamic_dimension - 1ULL});
        case 1:
            return (1ULL << random.below(64)) + random.below(3) - 1;
        default:
            return random.below(6);
    }
}

std::int64_t some_stride(Random& random) {
    if (random.below(8) != 0) return random.between(-12, 12);
    // About a power of two, of either sign.
    const std::uint64_t power = (std::uint64_t{1} << random.below(64)) + random.below(3) - 1;
    return static_cast<std::int64_t>(random.below(2) == 0 ? power : 0 - power);
}

DescriptorSpec some_spec(Random& random) {
    DescriptorSpec spec;
    spec.type = types[random.below(std::size(types))];
    spec.layout = random.pick({layout_tag::row_major, layout_tag::col_major, layout_tag::strided, layout_tag::strided});
    spec.shape.resize(random.below(20) == 0 ? random.below(65) : random.below(6));
    for (std::uint64_t& size : spec.shape) size = spec.shape.size() > 8 && random.below(8) != 0 ? 1 : some_size(random);
    if (spec.layout == layout_tag::strided) {
        spec.strides.resize(spec.shape.size());
        for (std::int64_t& stride : spec.strides) stride = some_stride(random);
    }
    spec.byte_offset = random.below(4) == 0 ? some_size(random) : random.below(100);
    spec.buffers.resize(random.below(16) == 0 ? random.below(4) : 1);
    for (BufferHandle& buffer : spec.buffers)
        buffer.byte_size = random.below(3) == 0 ? some_size(random) : random.below(2000);
    if (random.below(3) == 0) {
        spec.parent_shape.emplace(spec.shape.size());
        spec.shard_offset.resize(spec.shape.size());
        for (std::size_t k = 0; k < spec.shape.size(); ++k) {
            spec.shard_offset[k] = random.below(6) == 0 ? some_size(random) : random.below(4);
            (*spec.parent_shape)[k] = random.below(6) == 0 ? some_size(random) : spec.shape[k] + random.below(6);
        }
    }
    return spec;
}

TEST(Property, WhatIsAcceptedObeysEveryRuleAndTheFirstFaultIsReported) {
    Random random(20260101);
    int accepted = 0;
    int refused = 0;
    for (int i = 0; i < 300000; ++i) {
        const DescriptorSpec spec = some_spec(random);
        const auto built = build(spec);
        const auto expected = first_fault(spec);
        if (!expected) {
            ASSERT_TRUE(built.has_value()) << i << ": " << built.error().message;
            ++accepted;
        } else {
            ASSERT_FALSE(built.has_value()) << i << ": expected a fault at " << *expected;
            ASSERT_EQ(built.error().code, Status::invalid_layout);
            ASSERT_EQ(built.error().offset, *expected) << i << ": " << built.error().message;
            ++refused;
        }
    }
    EXPECT_GT(accepted, 20000);
    EXPECT_GT(refused, 20000);
}

TEST(Property, WhatIsBuiltSurvivesTheWayToBytesAndBack) {
    Random random(4711);
    for (int i = 0; i < 100000; ++i) {
        const DescriptorSpec spec = some_spec(random);
        const auto built = build(spec);
        if (!built) continue;
        const Bytes bytes = test::encoded(*built);
        const auto decoded = test::decode_exact(bytes);
        ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
        EXPECT_EQ(test::encoded(*decoded), bytes);
        EXPECT_EQ(decoded->element_type(), spec.type);
        EXPECT_EQ(decoded->layout(), spec.layout);
        EXPECT_EQ(decoded->byte_offset(), spec.byte_offset);
        EXPECT_TRUE(std::ranges::equal(decoded->shape(), spec.shape));
        EXPECT_TRUE(std::ranges::equal(decoded->strides(), spec.strides));
        EXPECT_TRUE(std::ranges::equal(decoded->buffers(), spec.buffers));
        ASSERT_EQ(decoded->has_shard(), spec.parent_shape.has_value());
        if (!spec.parent_shape) continue;
        EXPECT_TRUE(std::ranges::equal(decoded->parent_shape(), *spec.parent_shape));
        EXPECT_TRUE(std::ranges::equal(decoded->shard_offset(), spec.shard_offset));
    }
}

TEST(Property, ManyMutationsAtOnceAreRefusedOrEncodeToTheSameBytes) {
    Random random(99);
    const std::vector<test::GoldenVector> corpus = test::valid_descriptors();
    int accepted = 0;
    for (int i = 0; i < 100000; ++i) {
        const test::GoldenVector& vector = corpus[random.below(corpus.size())];
        Bytes bytes = vector.bytes;
        for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
            bytes[random.below(bytes.size())] = static_cast<std::byte>(
                random.pick({std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0xFF}, random.below(256)}));
        }
        if (random.below(4) == 0) bytes.resize(random.below(bytes.size() + 1));
        const auto decoded = test::decode_exact(bytes, vector.options);
        if (!decoded) continue;
        ++accepted;
        bytes.resize(decoded->encoded_length());
        ASSERT_EQ(test::encoded(*decoded), bytes);
    }
    EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace hurray

// Requirements: a descriptor is a value; decoding a dense one of rank 4 allocates at most once.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

#include "core/hurray/tests/golden.hpp"

namespace {
std::size_t allocations = 0;
}  // namespace

// Counts what the program allocates; the library's memory for descriptors comes from here. Not inlined: GCC would see
// std::free on what operator new returned, and take the two for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace hurray {
namespace {

using test::Bytes;

Descriptor sharded(std::size_t rank) {
    test::DescriptorSpec spec{.type = test::uint8,
                              .shape = std::vector<std::uint64_t>(rank, 1),
                              .buffers = {{.byte_size = 1}},
                              .parent_shape = std::vector<std::uint64_t>(rank, 3),
                              .shard_offset = std::vector<std::uint64_t>(rank, 2)};
    return test::build(spec).value();
}

Descriptor strided(std::size_t rank) {
    return test::build({.type = test::uint8,
                        .layout = layout_tag::strided,
                        .shape = std::vector<std::uint64_t>(rank, 1),
                        .strides = std::vector<std::int64_t>(rank, -5),
                        .buffers = {{.byte_size = 1}}})
        .value();
}

std::size_t allocations_of_decode(const Bytes& bytes, const DecodeOptions& options = {}) {
    const std::size_t before = allocations;
    const auto decoded = decode(bytes, options);
    const std::size_t after = allocations;
    EXPECT_TRUE(decoded.has_value());
    return after - before;
}

TEST(Descriptor, DenseDescriptorsUpToRank4AreDecodedWithoutAllocating) {
    for (std::size_t rank = 1; rank <= 4; ++rank) {
        EXPECT_EQ(allocations_of_decode(test::encoded(sharded(rank))), 0U) << rank;
        EXPECT_EQ(allocations_of_decode(test::encoded(strided(rank))), 0U) << rank;
    }
}

TEST(Descriptor, DecodingAllocatesAtMostOnceUnlessWordsAreWiderThanTheirFields) {
    for (const auto& [name, bytes, options, entry] : test::valid_descriptors()) {
        const bool dense = entry.at("descriptor").at("layout_tag") <= layout_tag::strided;
        const bool plain = (entry.at("descriptor").at("flags").get<std::uint32_t>() & ~descriptor_flag::shard) == 0;
        EXPECT_LE(allocations_of_decode(bytes, options), dense && plain ? 1U : 3U) << name;
    }
}

TEST(Descriptor, BuildingUpToRank4DoesNotAllocate) {
    const std::array<std::uint64_t, 4> shape = {1, 2, 3, 4};
    const std::array<std::int64_t, 4> strides = {24, 12, 4, 1};
    const std::array<std::uint64_t, 4> origin = {};
    for (const bool shard : {false, true}) {
        const std::size_t before = allocations;
        DescriptorBuilder builder(test::uint8, shard ? layout_tag::row_major : layout_tag::strided, shape);
        builder.set_byte_offset(3);
        if (shard) {
            builder.set_shard(shape, origin);
        } else {
            builder.set_strides(strides);
        }
        const bool added = builder.add_buffer({.byte_size = 64}).has_value();
        const bool built = builder.build().has_value();
        const std::size_t after = allocations;
        EXPECT_TRUE(added && built);
        EXPECT_EQ(after - before, 0U) << shard;
    }
}

TEST(Descriptor, CopiesAndMovesSayTheSame) {
    static_assert(std::is_nothrow_move_constructible_v<Descriptor> && std::is_nothrow_move_assignable_v<Descriptor>);
    static_assert(!std::is_default_constructible_v<Descriptor>);
    for (const std::size_t rank : {1, 4, 5, 64}) {
        const Descriptor original = sharded(rank);
        const Bytes bytes = test::encoded(original);
        Descriptor copy = original;
        EXPECT_EQ(test::encoded(copy), bytes);
        Descriptor moved = std::move(copy);
        EXPECT_EQ(test::encoded(moved), bytes);
        copy = strided(64);
        EXPECT_EQ(copy.rank(), 64U);
        copy = moved;
        EXPECT_EQ(test::encoded(copy), bytes);
        copy = std::move(moved);
        EXPECT_EQ(test::encoded(copy), bytes);
        const Descriptor& itself = copy;
        copy = itself;
        EXPECT_EQ(test::encoded(copy), bytes);
        EXPECT_EQ(test::encoded(original), bytes);
    }
}

TEST(Descriptor, AbsentSectionsAndFieldsAreEmpty) {
    const Descriptor descriptor = test::build({.shape = {2}, .buffers = {{.byte_size = 8}}}).value();
    EXPECT_TRUE(descriptor.strides().empty());
    EXPECT_TRUE(descriptor.layout_words().empty());
    EXPECT_TRUE(descriptor.parent_shape().empty());
    EXPECT_TRUE(descriptor.shard_offset().empty());
    EXPECT_TRUE(descriptor.trailing().empty());
    EXPECT_FALSE(descriptor.has_shard());
    EXPECT_TRUE(descriptor.section_words(descriptor_flag::statistics).empty());
    EXPECT_TRUE(descriptor.section_words(0x80000000).empty());
}

TEST(Descriptor, ElementCountIsTheProductOfTheShape) {
    const auto count = [](std::vector<std::uint64_t> shape) {
        return test::build({.type = test::boolean, .shape = std::move(shape), .buffers = {{.byte_size = ~0ULL}}})
            .value()
            .element_count();
    };
    EXPECT_EQ(count({}).value(), 1U);
    EXPECT_EQ(count({2, 3, 5}).value(), 30U);
    EXPECT_EQ(count({2, 0, 5}).value(), 0U);
    EXPECT_EQ(count({~0ULL - 1}).value(), ~0ULL - 1);
    EXPECT_EQ(test::fault(count({2, dynamic_dimension, dynamic_dimension})),
              test::fault_of(Status::invalid_layout, 28));
}

TEST(Encode, RefusesTooLittleRoomAndWritesNothing) {
    const Descriptor descriptor = sharded(2);
    for (std::size_t size = 0; size < descriptor.encoded_length(); ++size) {
        Bytes out(size, std::byte{0xAA});
        EXPECT_EQ(test::fault(encode(descriptor, out)), test::fault_of(Status::buffer_too_small, Error::no_offset));
        EXPECT_EQ(out, Bytes(size, std::byte{0xAA}));
    }
}

TEST(Encode, WritesItsLengthAndNoMore) {
    const Descriptor descriptor = sharded(2);
    Bytes out(descriptor.encoded_length() + 5, std::byte{0xAA});
    EXPECT_EQ(encode(descriptor, out).value(), descriptor.encoded_length());
    EXPECT_EQ(Bytes(out.end() - 5, out.end()), Bytes(5, std::byte{0xAA}));
    out.resize(descriptor.encoded_length());
    EXPECT_EQ(out, test::encoded(descriptor));
}

}  // namespace
}  // namespace hurray

// Requirements: the builder makes the checks of decode, with the same codes and offsets.
#include "core/hurray/descriptor/builder.hpp"

#include <gtest/gtest.h>

#include "core/hurray/tests/support.hpp"

namespace hurray {
namespace {

using test::fault;
using test::fault_of;

const BufferHandle bytes_64 = {.byte_size = 64};

TEST(Builder, EmitsVersion1_0) {
    const auto descriptor = test::build({.shape = {3}, .buffers = {bytes_64}}).value();
    EXPECT_EQ(descriptor.version_major(), 1);
    EXPECT_EQ(descriptor.version_minor(), 0);
    EXPECT_EQ(test::encoded(descriptor)[4], std::byte{1});
    EXPECT_EQ(test::encoded(descriptor)[5], std::byte{0});
}

TEST(Builder, StaysAsItIsAndMayBuildAgain) {
    DescriptorBuilder builder(test::float32, layout_tag::row_major, std::array<std::uint64_t, 1>{3});
    EXPECT_EQ(fault(builder.build()), fault_of(Status::invalid_layout, 36));
    ASSERT_TRUE(builder.add_buffer(bytes_64).has_value());
    const auto first = builder.build();
    const auto second = DescriptorBuilder(builder).build();
    EXPECT_EQ(test::encoded(first.value()), test::encoded(second.value()));
    ASSERT_TRUE(builder.add_buffer(bytes_64).has_value());
    EXPECT_EQ(fault(builder.build()), fault_of(Status::invalid_layout, 36));
    EXPECT_TRUE(first.has_value());
}

TEST(Builder, MakesTheChecksOfDecode) {
    EXPECT_EQ(fault(test::build({.type = 0x00, .shape = {3}, .buffers = {bytes_64}})),
              fault_of(Status::invalid_type, 14));
    EXPECT_EQ(fault(test::build({.layout = 0x0C, .shape = {3}, .buffers = {bytes_64}})),
              fault_of(Status::invalid_layout, 15));
    EXPECT_EQ(fault(test::build({.layout = layout_tag::csf, .shape = {3, 3}, .buffers = {bytes_64}})),
              fault_of(Status::invalid_layout, 16));
    EXPECT_EQ(fault(test::build({.shape = {17}, .buffers = {bytes_64}})), fault_of(Status::invalid_layout, 37));
    EXPECT_EQ(fault(test::build({.shape = {1}, .byte_offset = 65, .buffers = {bytes_64}})),
              fault_of(Status::invalid_layout, 28));
    EXPECT_EQ(fault(test::build({.shape = {1}, .buffers = {{.byte_size = 64, .sync_mode = 1}}})),
              fault_of(Status::invalid_sync_mode, 50));
    EXPECT_EQ(fault(test::build({.shape = {2}, .buffers = {bytes_64}, .parent_shape = {{4}}, .shard_offset = {3}})),
              fault_of(Status::invalid_layout, 61));
}

TEST(Builder, RanksAbove64AreRefusedWhateverTheyAre) {
    for (const std::size_t rank : {65, 1000, 100000}) {
        EXPECT_EQ(fault(test::build(
                      {.type = test::uint8, .shape = std::vector<std::uint64_t>(rank, 1), .buffers = {bytes_64}})),
                  fault_of(Status::invalid_layout, 16));
        EXPECT_EQ(
            fault(test::build({.type = 0xFF, .shape = std::vector<std::uint64_t>(rank, 1), .buffers = {bytes_64}})),
            fault_of(Status::invalid_type, 14));
    }
}

TEST(Builder, ScalarsHaveAShapeOfNothing) {
    EXPECT_EQ(test::build({.buffers = {bytes_64}}).value().rank(), 0U);
    EXPECT_EQ(fault(test::build({.layout = layout_tag::strided, .buffers = {bytes_64}})),
              fault_of(Status::invalid_layout, 16));
}

TEST(Builder, StridesAreOneADimensionAndOfTheStridedLayoutOnly) {
    const auto with = [](std::uint8_t layout, std::vector<std::int64_t> strides) {
        return test::build({.layout = layout, .shape = {2, 2}, .strides = std::move(strides), .buffers = {bytes_64}});
    };
    EXPECT_TRUE(with(layout_tag::strided, {2, 1}).has_value());
    for (const std::vector<std::int64_t>& strides : {std::vector<std::int64_t>{}, {2}, {2, 1, 1}}) {
        EXPECT_EQ(fault(with(layout_tag::strided, strides)), fault_of(Status::invalid_layout, 44));
    }
    EXPECT_EQ(fault(with(layout_tag::row_major, {2, 1})), fault_of(Status::invalid_layout, 44));
    EXPECT_EQ(fault(with(layout_tag::col_major, {1})), fault_of(Status::invalid_layout, 44));
    // Another field's fault before the strides comes first.
    EXPECT_EQ(fault(with(layout_tag::csf, {2, 1})), fault_of(Status::invalid_layout, 16));
    EXPECT_EQ(fault(with(0xFF, {2, 1})), fault_of(Status::invalid_layout, 15));
}

TEST(Builder, StridesThatWereNotSetAreMissed) {
    DescriptorBuilder builder(test::float32, layout_tag::strided, std::array<std::uint64_t, 1>{2});
    ASSERT_TRUE(builder.add_buffer(bytes_64).has_value());
    EXPECT_EQ(fault(builder.build()), fault_of(Status::invalid_layout, 36));
}

TEST(Builder, ShardFieldsHaveOneValueADimension) {
    const auto with = [](std::vector<std::uint64_t> parent, std::vector<std::uint64_t> offset,
                         std::uint64_t byte_offset = 0) {
        return test::build({.shape = {2, 2},
                            .byte_offset = byte_offset,
                            .buffers = {bytes_64},
                            .parent_shape = std::move(parent),
                            .shard_offset = std::move(offset)});
    };
    EXPECT_TRUE(with({4, 4}, {2, 2}).has_value());
    EXPECT_EQ(fault(with({4}, {2, 2})), fault_of(Status::invalid_layout, 61));
    EXPECT_EQ(fault(with({4, 4, 4}, {2, 2})), fault_of(Status::invalid_layout, 61));
    EXPECT_EQ(fault(with({4, 4}, {2})), fault_of(Status::invalid_layout, 77));
    EXPECT_EQ(fault(with({}, {})), fault_of(Status::invalid_layout, 61));
    EXPECT_EQ(fault(with({4, 1}, {2})), fault_of(Status::invalid_layout, 69));
    EXPECT_EQ(fault(with({4}, {2, 2}, 65)), fault_of(Status::invalid_layout, 36));
}

TEST(Builder, TheTableHasRoomFor255Buffers) {
    DescriptorBuilder builder(test::float32, layout_tag::row_major, std::array<std::uint64_t, 1>{3});
    for (int i = 0; i < 255; ++i) ASSERT_TRUE(builder.add_buffer(bytes_64).has_value());
    EXPECT_EQ(fault(builder.add_buffer(bytes_64)), fault_of(Status::invalid_layout, Error::no_offset));
    EXPECT_EQ(fault(builder.build()), fault_of(Status::invalid_layout, 36));
}

TEST(Builder, CopiesWhatItIsGiven) {
    std::vector<std::uint64_t> shape = {2, 3};
    std::vector<std::int64_t> strides = {3, 1};
    DescriptorBuilder builder(test::float32, layout_tag::strided, shape);
    builder.set_strides(strides);
    ASSERT_TRUE(builder.add_buffer(bytes_64).has_value());
    shape = {9, 9};
    strides = {9, 9};
    const auto descriptor = builder.build().value();
    EXPECT_EQ(descriptor.shape()[0], 2U);
    EXPECT_EQ(descriptor.strides()[0], 3);
}

TEST(Builder, PrivateDevicesAreBuiltWhenAllowed) {
    DescriptorBuilder builder(test::float32, layout_tag::row_major, std::array<std::uint64_t, 1>{3});
    ASSERT_TRUE(builder.add_buffer({.byte_size = 64, .device_tag = 0xF3, .memory_class = 0xF1}).has_value());
    EXPECT_EQ(fault(builder.build()), fault_of(Status::invalid_type, 49));
    EXPECT_EQ(builder.build(PrivateTags::allow).value().buffers()[0].device_tag, 0xF3);
}

}  // namespace
}  // namespace hurray

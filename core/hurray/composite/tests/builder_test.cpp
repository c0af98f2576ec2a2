// Requirements: composites are built of tensors that know nothing of each other, and keep everything else of theirs.
#include <gtest/gtest.h>

#include "core/hurray/composite/composite_builder.hpp"
#include "core/hurray/composite/elements.hpp"
#include "core/hurray/composite/tests/support.hpp"
#include "core/hurray/descriptor/statistics_section.hpp"
#include "core/hurray/quantization/fields.hpp"

namespace hurray {
namespace {

using test::member;
using test::Shape;

// With every section that there is, but for that of another type.
Tensor rich(std::optional<Shape> parent, std::optional<MemberRole> role) {
    DescriptorBuilder builder(test::int8, layout_tag::row_major, Shape{2, 3});
    builder.set_quantization({.scheme = scheme_tag::per_tensor_affine, .scale = 2})
        .set_statistics({.computed_mask = 1, .nnz = 3});
    if (parent) builder.set_shard(*parent, Shape{0, 0});
    if (role) builder.set_composite_member(*role);
    return test::tensor_of(builder, {}, 6);
}

TEST(CompositeBuilder, PlacesAreSetAndEverythingElseIsKept) {
    for (const std::optional<Shape>& parent : {std::optional<Shape>{}, std::optional<Shape>{{2, 3}}}) {
        for (const std::optional<MemberRole> role :
             {std::optional<MemberRole>{}, std::optional{MemberRole::base}, std::optional{MemberRole::correction}}) {
            const Descriptor before = rich(parent, role).descriptor;
            for (const std::optional<MemberRole> next : {std::optional<MemberRole>{}, std::optional{MemberRole::base},
                                                         std::optional{MemberRole::correction}}) {
                const auto placed = with_place(before, Shape{8, 9}, Shape{6, 1}, next);
                ASSERT_TRUE(placed.has_value()) << placed.error().message;
                EXPECT_TRUE(std::ranges::equal(placed->parent_shape(), Shape{8, 9}));
                EXPECT_TRUE(std::ranges::equal(placed->shard_offset(), Shape{6, 1}));
                const auto fields = composite_member_fields(*placed);
                EXPECT_EQ(fields ? std::optional(fields->role) : std::nullopt, next);
                EXPECT_EQ(statistics_fields(*placed), statistics_fields(before));
                EXPECT_EQ(quantization_fields(*placed)->scale, 2);
                EXPECT_TRUE(std::ranges::equal(placed->shape(), before.shape()));
                EXPECT_EQ(placed->buffers()[0].byte_size, 6U);
            }
        }
    }
}

TEST(CompositeBuilder, WhatALaterVersionPutBehindTheSectionsIsKept) {
    test::Bytes bytes = test::encoded(rich({}, {}).descriptor);
    bytes[5] = std::byte{7};
    bytes[6] = static_cast<std::byte>(bytes.size() + 3);
    for (int i = 1; i <= 3; ++i) bytes.push_back(static_cast<std::byte>(i));
    const auto before = decode(bytes);
    ASSERT_TRUE(before.has_value()) << before.error().message;
    const auto placed = with_place(*before, Shape{2, 3}, Shape{0, 0});
    ASSERT_TRUE(placed.has_value()) << placed.error().message;
    EXPECT_EQ(placed->version_minor(), 7);
    ASSERT_EQ(placed->trailing().size(), 3U);
    EXPECT_EQ(placed->trailing()[2], std::byte{3});
}

TEST(CompositeBuilder, PlacesThatThereAreNotAreRefused) {
    const Descriptor descriptor = member({.shape = {2, 3}}).descriptor;
    EXPECT_EQ(with_place(descriptor, Shape{2, 3}, Shape{0, 1}).error().code, Status::invalid_layout);
    EXPECT_EQ(with_place(descriptor, Shape{1, 3}, Shape{0, 0}).error().code, Status::invalid_layout);
    EXPECT_EQ(with_place(descriptor, Shape{2}, Shape{0, 0}).error().code, Status::invalid_argument);
    EXPECT_EQ(with_place(descriptor, Shape{2, 3}, Shape{0}).error().code, Status::invalid_argument);
    const Descriptor group = test::head({2}, {composition_rule::group, 0, 0});
    EXPECT_EQ(with_place(group, Shape{2}, Shape{0}, MemberRole::base).error().code, Status::invalid_composite);
    EXPECT_TRUE(with_place(group, Shape{2}, Shape{0}).has_value());
}

TEST(CompositeBuilder, PartitionsOverlaysAndGroups) {
    test::Bytes bytes(24);
    const float three = 3;
    std::memcpy(bytes.data() + 20, &three, 4);
    const CompositeMember tile(member({.shape = {2, 3}, .bytes = bytes}));

    CompositeBuilder partition(test::float32, Shape{2, 6}, composition_rule::partition);
    EXPECT_TRUE(partition.add_at(tile, Shape{0, 0}).has_value());
    EXPECT_EQ(partition.build().error().code, Status::invalid_composite);
    EXPECT_EQ(partition.add_at(tile, Shape{0, 4}).error().code, Status::invalid_layout);
    EXPECT_TRUE(partition.add_at(tile, Shape{0, 3}).has_value());
    const auto tiles = partition.build();
    ASSERT_TRUE(tiles.has_value()) << tiles.error().message;
    EXPECT_EQ((*tiles)->fields(), (CompositeFields{composition_rule::partition, combine_op::none, 2}));
    EXPECT_EQ(get_float64(**tiles, Shape{1, 5}).value(), 3);
    EXPECT_EQ((*tiles)->members()[1].tensor()->buffers[0].data, tile.tensor()->buffers[0].data);

    CompositeBuilder overlay(test::float32, Shape{2, 3}, composition_rule::overlay, combine_op::add);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(overlay.add_at(tile, Shape{0, 0}).has_value());
    const auto layers = overlay.build();
    ASSERT_TRUE(layers.has_value()) << layers.error().message;
    EXPECT_EQ(get_float64(**layers, Shape{1, 2}).value(), 9);
    CompositeBuilder one(test::float32, Shape{2, 3}, composition_rule::partition);
    EXPECT_TRUE(one.add_at(tile, Shape{0, 0}).has_value());
    EXPECT_EQ(overlay.add_at(CompositeMember(one.build().value()), Shape{0, 0}).error().code,
              Status::invalid_composite);

    CompositeBuilder nested(test::float32, Shape{4, 6}, composition_rule::partition);
    EXPECT_TRUE(nested.add_at(CompositeMember(*tiles), Shape{0, 0}).has_value());
    EXPECT_TRUE(nested.add_at(CompositeMember(*tiles), Shape{2, 0}).has_value());
    const auto whole = nested.build();
    ASSERT_TRUE(whole.has_value()) << whole.error().message;
    EXPECT_EQ((*whole)->depth(), 2U);
    EXPECT_EQ(get_float64(**whole, Shape{3, 5}).value(), 3);

    const auto group = CompositeBuilder(test::float32, Shape{1}, composition_rule::group)
                           .add(tile)
                           .add(CompositeMember(*whole))
                           .build();
    ASSERT_TRUE(group.has_value()) << group.error().message;
    EXPECT_EQ((*group)->depth(), 3U);
    EXPECT_EQ(CompositeBuilder(test::float32, Shape{1}, 0xF0).build().error().code, Status::invalid_composite);
    EXPECT_TRUE(CompositeBuilder(test::float32, Shape{1}, 0xF0, 7).build(PrivateTags::allow).has_value());
    EXPECT_TRUE(CompositeBuilder(0xF1, Shape{1}, composition_rule::group).set_extension_type({.bit_width = 8}).build());
}

}  // namespace
}  // namespace hurray

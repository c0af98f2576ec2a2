// Requirements: composite, members and validation: what fits is a composite, everything else is refused by name.
#include "core/hurray/composite/composite.hpp"

#include <gtest/gtest.h>

#include "core/hurray/composite/tests/support.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/quantization/fields.hpp"

namespace hurray {
namespace {

using test::head;
using test::make;
using test::member;
using test::MemberSpec;
using test::parts;
using test::refusal;
using test::Shape;

constexpr CompositeFields partition_of_2 = {composition_rule::partition, 0, 2};
constexpr CompositeFields group_of_2 = {composition_rule::group, 0, 2};

CompositeFields overlay(std::uint32_t members, std::uint8_t op = combine_op::replace) {
    return {composition_rule::overlay, op, members};
}

CompositeMember overlay_member(MemberRole role, const Shape& shape = {4, 4}, const Shape& at = {0, 0}) {
    return CompositeMember(member({.shape = shape, .parent = Shape{4, 4}, .at = at, .role = role}));
}

std::vector<CompositeMember> list(std::initializer_list<CompositeMember> members) {
    return members;
}

TEST(Composite, HalvesMakeAWhole) {
    const auto whole = make(head({8, 8}, partition_of_2), parts({8, 8}, {{{0, 0}, {8, 4}}, {{0, 4}, {8, 4}}}));
    ASSERT_TRUE(whole.has_value()) << whole.error().message;
    EXPECT_EQ((*whole)->members().size(), 2U);
    EXPECT_EQ((*whole)->depth(), 1U);
    EXPECT_EQ((*whole)->descriptor_count(), 3U);
    EXPECT_TRUE((*whole)->has_elements());
    EXPECT_EQ((*whole)->member_at(std::array<std::uint64_t, 2>{3, 6}), 1U);
    EXPECT_EQ((*whole)->member_at(std::array<std::uint64_t, 2>{3, 3}), 0U);
    EXPECT_FALSE((*whole)->member_at(std::array<std::uint64_t, 2>{8, 0}).has_value());
}

TEST(Composite, MembersShareTheirBuffers) {
    auto members = parts({8, 8}, {{{0, 0}, {8, 4}}, {{0, 4}, {8, 4}}});
    const std::byte* data = members[1].tensor()->buffers[0].data;
    const auto whole = make(head({8, 8}, partition_of_2), std::move(members)).value();
    EXPECT_EQ(whole->members()[1].tensor()->buffers[0].data, data);
    const auto sequence = pre_order(*whole);
    ASSERT_EQ(sequence.size(), 3U);
    EXPECT_EQ(sequence[2].buffers[0].data, data);
    EXPECT_EQ(sequence[2].buffers[0].storage->references(), 2U);
}

TEST(Composite, GapsAndOverlapsAreRefused) {
    EXPECT_EQ(refusal(make(head({8, 8}, partition_of_2), parts({8, 8}, {{{0, 0}, {8, 4}}, {{0, 5}, {8, 3}}}))),
              "members of a partition: expected every index to be in one, the 2 members leave gaps");
    EXPECT_EQ(refusal(make(head({8, 8}, partition_of_2), parts({8, 8}, {{{0, 0}, {8, 4}}, {{0, 3}, {8, 5}}}))),
              "members of a partition: expected no overlap, members 0 and 1 have indices in common");
    EXPECT_EQ(refusal(make(head({8, 8}, {composition_rule::partition, 0, 0}), {})),
              "members of a partition: expected every index to be in one, the 0 members leave gaps");
    EXPECT_TRUE(make(head({8, 0}, {composition_rule::partition, 0, 0}), {}).has_value());
    EXPECT_EQ(refusal(make(head({dynamic_dimension}, {composition_rule::partition, 0, 0}), {})),
              "shape: expected known sizes for a partition, which its members cover");
}

TEST(Composite, EmptyMembersAreInNobodysWay) {
    const auto whole = make(head({4, 4}, partition_of_2), parts({4, 4}, {{{0, 0}, {4, 4}}, {{2, 2}, {0, 1}}}));
    ASSERT_TRUE(whole.has_value()) << whole.error().message;
    EXPECT_EQ((*whole)->member_at(std::array<std::uint64_t, 2>{2, 2}), 0U);
}

TEST(Composite, MissingAndSurplusMembersAreRefused) {
    const auto whole = parts({8}, {{{0}, {8}}});
    EXPECT_EQ(refusal(make(head({8}, partition_of_2), whole)), "member_count: expected 2 members, got 1");
    EXPECT_EQ(refusal(make(head({8}, {composition_rule::group, 0, 0}), whole)),
              "member_count: expected 0 members, got 1");
    EXPECT_EQ(refusal(make(head({8}, {composition_rule::group, 0, 0xFFFFFFFE}), whole)),
              "member_count: expected 4294967294 members, got 1");
}

TEST(Composite, OnlyHeadsAreHeads) {
    const auto made = make(member({.shape = {8}}).descriptor, {});
    EXPECT_EQ(test::message_of(made), "head: expected the composite layout 0B, got 01");
    EXPECT_EQ(made.error().code, Status::invalid_argument);
}

TEST(Composite, WhatIsRefusedIsLeftAsItWas) {
    auto members = parts({8}, {{{0}, {8}}});
    Descriptor of_two = head({8}, partition_of_2);
    EXPECT_FALSE(Composite::make(std::move(of_two), std::move(members)).has_value());
    EXPECT_EQ(of_two.rank(), 1U);   // NOLINT: promised
    ASSERT_EQ(members.size(), 1U);  // NOLINT: promised
    EXPECT_EQ(members[0].tensor()->buffers.size(), 1U);
}

TEST(Composite, PartsSayWhereTheyLie) {
    const auto with = [](const MemberSpec& first) {
        return refusal(make(head({4, 4}, partition_of_2),
                            list({CompositeMember(member(first)),
                                  CompositeMember(member({.shape = {2, 4}, .parent = Shape{4, 4}, .at = {2, 0}}))})));
    };
    EXPECT_EQ(with({.shape = {2, 4}, .parent = Shape{4, 4}, .at = {0, 0}}), "accepted");
    EXPECT_EQ(with({.shape = {2, 4}}), "member 0: expected a shard section, which says where in the head it lies");
    EXPECT_EQ(with({.shape = {2, 4}, .parent = Shape{4, 5}, .at = {0, 0}}),
              "member 0: parent_shape[1]: expected 4 as the head's shape has, got 5");
    EXPECT_EQ(with({.shape = {2, 4, 1}, .parent = Shape{4, 4, 1}, .at = {0, 0, 0}}),
              "member 0: rank: expected 2 as the head has, got 3");
    EXPECT_EQ(with({.shape = {2, 4}, .parent = Shape{4, 4}, .at = {0, 0}, .role = MemberRole::base}),
              "member 0: expected no composite_member section, which only overlays have, in a partition");
    EXPECT_EQ(with({.shape = {2, 4}, .parent = Shape{4, 4}, .at = {0, 0}, .type = test::uint8}),
              "member 0: type_tag: expected 03 as the head has, got 11");
}

TEST(Composite, QuantizedPartsGiveFloatingPointNumbers) {
    DescriptorBuilder builder(test::int8, layout_tag::row_major, Shape{8});
    builder.set_shard(Shape{8}, Shape{0}).set_quantization({.scheme = scheme_tag::per_tensor_affine, .scale = 2});
    const auto quantized = list({CompositeMember(test::tensor_of(builder, {}, 8))});
    const CompositeFields one = {composition_rule::partition, 0, 1};
    for (const std::uint8_t type : {0x01, 0x02, 0x03, 0x04, 0x40, 0x43, 0x45, 0x46}) {
        EXPECT_EQ(refusal(make(head({8}, one, type), quantized)), "accepted") << int{type};
    }
    // The stored type is not the one that counts.
    EXPECT_EQ(refusal(make(head({8}, one, test::int8), quantized)),
              "member 0: quantized, expected a head of a floating-point type, got 10 (int8)");
    for (const std::uint8_t type : {0x11, 0x20, 0x42, 0x50}) {
        EXPECT_NE(refusal(make(head({8}, one, type), quantized)), "accepted") << int{type};
    }
}

TEST(Composite, PrivateTypesAreDescribedAlike) {
    const auto build = [](std::uint8_t layout, std::uint32_t bits) {
        DescriptorBuilder builder(0xF1, layout, Shape{4});
        builder.set_extension_type({.bit_width = bits});
        if (layout == layout_tag::composite) {
            builder.set_composite({composition_rule::partition, 0, 1});
            return Tensor{builder.build().value(), {}};
        }
        builder.set_shard(Shape{4}, Shape{0});
        return test::tensor_of(builder, {}, bits / 2);
    };
    EXPECT_EQ(refusal(make(build(layout_tag::composite, 16).descriptor,
                           list({CompositeMember(build(layout_tag::row_major, 16))}))),
              "accepted");
    EXPECT_EQ(refusal(make(build(layout_tag::composite, 16).descriptor,
                           list({CompositeMember(build(layout_tag::row_major, 32))}))),
              "member 0: extension_type: expected the description of type F1 that the head has");
}

TEST(Composite, OverlaysHaveABaseAndCorrections) {
    const auto base = overlay_member(MemberRole::base);
    const auto patch = overlay_member(MemberRole::correction, {2, 2}, {1, 1});
    for (const std::uint8_t op : {combine_op::replace, combine_op::add}) {
        const auto made = make(head({4, 4}, overlay(4, op)), list({base, patch, patch, patch}));
        ASSERT_TRUE(made.has_value()) << made.error().message;
        EXPECT_TRUE((*made)->has_elements());
        EXPECT_FALSE((*made)->member_at(std::array<std::uint64_t, 2>{1, 1}).has_value());
    }
    EXPECT_TRUE(make(head({4, 4}, overlay(1)), list({base})).has_value());
    EXPECT_EQ(refusal(make(head({4, 4}, overlay(1)), list({patch}))),
              "member 0: member_role: expected 1 (base) for the first member, got 0");
    EXPECT_EQ(refusal(make(head({4, 4}, overlay(2)), list({base, base}))),
              "member 1: member_role: expected 0 (correction) behind the first member, got 1");
    EXPECT_EQ(refusal(make(head({4, 4}, overlay(1)), list({
                                                         overlay_member(MemberRole::base, {4, 3}),
                                                     }))),
              "member 0: shape[1]: expected the base to span the head, 4, got 3");
    EXPECT_EQ(refusal(make(head({4, 4}, overlay(1)),
                           list({CompositeMember(member({.shape = {4, 4}, .parent = Shape{4, 4}, .at = {0, 0}}))}))),
              "member 0: expected a composite_member section with its role");
    EXPECT_EQ(refusal(make(head({4, 4}, overlay(1)),
                           list({CompositeMember(member({.shape = {4, 4}, .role = MemberRole::base}))}))),
              "member 0: expected a shard section, which says where in the head it lies");
}

TEST(Composite, HeadsAreNoMembersOfOverlays) {
    const auto inner = make(head({4, 4}, {composition_rule::partition, 0, 1}, test::float32, Shape{4, 4}, {0, 0}),
                            parts({4, 4}, {{{0, 0}, {4, 4}}}))
                           .value();
    EXPECT_EQ(refusal(make(head({4, 4}, overlay(2)), list({overlay_member(MemberRole::base), CompositeMember(inner)}))),
              "member 1: expected a tensor, a composite head cannot be a member of an overlay");
}

TEST(Composite, HeadsAreMembersAsCompositesOnly) {
    // By itself each of them fits, but nobody asked for its members.
    const std::string expected = "member 0: expected a composite, got a head as a tensor, without its members";
    const auto torn = [] {
        return list({CompositeMember(Tensor{head({4, 4}, partition_of_2, test::float32, Shape{4, 4}, {0, 0}), {}})});
    };
    EXPECT_EQ(refusal(make(head({4, 4}, {composition_rule::partition, 0, 1}), torn())), expected);
    EXPECT_EQ(refusal(make(head({4, 4}, overlay(1)), torn())), expected);
    EXPECT_EQ(refusal(make(head({4, 4}, {composition_rule::group, 0, 1}), torn())), expected);
    EXPECT_EQ(refusal(make(head({4, 4}, {0xF5, 0, 1}), torn())), expected);
    // Not even one that has no members.
    const Tensor empty{head({1}, {composition_rule::group, 0, 0}), {}};
    EXPECT_EQ(refusal(make(head({1}, group_of_2),
                           list({CompositeMember(member({.shape = {1}})), CompositeMember(empty)}))),
              "member 1: expected a composite, got a head as a tensor, without its members");
}

TEST(Composite, GroupsTakeAnything) {
    const auto made =
        make(head({1}, group_of_2), list({CompositeMember(member({.shape = {3, 5}, .type = test::uint8})),
                                          CompositeMember(member({.shape = {}, .type = test::boolean}))}));
    ASSERT_TRUE(made.has_value()) << made.error().message;
    EXPECT_FALSE((*made)->has_elements());
    EXPECT_TRUE(make(head({1}, {composition_rule::group, 0, 0}), {}).has_value());
    EXPECT_EQ(refusal(make(head({1}, group_of_2),
                           list({CompositeMember(member({.shape = {1}})),
                                 CompositeMember(member({.shape = {1}, .role = MemberRole::correction}))}))),
              "member 1: expected no composite_member section, which only overlays have, in a group");
}

TEST(Composite, PrivateRulesAskForNothing) {
    const auto made =
        make(head({1}, {0xF5, 9, 1}), list({CompositeMember(member({.shape = {1}, .role = MemberRole::correction}))}));
    ASSERT_TRUE(made.has_value()) << made.error().message;
    EXPECT_FALSE((*made)->has_elements());
    EXPECT_EQ(refusal(make(head({1}, {0xF5, 9, 1}), {})), "member_count: expected 1 members, got 0");
}

TEST(Composite, NestedCompositesLieInTheirHead) {
    const auto inner = make(head({4, 4}, partition_of_2, test::float32, Shape{4, 8}, {0, 4}),
                            parts({4, 4}, {{{0, 0}, {2, 4}}, {{2, 0}, {2, 4}}}))
                           .value();
    auto members = parts({4, 8}, {{{0, 0}, {4, 4}}});
    members.emplace_back(inner);
    const auto made = make(head({4, 8}, partition_of_2), std::move(members));
    ASSERT_TRUE(made.has_value()) << made.error().message;
    EXPECT_EQ((*made)->depth(), 2U);
    EXPECT_EQ((*made)->descriptor_count(), 5U);
    EXPECT_TRUE((*made)->has_elements());
    const auto sequence = pre_order(**made);
    ASSERT_EQ(sequence.size(), 5U);
    EXPECT_EQ(sequence[0].descriptor.layout(), layout_tag::composite);
    EXPECT_EQ(sequence[2].descriptor.layout(), layout_tag::composite);
    EXPECT_TRUE(sequence[2].buffers.empty());
    EXPECT_EQ(sequence[3].descriptor.shape()[0], 2U);

    const auto elsewhere =
        make(head({4, 4}, partition_of_2), parts({4, 4}, {{{0, 0}, {2, 4}}, {{2, 0}, {2, 4}}})).value();
    EXPECT_EQ(refusal(make(head({4, 4}, {composition_rule::partition, 0, 1}), list({CompositeMember(elsewhere)}))),
              "member 0: expected a shard section, which says where in the head it lies");
}

TEST(Composite, EightHeadsInsideOfOneAnotherAreTheMost) {
    const CompositeFields one = {composition_rule::group, 0, 1};
    CompositeMember innermost(member({.shape = {1}}));
    for (std::uint32_t depth = 1; depth <= max_composite_depth; ++depth) {
        auto made = make(head({1}, one), list({innermost}));
        ASSERT_TRUE(made.has_value()) << depth << ": " << made.error().message;
        EXPECT_EQ((*made)->depth(), depth);
        innermost = CompositeMember(*made);
    }
    EXPECT_EQ(refusal(make(head({1}, one), list({innermost}))),
              "composite: expected at most 8 heads inside of one another, got 9");
    // Side by side they are no deeper.
    EXPECT_EQ(innermost.composite()->descriptor_count(), 9U);
}

TEST(Composite, AGroupInsideOfAPartitionHasNoElements) {
    const auto inner = make(head({4}, {composition_rule::group, 0, 0}, test::float32, Shape{4}, {0}), {}).value();
    const auto made = make(head({4}, {composition_rule::partition, 0, 1}), list({CompositeMember(inner)}));
    ASSERT_TRUE(made.has_value()) << made.error().message;
    EXPECT_FALSE((*made)->has_elements());
}

}  // namespace
}  // namespace hurray

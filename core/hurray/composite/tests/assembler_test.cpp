// Requirements: composite, binding and torn composites; interchange and file: members follow their head.
#include <gtest/gtest.h>

#include "core/hurray/composite/composite_assembler.hpp"
#include "core/hurray/composite/tests/support.hpp"

namespace hurray {
namespace {

using test::head;
using test::member;
using test::message_of;
using test::Shape;

constexpr AssemblyOptions permissive = {.mode = Mode::permissive};

Tensor head_tensor(const Shape& shape, const CompositeFields& fields) {
    return {head(shape, fields), {}};
}

Tensor group(std::uint32_t members) {
    return head_tensor({1}, {composition_rule::group, 0, members});
}

Tensor plain(std::uint64_t size) {
    return member({.shape = {size}});
}

Tensor part(std::uint64_t at, std::uint64_t size) {
    return member({.shape = {size}, .parent = Shape{8}, .at = {at}});
}

Tensor partition(std::uint32_t members) {
    return head_tensor({8}, {composition_rule::partition, 0, members});
}

std::vector<std::uint64_t> sizes(const std::vector<Tensor>& tensors) {
    std::vector<std::uint64_t> all;
    for (const Tensor& tensor : tensors) all.push_back(tensor.descriptor.shape()[0]);
    return all;
}

TEST(CompositeAssembler, TensorsAreHandedOutAsTheyCome) {
    CompositeAssembler assembler;
    const Tensor tensor = plain(5);
    const auto added = assembler.add(tensor);
    ASSERT_TRUE(added.has_value() && added->has_value());
    EXPECT_EQ((*added)->tensor()->buffers[0].data, tensor.buffers[0].data);
    EXPECT_FALSE(assembler.is_open());
    EXPECT_EQ(assembler.missing(), 0U);
    EXPECT_TRUE(assembler.finish().has_value());
}

TEST(CompositeAssembler, ACompositeComesWithItsLastMember) {
    CompositeAssembler assembler;
    EXPECT_FALSE(assembler.add(partition(2)).value().has_value());
    EXPECT_EQ(assembler.missing(), 2U);
    EXPECT_FALSE(assembler.add(part(0, 3)).value().has_value());
    EXPECT_TRUE(assembler.is_open());
    EXPECT_EQ(assembler.missing(), 1U);
    const auto last = assembler.add(part(3, 5));
    ASSERT_TRUE(last.has_value() && last->has_value());
    ASSERT_NE((*last)->composite(), nullptr);
    EXPECT_EQ((*last)->composite()->members().size(), 2U);
    EXPECT_FALSE(assembler.is_open());
    // And the next one begins.
    EXPECT_NE(assembler.add(group(0)).value()->composite(), nullptr);
}

TEST(CompositeAssembler, NestedCompositesArePreOrder) {
    // group(part, group(), group(plain, plain), plain), plain
    const std::vector<Tensor> sequence = {group(4), plain(1), group(0), group(2),
                                          plain(2), plain(3), plain(4), plain(5)};
    const auto all = assemble(sequence);
    ASSERT_TRUE(all.has_value()) << all.error().message;
    ASSERT_EQ(all->size(), 2U);
    const Composite& outer = *(*all)[0].composite();
    EXPECT_EQ(outer.depth(), 2U);
    ASSERT_EQ(outer.members().size(), 4U);
    EXPECT_EQ(outer.members()[1].composite()->members().size(), 0U);
    EXPECT_EQ(outer.members()[2].composite()->members()[1].descriptor().shape()[0], 3U);
    EXPECT_EQ(outer.members()[3].descriptor().shape()[0], 4U);
    EXPECT_EQ((*all)[1].tensor()->descriptor.shape()[0], 5U);
    // And back.
    const auto again = pre_order(outer);
    ASSERT_EQ(again.size(), 7U);
    for (std::size_t i = 0; i < again.size(); ++i) {
        EXPECT_EQ(test::encoded(again[i].descriptor), test::encoded(sequence[i].descriptor));
        EXPECT_EQ(again[i].buffers.size(), sequence[i].buffers.size());
    }
}

TEST(CompositeAssembler, EightHeadsAreTakenANinthIsNot) {
    std::vector<Tensor> sequence(8, group(1));
    sequence.push_back(plain(1));
    const auto all = assemble(sequence);
    ASSERT_TRUE(all.has_value()) << all.error().message;
    EXPECT_EQ((*all)[0].composite()->depth(), 8U);
    for (const std::uint32_t members : {0U, 1U}) {
        CompositeAssembler assembler;
        for (int i = 0; i < 8; ++i) EXPECT_TRUE(assembler.add(group(1)).has_value());
        const auto ninth = assembler.add(group(members));
        EXPECT_EQ(message_of(ninth), "composite: expected at most 8 heads inside of one another, got one more");
        EXPECT_EQ(ninth.error().code, Status::invalid_composite);
    }
}

TEST(CompositeAssembler, TornCompositesAreRefused) {
    CompositeAssembler assembler;
    EXPECT_TRUE(assembler.add(group(3)).has_value());
    EXPECT_TRUE(assembler.add(plain(1)).has_value());
    EXPECT_TRUE(assembler.add(group(2)).has_value());
    EXPECT_TRUE(assembler.add(plain(2)).has_value());
    EXPECT_EQ(assembler.missing(), 2U);
    const auto finished = assembler.finish();
    ASSERT_FALSE(finished.has_value());
    EXPECT_EQ(finished.error().code, Status::invalid_composite);
    EXPECT_STREQ(finished.error().message,
                 "member_count: expected 2 members, got 1: the composite is torn, 2 tensors at least are missing");
    EXPECT_EQ(assembler.take_loose().error().code, Status::invalid_composite);
    EXPECT_EQ(assemble(std::vector<Tensor>{group(1)}, permissive).error().code, Status::invalid_composite);
}

TEST(CompositeAssembler, PermissiveReadingGivesTornOnesAsLooseTensors) {
    CompositeAssembler assembler(permissive);
    EXPECT_TRUE(assembler.add(group(4)).has_value());
    EXPECT_TRUE(assembler.add(plain(1)).has_value());
    EXPECT_TRUE(assembler.add(group(1)).has_value());
    EXPECT_TRUE(assembler.add(plain(2)).has_value());
    EXPECT_TRUE(assembler.add(group(2)).has_value());
    EXPECT_TRUE(assembler.add(plain(3)).has_value());
    EXPECT_EQ(assembler.finish().error().code, Status::invalid_composite);
    EXPECT_EQ(sizes(assembler.take_loose().value()), (std::vector<std::uint64_t>{1, 2, 3}));
    EXPECT_FALSE(assembler.is_open());
    EXPECT_TRUE(assembler.finish().has_value());
    EXPECT_TRUE(assembler.take_loose().value().empty());
}

TEST(CompositeAssembler, AMemberThatDoesNotFitIsRefusedWhenItComes) {
    CompositeAssembler assembler(permissive);
    EXPECT_TRUE(assembler.add(partition(3)).has_value());
    EXPECT_TRUE(assembler.add(part(0, 3)).has_value());
    const auto added = assembler.add(plain(4));
    EXPECT_EQ(message_of(added), "member 1: expected a shard section, which says where in the head it lies");
    // Nothing more is taken.
    EXPECT_EQ(message_of(assembler.add(part(3, 5))), message_of(added));
    EXPECT_EQ(message_of(assembler.finish()), message_of(added));
    EXPECT_EQ(sizes(assembler.take_loose().value()), (std::vector<std::uint64_t>{3, 4}));
    EXPECT_TRUE(assembler.add(plain(1)).value().has_value());
}

TEST(CompositeAssembler, APartitionWithGapsIsRefusedWithItsLastMember) {
    for (const AssemblyOptions& options : {AssemblyOptions{}, permissive}) {
        CompositeAssembler assembler(options);
        EXPECT_TRUE(assembler.add(group(2)).has_value());
        EXPECT_TRUE(assembler.add(plain(7)).has_value());
        EXPECT_TRUE(assembler.add(partition(2)).has_value());
        EXPECT_TRUE(assembler.add(part(0, 3)).has_value());
        const auto added = assembler.add(part(4, 4));
        EXPECT_EQ(message_of(added),
                  "members of a partition: expected every index to be in one, the 2 members leave gaps");
        const auto loose = assembler.take_loose();
        ASSERT_EQ(loose.has_value(), options.mode == Mode::permissive);
        if (loose) {
            EXPECT_EQ(sizes(*loose), (std::vector<std::uint64_t>{7, 3, 4}));
        } else {
            EXPECT_EQ(message_of(loose), message_of(added));
        }
    }
}

TEST(CompositeAssembler, AnnouncedMembersTakeNoMemory) {
    CompositeAssembler assembler;
    EXPECT_TRUE(assembler.add(group(0xFFFFFFFE)).has_value());
    EXPECT_TRUE(assembler.add(plain(1)).has_value());
    EXPECT_EQ(assembler.missing(), 0xFFFFFFFDU);
    for (int i = 0; i < 7; ++i) EXPECT_TRUE(assembler.add(group(0xFFFFFFFE)).has_value());
    EXPECT_EQ(assembler.missing(), 8 * 0xFFFFFFFEULL - 8);
    EXPECT_EQ(assembler.finish().error().code, Status::invalid_composite);
}

TEST(CompositeAssembler, DescriptorsOfACompositeAreLimited) {
    CompositeAssembler assembler({.max_descriptors = 3});
    for (int round = 0; round < 3; ++round) {
        EXPECT_TRUE(assembler.add(group(2)).has_value());
        EXPECT_TRUE(assembler.add(plain(1)).has_value());
        EXPECT_TRUE(assembler.add(plain(1)).value().has_value());
        EXPECT_TRUE(assembler.add(plain(1)).value().has_value());
    }
    EXPECT_TRUE(assembler.add(group(3)).has_value());
    EXPECT_TRUE(assembler.add(plain(1)).has_value());
    EXPECT_TRUE(assembler.add(plain(1)).has_value());
    const auto added = assembler.add(plain(1));
    EXPECT_EQ(message_of(added), "composite: expected at most 3 descriptors (the reader's limit)");
    EXPECT_EQ(added.error().code, Status::limit_exceeded);
}

}  // namespace
}  // namespace hurray

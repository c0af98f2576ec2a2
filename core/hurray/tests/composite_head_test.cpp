// Requirements: format, composite: heads are read, refused and written as the format says.
#include <gtest/gtest.h>

#include <string>

#include "core/hurray/descriptor/composite_member_section.hpp"
#include "core/hurray/descriptor/statistics_section.hpp"
#include "core/hurray/layout/address.hpp"
#include "core/hurray/layout/composite.hpp"
#include "core/hurray/layout/dense_view.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/tests/support.hpp"

namespace hurray {
namespace {

using test::Bytes;
using test::fault;
using test::fault_of;

// Offsets in a head of rank 2.
constexpr std::uint32_t byte_offset_at = 36;
constexpr std::uint32_t rule_at = 44;
constexpr std::uint32_t combine_op_at = 45;
constexpr std::uint32_t reserved_at = 46;
constexpr std::uint32_t member_count_at = 48;
constexpr std::uint32_t buffer_count_at = 52;
constexpr std::uint32_t head_size = 53;

constexpr DecodeOptions allowing = {.private_tags = PrivateTags::allow};

// Written byte for byte from the format's text.
Bytes head(std::uint8_t rule, std::uint8_t op, std::uint32_t members, std::uint32_t flags = 0) {
    Bytes bytes;
    const auto put = [&](std::uint64_t value, int size) {
        for (int i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(value >> 8 * i));
    };
    put(0x59525248, 4);
    put(1, 2);
    put(head_size, 4);
    put(flags, 4);
    put(test::float32, 1);
    put(0x0B, 1);
    put(2, 4);
    put(8, 8);
    put(6, 8);
    put(0, 8);
    put(rule, 1);
    put(op, 1);
    put(0, 2);
    put(members, 4);
    put(0, 1);
    return bytes;
}

Bytes with_byte(Bytes bytes, std::size_t at, int value) {
    bytes[at] = static_cast<std::byte>(value);
    return bytes;
}

Bytes with_length(Bytes bytes, std::uint32_t length) {
    for (std::size_t i = 0; i < 4; ++i) bytes[6 + i] = static_cast<std::byte>(length >> 8 * i);
    bytes.resize(length);
    return bytes;
}

// A section behind the head.
Bytes with_section(Bytes bytes, std::uint32_t flag, std::initializer_list<int> section) {
    bytes[10] |= static_cast<std::byte>(flag);
    for (const int value : section) bytes.push_back(static_cast<std::byte>(value));
    return with_length(bytes, static_cast<std::uint32_t>(bytes.size()));
}

DescriptorBuilder builder(const CompositeFields& fields) {
    DescriptorBuilder result(test::float32, layout_tag::composite, std::array<std::uint64_t, 2>{8, 6});
    result.set_composite(fields);
    return result;
}

TEST(CompositeHead, EveryRuleIsReadAndWritten) {
    const CompositeFields all[] = {{0x01, 0, 2},          {0x01, 0, 0}, {0x02, 1, 1},
                                   {0x02, 2, 0xFFFFFFFE}, {0x03, 0, 0}, {0x03, 0, 70000}};
    for (const CompositeFields& fields : all) {
        const Bytes bytes = head(fields.rule, fields.combine_op, fields.member_count);
        const auto decoded = test::decode_exact(bytes);
        ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
        EXPECT_EQ(composite_fields(*decoded), fields);
        EXPECT_TRUE(decoded->buffers().empty());
        EXPECT_EQ(test::encoded(*decoded), bytes);
        const auto built = builder(fields).build();
        ASSERT_TRUE(built.has_value()) << built.error().message;
        EXPECT_EQ(test::encoded(*built), bytes);
    }
}

TEST(CompositeHead, OtherLayoutsHaveNoFieldsOfIt) {
    const auto other = test::build({.shape = {3}, .buffers = {{.byte_size = 12}}}).value();
    EXPECT_EQ(composite_fields(other), CompositeFields{});
}

TEST(CompositeHead, EveryRuleIsKnownPrivateOrRefused) {
    for (int rule = 0; rule < 256; ++rule) {
        const Bytes bytes = head(static_cast<std::uint8_t>(rule), rule == 2 ? 1 : 0, 3);
        const bool is_private = rule >= 0xF0 && rule <= 0xFE;
        const bool known = rule >= 1 && rule <= 3;
        const auto refused = fault_of(Status::invalid_composite, rule_at);
        EXPECT_EQ(fault(test::decode_exact(bytes)), known ? fault_of(Status::ok, 0) : refused) << rule;
        // Permissive reading knows no more rules.
        EXPECT_EQ(test::decode_exact(bytes, {.mode = Mode::permissive}).has_value(), known) << rule;
        EXPECT_EQ(fault(test::decode_exact(bytes, allowing)), known || is_private ? fault_of(Status::ok, 0) : refused)
            << rule;
    }
}

TEST(CompositeHead, PrivateRulesAreKeptAsTheyAre) {
    for (const int op : {0, 1, 2, 0x7F, 0xFF}) {
        const Bytes bytes = head(0xF3, static_cast<std::uint8_t>(op), 0);
        const auto decoded = test::decode_exact(bytes, allowing);
        ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
        EXPECT_EQ(composite_fields(*decoded), (CompositeFields{0xF3, static_cast<std::uint8_t>(op), 0}));
        EXPECT_EQ(test::encoded(*decoded), bytes);
        EXPECT_EQ(fault(builder(composite_fields(*decoded)).build()), fault_of(Status::invalid_composite, rule_at));
        EXPECT_EQ(test::encoded(builder(composite_fields(*decoded)).build(PrivateTags::allow).value()), bytes);
    }
    EXPECT_EQ(fault(test::decode_exact(with_byte(head(0xF3, 0, 0), reserved_at, 1), allowing)),
              fault_of(Status::invalid_composite, reserved_at));
    EXPECT_EQ(fault(test::decode_exact(head(0xF3, 0, 0xFFFFFFFF), allowing)),
              fault_of(Status::invalid_composite, member_count_at));
}

TEST(CompositeHead, EveryOperationIsAllowedOfItsRuleOnly) {
    for (int rule = 1; rule <= 3; ++rule) {
        for (int op = 0; op < 256; ++op) {
            const bool right = rule == 2 ? op == 1 || op == 2 : op == 0;
            const CompositeFields fields{static_cast<std::uint8_t>(rule), static_cast<std::uint8_t>(op), 1};
            const auto expected = right ? fault_of(Status::ok, 0) : fault_of(Status::invalid_composite, combine_op_at);
            EXPECT_EQ(fault(test::decode_exact(head(fields.rule, fields.combine_op, 1))), expected)
                << rule << ' ' << op;
            EXPECT_EQ(fault(builder(fields).build()), expected) << rule << ' ' << op;
        }
    }
}

TEST(CompositeHead, ReservedBytesAreZero) {
    for (const std::uint32_t at : {reserved_at, reserved_at + 1}) {
        EXPECT_EQ(fault(test::decode_exact(with_byte(head(1, 0, 2), at, 0x80))),
                  fault_of(Status::invalid_composite, at));
    }
}

TEST(CompositeHead, MemberCountIsDefiniteAndAnOverlayHasABase) {
    for (int rule = 1; rule <= 3; ++rule) {
        const CompositeFields open{static_cast<std::uint8_t>(rule), rule == 2 ? combine_op::add : combine_op::none,
                                   0xFFFFFFFF};
        EXPECT_EQ(fault(test::decode_exact(head(open.rule, open.combine_op, open.member_count))),
                  fault_of(Status::invalid_composite, member_count_at));
        EXPECT_EQ(fault(builder(open).build()), fault_of(Status::invalid_composite, member_count_at));
    }
    for (const std::uint8_t op : {combine_op::replace, combine_op::add}) {
        EXPECT_EQ(fault(test::decode_exact(head(2, op, 0))), fault_of(Status::invalid_composite, member_count_at));
    }
}

TEST(CompositeHead, HasNoBuffersAndNoByteOffset) {
    Bytes one = with_byte(head(1, 0, 2), buffer_count_at, 1);
    one.resize(one.size() + 16);
    EXPECT_EQ(fault(test::decode_exact(with_length(one, head_size + 16))),
              fault_of(Status::invalid_layout, buffer_count_at));
    EXPECT_EQ(fault(test::decode_exact(with_byte(head(1, 0, 2), buffer_count_at, 255))),
              fault_of(Status::invalid_layout, buffer_count_at));
    for (std::uint32_t i = 0; i < 8; ++i) {
        EXPECT_EQ(fault(test::decode_exact(with_byte(head(1, 0, 2), byte_offset_at + i, 1))),
                  fault_of(Status::invalid_layout, byte_offset_at));
    }
    auto with_buffer = builder({1, 0, 2});
    ASSERT_TRUE(with_buffer.add_buffer({.byte_size = 192}).has_value());
    EXPECT_EQ(fault(with_buffer.build()), fault_of(Status::invalid_layout, buffer_count_at));
    EXPECT_EQ(fault(builder({1, 0, 2}).set_byte_offset(1).build()), fault_of(Status::invalid_layout, byte_offset_at));
}

TEST(CompositeHead, OfSeveralFaultsTheEarliestFieldIsReported) {
    Bytes bytes = head(2, 0, 0);
    bytes[reserved_at + 1] = bytes[buffer_count_at] = std::byte{9};
    const auto expect = [&](Status code, std::uint32_t at) {
        EXPECT_EQ(fault(test::decode_exact(bytes)), fault_of(code, at)) << at;
    };
    bytes[byte_offset_at + 7] = std::byte{1};
    bytes[rule_at] = std::byte{0};
    expect(Status::invalid_layout, byte_offset_at);
    bytes[byte_offset_at + 7] = std::byte{0};
    expect(Status::invalid_composite, rule_at);
    bytes[rule_at] = std::byte{2};
    expect(Status::invalid_composite, combine_op_at);
    bytes[combine_op_at] = std::byte{1};
    expect(Status::invalid_composite, reserved_at + 1);
    bytes[reserved_at + 1] = std::byte{0};
    expect(Status::invalid_composite, member_count_at);
    bytes[member_count_at] = std::byte{1};
    expect(Status::invalid_layout, buffer_count_at);
}

TEST(CompositeHead, QuantizationAndMemberSectionsAreRefused) {
    const Bytes plain = head(1, 0, 2);
    const Bytes quantized = with_section(plain, 1, {16, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0x80, 0x3F, 0, 0, 0, 0, 0, 0, 0, 0});
    EXPECT_EQ(fault(test::decode_exact(quantized)), fault_of(Status::invalid_composite, head_size));
    const Bytes member = with_section(plain, 16, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    EXPECT_EQ(fault(test::decode_exact(member)), fault_of(Status::invalid_composite, head_size));
    auto with_scheme = builder({1, 0, 2});
    with_scheme.set_quantization({.scheme = scheme_tag::per_tensor_affine, .scale = 1});
    EXPECT_EQ(fault(with_scheme.build()), fault_of(Status::invalid_composite, head_size));
    EXPECT_EQ(fault(builder({1, 0, 2}).set_composite_member(MemberRole::base).build()),
              fault_of(Status::invalid_composite, head_size));
}

TEST(CompositeHead, ShardAndStatisticsSectionsAreTaken) {
    auto whole = builder({1, 0, 2});
    whole.set_shard(std::array<std::uint64_t, 2>{16, 6}, std::array<std::uint64_t, 2>{8, 0});
    whole.set_statistics({.computed_mask = 1, .nnz = 7});
    const auto built = whole.build();
    ASSERT_TRUE(built.has_value()) << built.error().message;
    const auto decoded = test::decode_exact(test::encoded(*built));
    ASSERT_TRUE(decoded.has_value());
    EXPECT_EQ(decoded->parent_shape()[0], 16U);
    EXPECT_EQ(decoded->shard_offset()[0], 8U);
    EXPECT_EQ(statistics_fields(*decoded)->nnz, 7U);
    EXPECT_EQ(composite_fields(*decoded), (CompositeFields{1, 0, 2}));
}

TEST(CompositeHead, EveryTruncationIsRefusedAtTheFieldThatIsCut) {
    const Bytes whole = head(1, 0, 2);
    for (std::uint32_t length = byte_offset_at; length < head_size; ++length) {
        std::uint32_t at = byte_offset_at;
        if (length >= rule_at)
            at = length < member_count_at ? length : length < buffer_count_at ? member_count_at : length;
        const auto decoded = test::decode_exact(with_length(whole, length));
        EXPECT_EQ(fault(decoded), fault_of(Status::invalid_layout, at)) << length;
    }
    // What is there of the fields may be at fault before that.
    EXPECT_EQ(fault(test::decode_exact(with_length(with_byte(whole, combine_op_at, 3), 47))),
              fault_of(Status::invalid_composite, combine_op_at));
}

TEST(CompositeHead, HasOneDimensionAtLeast) {
    EXPECT_EQ(fault(DescriptorBuilder(test::float32, layout_tag::composite, {}).set_composite({3, 0, 1}).build()),
              fault_of(Status::invalid_layout, 16));
    const std::vector<std::uint64_t> most(64, 1);
    EXPECT_TRUE(DescriptorBuilder(test::float32, layout_tag::composite, most).set_composite({3, 0, 1}).build());
    EXPECT_EQ(fault(DescriptorBuilder(test::float32, layout_tag::composite, most).build()),
              fault_of(Status::invalid_layout, 20 + 64 * 8 + 8));
}

TEST(CompositeHead, ShapeMayBeEmptyOrDynamicOrHuge) {
    for (const std::uint64_t size : {std::uint64_t{0}, dynamic_dimension, dynamic_dimension - 1}) {
        const auto built = DescriptorBuilder(test::float32, layout_tag::composite, std::array<std::uint64_t, 1>{size})
                               .set_composite({1, 0, 2})
                               .build();
        ASSERT_TRUE(built.has_value()) << built.error().message;
        EXPECT_EQ(test::encoded(test::decode_exact(test::encoded(*built)).value()), test::encoded(*built));
    }
}

TEST(CompositeHead, HasNoElementsOfItsOwn) {
    const auto decoded = test::decode_exact(head(1, 0, 2)).value();
    EXPECT_FALSE(has_dense_view(decoded));
    EXPECT_EQ(dense_view(decoded).error().code, Status::unsupported);
    EXPECT_EQ(AddressMap::make(decoded).error().code, Status::unsupported);
}

TEST(CompositeHead, MessagesNameFieldAndExpectation) {
    const auto message = [](const Bytes& bytes) { return std::string(test::decode_exact(bytes).error().message); };
    EXPECT_EQ(message(head(0xF1, 0, 1)),
              "composition_rule: expected 01 (partition), 02 (overlay) or 03 (group), got the private F1");
    EXPECT_EQ(message(head(3, 2, 1)), "combine_op: expected 00 for a group, got 02");
    EXPECT_EQ(message(head(2, 1, 0)), "member_count: expected at least 1 for an overlay, its base, got 0");
    EXPECT_EQ(message(with_byte(head(1, 0, 2), buffer_count_at, 3)),
              "buffer_count: expected 0 for a composite head, got 3");
}

}  // namespace
}  // namespace hurray

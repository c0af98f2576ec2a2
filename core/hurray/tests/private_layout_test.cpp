// Requirements: format, extension layouts: refused by a strict reader unless it takes private tags, and kept byte for
// byte by whoever takes them.
#include "core/hurray/layout/private_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/hurray/layout/address.hpp"
#include "core/hurray/layout/dense_view.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/tests/support.hpp"

namespace hurray {
namespace {

using test::Bytes;
using test::fault;
using test::fault_of;

constexpr DecodeOptions allowing = {.private_tags = PrivateTags::allow};
constexpr DecodeOptions permissive = {.mode = Mode::permissive};
// At rank 2.
constexpr std::uint64_t byte_offset_at = 36;
constexpr std::uint64_t fields_at = 44;
constexpr std::uint64_t data_at = fields_at + 12;

Bytes some_bytes(std::size_t size) {
    test::Random random(size);
    Bytes bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
    return bytes;
}

DescriptorBuilder builder_of(std::span<const std::byte> data, std::uint8_t tag = 0xF3) {
    DescriptorBuilder builder(test::float32, tag, std::array<std::uint64_t, 2>{3, 4});
    builder.set_private_layout({.id = 0x0102030405060708, .data = data});
    return builder;
}

Bytes encoded(std::span<const std::byte> data, std::uint8_t tag = 0xF3) {
    DescriptorBuilder builder = builder_of(data, tag);
    EXPECT_TRUE(builder.add_buffer({.byte_size = 7}).has_value());
    return test::encoded(builder.build(PrivateTags::allow).value());
}

TEST(PrivateLayout, DataOfAnyLengthIsKept) {
    for (const std::size_t size : {0U, 1U, 7U, 8U, 9U, 15U, 16U, 17U, 100U, 4096U, 100003U}) {
        const Bytes data = some_bytes(size);
        const Bytes bytes = encoded(data);
        EXPECT_EQ(bytes.size(), data_at + size + 1 + 16);
        EXPECT_EQ(load_le<std::uint64_t>(&bytes[fields_at]), 0x0102030405060708U);
        EXPECT_EQ(load_le<std::uint32_t>(&bytes[fields_at + 8]), size);
        EXPECT_TRUE(std::equal(data.begin(), data.end(), bytes.begin() + data_at));
        for (const DecodeOptions& options : {allowing, permissive}) {
            const auto decoded = test::decode_exact(bytes, options);
            ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
            EXPECT_EQ(decoded->layout(), 0xF3);
            const PrivateLayoutFields fields = private_layout_fields(*decoded);
            EXPECT_EQ(fields.id, 0x0102030405060708U);
            EXPECT_TRUE(std::ranges::equal(fields.data, data));
            EXPECT_EQ(decoded->buffers().size(), 1U);
            EXPECT_EQ(test::encoded(*decoded), bytes);
            const Descriptor copy = *decoded;
            EXPECT_EQ(test::encoded(copy), bytes);
        }
    }
}

TEST(PrivateLayout, AStrictReaderRefusesTheTag) {
    for (int tag = 0xF0; tag <= 0xFE; ++tag) {
        const Bytes bytes = encoded(some_bytes(5), static_cast<std::uint8_t>(tag));
        EXPECT_EQ(fault(test::decode_exact(bytes)), fault_of(Status::invalid_layout, 15)) << tag;
        EXPECT_EQ(test::decode_exact(bytes, allowing).value().layout(), tag);
        DescriptorBuilder builder = builder_of(some_bytes(5), static_cast<std::uint8_t>(tag));
        EXPECT_EQ(fault(builder.build()), fault_of(Status::invalid_layout, 15)) << tag;
    }
    // The tags beside the range are no private ones, whoever asks.
    for (const int tag : {0xEF, 0xFF}) {
        Bytes bytes = encoded(some_bytes(5));
        bytes[15] = static_cast<std::byte>(tag);
        EXPECT_EQ(fault(test::decode_exact(bytes, allowing)), fault_of(Status::invalid_layout, 15)) << tag;
    }
}

TEST(PrivateLayout, OnlyWhoTakesPrivateTagsMayLookAtTheData) {
    const Bytes bytes = encoded(some_bytes(5));
    EXPECT_FALSE(test::decode_exact(bytes, allowing).value().is_opaque());
    const auto decoded = test::decode_exact(bytes, permissive);
    EXPECT_TRUE(decoded.value().is_opaque());
    EXPECT_FALSE(decoded->is_unread());
    for (const DecodeOptions& options : {allowing, permissive}) {
        const Descriptor descriptor = test::decode_exact(bytes, options).value();
        EXPECT_FALSE(has_dense_view(descriptor));
        EXPECT_EQ(dense_view(descriptor).error().code, Status::unsupported);
        EXPECT_EQ(AddressMap::make(descriptor).error().code, Status::unsupported);
    }
}

TEST(PrivateLayout, EndsEarlyAtTheFieldThatIsCut) {
    const Bytes whole = encoded(some_bytes(9));
    for (std::uint64_t length = fields_at; length <= data_at + 9; ++length) {
        Bytes bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
        bytes[6] = static_cast<std::byte>(length);
        const std::uint64_t expected = length < fields_at + 8    ? fields_at
                                       : length < data_at + 9    ? fields_at + 8
                                                                 : data_at + 9;
        for (const DecodeOptions& options : {allowing, permissive}) {
            EXPECT_EQ(fault(test::decode_exact(bytes, options)), fault_of(Status::invalid_layout, expected)) << length;
        }
    }
}

TEST(PrivateLayout, ALengthBeyondTheDescriptorTakesNoMemory) {
    Bytes bytes = encoded(some_bytes(9));
    for (const std::uint32_t length : {0xFFFFFFFFU, 0xFFFFFFF8U, 0x80000000U, 27U}) {
        store_le(&bytes[fields_at + 8], length);
        EXPECT_EQ(fault(test::decode_exact(bytes, allowing)), fault_of(Status::invalid_layout, fields_at + 8)) << length;
    }
}

TEST(PrivateLayout, BuffersAndSectionsAreAsElsewhere) {
    DescriptorBuilder builder = builder_of(some_bytes(3));
    EXPECT_TRUE(builder.build(PrivateTags::allow).has_value()) << "no buffer at all";
    builder.set_byte_offset(1);
    EXPECT_EQ(fault(builder.build(PrivateTags::allow)), fault_of(Status::invalid_layout, byte_offset_at));
    for (int i = 0; i < 255; ++i) ASSERT_TRUE(builder.add_buffer({.byte_size = 1}).has_value());
    builder.set_shard(std::array<std::uint64_t, 2>{3, 8}, std::array<std::uint64_t, 2>{0, 4});
    const auto built = builder.build(PrivateTags::allow);
    ASSERT_TRUE(built.has_value()) << built.error().message;
    EXPECT_EQ(built->buffers().size(), 255U);
    EXPECT_EQ(built->shard_offset()[1], 4U);
    EXPECT_EQ(private_layout_fields(*built).data.size(), 3U);
    builder.set_byte_offset(2);
    EXPECT_EQ(fault(builder.build(PrivateTags::allow)), fault_of(Status::invalid_layout, byte_offset_at));
    // The device, too, may be private, and the alignment may not be wrong.
    DescriptorBuilder wrong = builder_of(some_bytes(3));
    ASSERT_TRUE(wrong.add_buffer({.byte_size = 1, .alignment = 32}).has_value());
    EXPECT_EQ(fault(wrong.build(PrivateTags::allow)), fault_of(Status::invalid_layout, data_at + 3 + 1 + 8));
}

TEST(PrivateLayout, SchemesHaveTheirRules) {
    DescriptorBuilder builder(0x10, 0xF0, std::array<std::uint64_t, 1>{4});
    builder.set_private_layout({.id = 1});
    ASSERT_TRUE(builder.add_buffer({.byte_size = 4}).has_value());
    builder.set_quantization({.scheme = scheme_tag::per_tensor_affine, .scale = 2});
    EXPECT_TRUE(builder.build(PrivateTags::allow).has_value());
    builder.set_quantization({.scheme = scheme_tag::per_tensor_affine, .scale = 0});
    EXPECT_EQ(builder.build(PrivateTags::allow).error().code, Status::invalid_quantization);
}

TEST(PrivateLayout, FieldsAreOfPrivateLayoutsOnly) {
    DescriptorBuilder builder(test::float32, layout_tag::block_paged, std::array<std::uint64_t, 3>{1, 1, 1});
    builder.set_private_layout({.id = 1});
    EXPECT_EQ(fault(builder.build(PrivateTags::allow)), fault_of(Status::invalid_layout, 52));
    DescriptorBuilder unset(test::float32, 0xF0, std::array<std::uint64_t, 1>{1});
    EXPECT_EQ(fault(unset.build(PrivateTags::allow)), fault_of(Status::invalid_layout, 36));
    EXPECT_EQ(fault(unset.build()), fault_of(Status::invalid_layout, 15));
    const auto plain = test::build({.shape = {1}, .buffers = {{.byte_size = 4}}});
    EXPECT_TRUE(private_layout_fields(plain.value()).data.empty());
    // Scalars are row-major only.
    DescriptorBuilder scalar(test::float32, 0xF0, {});
    scalar.set_private_layout({.id = 1});
    EXPECT_EQ(fault(scalar.build(PrivateTags::allow)), fault_of(Status::invalid_layout, 16));
}

}  // namespace
}  // namespace hurray

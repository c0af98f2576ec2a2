// Descriptors through the C ABI. What the format demands is tested in core/hurray/tests; here it is the boundary.
#include "abi/tests/support.hpp"

namespace {

using hurray_test::row_major_descriptor;

class Descriptor : public hurray_test::BaseLineTest {};

HurrayDescriptorInfo info_of(const HurrayDescriptor* descriptor) {
    HurrayDescriptorInfo info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(hurray_descriptor_info(descriptor, &info, nullptr), HURRAY_OK);
    return info;
}

TEST_F(Descriptor, DecodeReadEncode) {
    const auto bytes = row_major_descriptor(HURRAY_TYPE_INT16, {3, 5}, 94, 64);
    HurrayDescriptor* descriptor = nullptr;
    ASSERT_EQ(hurray_descriptor_decode(bytes.data(), bytes.size(), &descriptor, nullptr), HURRAY_OK);
    const HurrayDescriptorInfo info = info_of(descriptor);
    EXPECT_EQ(info.version_major, 1);
    EXPECT_EQ(info.element_type, HURRAY_TYPE_INT16);
    EXPECT_EQ(info.layout, HURRAY_LAYOUT_ROW_MAJOR);
    EXPECT_EQ(info.rank, 2u);
    EXPECT_EQ(info.bits, 16u);
    EXPECT_EQ(info.shape[0], 3u);
    EXPECT_EQ(info.shape[1], 5u);
    EXPECT_EQ(info.byte_offset, 64u);
    EXPECT_EQ(info.element_count, 15u);
    EXPECT_EQ(info.buffer_count, 1u);
    EXPECT_EQ(info.descriptor_length, bytes.size());
    EXPECT_EQ(info.strides, nullptr);
    EXPECT_EQ(info.parent_shape, nullptr);
    std::vector<std::uint8_t> encoded(bytes.size());
    std::uint64_t length = 0;
    ASSERT_EQ(hurray_descriptor_encode(descriptor, encoded.data(), encoded.size(), &length, nullptr), HURRAY_OK);
    EXPECT_EQ(length, bytes.size());
    EXPECT_EQ(encoded, bytes);
    EXPECT_EQ(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
    EXPECT_EQ(descriptor, nullptr);
    EXPECT_EQ(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
}

TEST_F(Descriptor, EncodeIntoTooLittleSaysHowMuchIsNeededAndWritesNothing) {
    const auto bytes = row_major_descriptor(HURRAY_TYPE_INT8, {3}, 3);
    HurrayDescriptor* descriptor = nullptr;
    ASSERT_EQ(hurray_descriptor_decode(bytes.data(), bytes.size(), &descriptor, nullptr), HURRAY_OK);
    std::vector<std::uint8_t> encoded(bytes.size() - 1, 0xAA);
    std::uint64_t length = 0;
    EXPECT_EQ(hurray_descriptor_encode(descriptor, encoded.data(), encoded.size(), &length, nullptr),
              HURRAY_ERR_BUFFER_TOO_SMALL);
    EXPECT_EQ(length, bytes.size());
    EXPECT_EQ(encoded, std::vector<std::uint8_t>(bytes.size() - 1, 0xAA));
    length = 0;
    EXPECT_EQ(hurray_descriptor_encode(descriptor, nullptr, 0, &length, nullptr), HURRAY_ERR_BUFFER_TOO_SMALL);
    EXPECT_EQ(length, bytes.size());
    EXPECT_EQ(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
}

// Every truncation: a typed error that names the place, and nothing made.
TEST_F(Descriptor, EveryTruncationIsRefusedWithAnOffset) {
    const auto bytes = row_major_descriptor(HURRAY_TYPE_FLOAT32, {3, 4}, 48);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        HurrayDescriptor* descriptor = nullptr;
        HurrayError error{};
        const HurrayStatus status = hurray_descriptor_decode(bytes.data(), length, &descriptor, &error);
        EXPECT_TRUE(status == HURRAY_ERR_INVALID_LAYOUT || (length < 4 && status == HURRAY_ERR_INVALID_MAGIC)) << length << ": " << status;
        EXPECT_EQ(error.code, status);
        EXPECT_NE(std::string(error.message).find(" [byte "), std::string::npos) << error.message;
        EXPECT_EQ(descriptor, nullptr);
    }
}

TEST_F(Descriptor, BuilderChecksAsDecodeDoes) {
    const std::uint64_t shape[] = {2, 3};
    const std::int64_t strides[] = {3, 1};
    HurrayDescriptorBuilder* builder = nullptr;
    ASSERT_EQ(hurray_descriptor_builder_new(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_STRIDED, shape, 2, &builder, nullptr), HURRAY_OK);
    HurrayDescriptor* descriptor = nullptr;
    HurrayError error{};
    EXPECT_NE(hurray_descriptor_builder_build(builder, &descriptor, &error), HURRAY_OK) << "no strides, no buffer";
    EXPECT_STRNE(error.message, "");
    ASSERT_EQ(hurray_descriptor_builder_set_strides(builder, strides, 2, nullptr), HURRAY_OK);
    HurrayBufferHandleBytes handle{};
    handle.bytes[0] = 23;
    handle.bytes[8] = 64;
    ASSERT_EQ(hurray_descriptor_builder_add_buffer(builder, &handle, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_descriptor_builder_build(builder, &descriptor, &error), HURRAY_ERR_INVALID_LAYOUT)
        << "one byte short: " << error.message;
    EXPECT_EQ(hurray_descriptor_builder_destroy(&builder), HURRAY_OK);
    EXPECT_EQ(builder, nullptr);
}

TEST_F(Descriptor, BufferEntriesAreReadByIndex) {
    const auto bytes = row_major_descriptor(HURRAY_TYPE_INT8, {3}, 3);
    HurrayDescriptor* descriptor = nullptr;
    ASSERT_EQ(hurray_descriptor_decode(bytes.data(), bytes.size(), &descriptor, nullptr), HURRAY_OK);
    HurrayBufferHandleBytes handle{};
    ASSERT_EQ(hurray_descriptor_buffer(descriptor, 0, &handle, nullptr), HURRAY_OK);
    EXPECT_EQ(std::memcmp(handle.bytes, bytes.data() + bytes.size() - 16, 16), 0);
    EXPECT_EQ(hurray_descriptor_buffer(descriptor, 1, &handle, nullptr), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    EXPECT_EQ(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
}

TEST_F(Descriptor, PeekLengthNeedsTheFixedHeaderOnly) {
    const auto bytes = row_major_descriptor(HURRAY_TYPE_INT8, {3}, 3);
    std::uint64_t length = 0;
    EXPECT_EQ(hurray_descriptor_peek_length(bytes.data(), 20, &length, nullptr), HURRAY_OK);
    EXPECT_EQ(length, bytes.size());
    EXPECT_EQ(hurray_descriptor_peek_length(bytes.data(), 19, &length, nullptr), HURRAY_ERR_INVALID_LAYOUT);
    EXPECT_EQ(length, 0u);
}

TEST_F(Descriptor, ScalarShardIsSeenByPointersThatAreNotNull) {
    HurrayDescriptorBuilder* builder = nullptr;
    ASSERT_EQ(hurray_descriptor_builder_new(HURRAY_TYPE_INT8, HURRAY_LAYOUT_ROW_MAJOR, nullptr, 0, &builder, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_descriptor_builder_set_shard(builder, nullptr, nullptr, 0, nullptr), HURRAY_OK);
    HurrayBufferHandleBytes handle{};
    handle.bytes[0] = 1;
    handle.bytes[8] = 64;
    ASSERT_EQ(hurray_descriptor_builder_add_buffer(builder, &handle, nullptr), HURRAY_OK);
    HurrayDescriptor* descriptor = nullptr;
    HurrayError error{};
    ASSERT_EQ(hurray_descriptor_builder_build(builder, &descriptor, &error), HURRAY_OK) << error.message;
    EXPECT_NE(info_of(descriptor).parent_shape, nullptr);
    EXPECT_NE(info_of(descriptor).shard_offset, nullptr);
    EXPECT_EQ(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
    EXPECT_EQ(hurray_descriptor_builder_destroy(&builder), HURRAY_OK);
}

}  // namespace

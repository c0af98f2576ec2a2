// Composites through the C ABI. What fits and what elements are is tested in core/hurray/composite; here it is the boundary.
#include "abi/tests/composites.hpp"
#include "abi/tests/support.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::ReleaseCounter;

template <class Struct>
Struct sized() {
    Struct value{};
    value.struct_size = sizeof value;
    return value;
}

class Composites : public hurray_test::BaseLineTest {
protected:
    void SetUp() override {
        BaseLineTest::SetUp();
        const float first[] = {1, 2};
        const float second[] = {3, 4};
        std::memcpy(memory_.bytes, first, sizeof first);
        std::memcpy(memory_.bytes + 64, second, sizeof second);
    }

    HurrayComposite* partition() { return hurray_test::partition(memory_.bytes, &ReleaseCounter::release, &releases_); }

    static double element(const HurrayComposite* composite, std::uint64_t index) {
        double value = 0;
        EXPECT_EQ(hurray_composite_element_float64(composite, &index, 1, &value, nullptr), HURRAY_OK);
        return value;
    }

    AlignedBytes<128> memory_;
    ReleaseCounter releases_;
};

TEST_F(Composites, PartitionIsReadElementByElement) {
    HurrayComposite* composite = partition();
    ASSERT_NE(composite, nullptr);
    auto info = sized<HurrayCompositeInfo>();
    ASSERT_EQ(hurray_composite_info(composite, &info, nullptr), HURRAY_OK);
    EXPECT_EQ(info.member_count, 2U);
    EXPECT_EQ(info.descriptor_count, 3U);
    EXPECT_EQ(info.depth, 1U);
    EXPECT_EQ(info.composition_rule, HURRAY_COMPOSITION_PARTITION);
    EXPECT_EQ(info.combine_op, HURRAY_COMBINE_NONE);
    EXPECT_EQ(info.has_elements, 1);
    for (std::uint64_t i = 0; i < 4; ++i) {
        EXPECT_EQ(element(composite, i), static_cast<double>(i + 1));
        double real = 0;
        double imaginary = 7;
        EXPECT_EQ(hurray_composite_element_complex128(composite, &i, 1, &real, &imaginary, nullptr), HURRAY_OK);
        EXPECT_EQ(real, static_cast<double>(i + 1));
        EXPECT_EQ(imaginary, 0);
        std::uint32_t member = 9;
        EXPECT_EQ(hurray_composite_member_at(composite, &i, 1, &member, nullptr), HURRAY_OK);
        EXPECT_EQ(member, i / 2);
    }
    const std::uint64_t one = 1;
    auto bits = sized<HurrayElementBits>();
    EXPECT_EQ(hurray_composite_element_bits(composite, &one, 1, &bits, nullptr), HURRAY_OK);
    EXPECT_EQ(bits.bits, 32U);
    EXPECT_EQ(bits.low, 0x40000000U);
    EXPECT_EQ(bits.high, 0U);
    EXPECT_EQ(hurray_composite_destroy(&composite), HURRAY_OK);
    EXPECT_EQ(composite, nullptr);
    EXPECT_EQ(releases_.calls, 2);
}

TEST_F(Composites, IndicesThatAreRefused) {
    HurrayComposite* composite = partition();
    const std::uint64_t outside[] = {4, 0};
    double value = 0;
    double imaginary = 0;
    std::uint32_t member = 0;
    auto bits = sized<HurrayElementBits>();
    for (const auto& [rank, expected] : {std::pair<std::uint32_t, int>{1, HURRAY_ERR_INDEX_OUT_OF_BOUNDS},
                                         {2, HURRAY_ERR_INVALID_ARGUMENT}, {0, HURRAY_ERR_INVALID_ARGUMENT}}) {
        EXPECT_EQ(hurray_composite_element_float64(composite, outside, rank, &value, nullptr), expected) << rank;
        EXPECT_EQ(hurray_composite_element_complex128(composite, outside, rank, &value, &imaginary, nullptr), expected) << rank;
        EXPECT_EQ(hurray_composite_element_bits(composite, outside, rank, &bits, nullptr), expected) << rank;
        EXPECT_EQ(hurray_composite_member_at(composite, outside, rank, &member, nullptr), expected) << rank;
    }
    HurrayError error{};
    EXPECT_EQ(hurray_composite_member_at(composite, outside, 1, &member, &error), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    EXPECT_STREQ(error.message, "index[0]: expected less than 4, got 4");
    HurrayTensor* tensor = nullptr;
    HurrayComposite* inner = nullptr;
    EXPECT_EQ(hurray_composite_member(composite, 2, &tensor, &inner, nullptr), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    EXPECT_EQ(tensor, nullptr);
    EXPECT_EQ(inner, nullptr);
    EXPECT_EQ(hurray_composite_destroy(&composite), HURRAY_OK);
}

TEST_F(Composites, MembersLiveOn) {
    HurrayComposite* composite = partition();
    HurrayTensor* tensor = nullptr;
    HurrayComposite* inner = nullptr;
    ASSERT_EQ(hurray_composite_member(composite, 1, &tensor, &inner, nullptr), HURRAY_OK);
    EXPECT_EQ(inner, nullptr);
    EXPECT_EQ(hurray_composite_destroy(&composite), HURRAY_OK);
    EXPECT_EQ(releases_.calls, 1) << "the other member's memory";
    auto view = sized<HurrayView>();
    ASSERT_EQ(hurray_tensor_view(tensor, &view, nullptr), HURRAY_OK);
    EXPECT_EQ(view.data, memory_.bytes + 64);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(releases_.calls, 2);
}

TEST_F(Composites, MergedIsATensorOfItsOwn) {
    HurrayComposite* composite = partition();
    HurrayTensor* merged = nullptr;
    ASSERT_EQ(hurray_composite_merged(composite, nullptr, &merged, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_composite_destroy(&composite), HURRAY_OK);
    EXPECT_EQ(releases_.calls, 2);
    auto view = sized<HurrayView>();
    ASSERT_EQ(hurray_tensor_view(merged, &view, nullptr), HURRAY_OK);
    const float expected[] = {1, 2, 3, 4};
    ASSERT_EQ(view.byte_size, sizeof expected);
    EXPECT_EQ(std::memcmp(view.data, expected, sizeof expected), 0);
    EXPECT_EQ(hurray_tensor_destroy(&merged), HURRAY_OK);
}

TEST_F(Composites, MembersThatDoNotFitAreRefused) {
    HurrayDescriptor* head = hurray_test::partition_head(2);
    HurrayCompositeBuilder* builder = nullptr;
    ASSERT_EQ(hurray_composite_builder_new(head, &builder, nullptr), HURRAY_OK);
    HurrayTensor* member = hurray_test::partition_member(0, memory_.bytes);
    HurrayComposite* composite = nullptr;
    HurrayError error{};
    ASSERT_EQ(hurray_composite_builder_add_tensor(builder, member, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_composite_builder_build(builder, &composite, &error), HURRAY_ERR_INVALID_COMPOSITE) << "torn";
    EXPECT_STRNE(error.message, "");
    ASSERT_EQ(hurray_composite_builder_add_tensor(builder, member, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_composite_builder_build(builder, &composite, &error), HURRAY_ERR_INVALID_COMPOSITE) << "overlap";
    EXPECT_EQ(composite, nullptr);
    EXPECT_EQ(hurray_composite_builder_destroy(&builder), HURRAY_OK);
    EXPECT_EQ(hurray_descriptor_destroy(&head), HURRAY_OK);
    // A tensor's descriptor is no head.
    const HurrayDescriptor* none = nullptr;
    ASSERT_EQ(hurray_tensor_descriptor(member, &none, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_composite_builder_new(none, &builder, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_composite_builder_build(builder, &composite, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hurray_composite_builder_destroy(&builder), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_destroy(&member), HURRAY_OK);
}

TEST_F(Composites, AHeadIsAMemberAsACompositeOnly) {
    HurrayDescriptor* inner = hurray_test::partition_head(2);
    HurrayBufferList* none = nullptr;
    ASSERT_EQ(hurray_buffer_list_new(0, &none), HURRAY_OK);
    HurrayTensor* torn = nullptr;
    ASSERT_EQ(hurray_tensor_new(inner, &none, &torn, nullptr), HURRAY_OK);
    HurrayDescriptor* head = hurray_test::partition_head(1, HURRAY_COMPOSITION_GROUP);
    HurrayCompositeBuilder* builder = nullptr;
    ASSERT_EQ(hurray_composite_builder_new(head, &builder, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_composite_builder_add_tensor(builder, torn, nullptr), HURRAY_OK);
    HurrayComposite* composite = nullptr;
    HurrayError error{};
    EXPECT_EQ(hurray_composite_builder_build(builder, &composite, &error), HURRAY_ERR_INVALID_COMPOSITE);
    EXPECT_STREQ(error.message, "member 0: expected a composite, got a head as a tensor, without its members");
    EXPECT_EQ(composite, nullptr);
    EXPECT_EQ(hurray_composite_builder_destroy(&builder), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_destroy(&torn), HURRAY_OK);
    EXPECT_EQ(hurray_descriptor_destroy(&head), HURRAY_OK);
    EXPECT_EQ(hurray_descriptor_destroy(&inner), HURRAY_OK);
}

TEST_F(Composites, CompositesOfComposites) {
    HurrayComposite* inner = partition();
    HurrayDescriptor* head = hurray_test::partition_head(1, HURRAY_COMPOSITION_GROUP);
    HurrayCompositeBuilder* builder = nullptr;
    ASSERT_EQ(hurray_composite_builder_new(head, &builder, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_composite_builder_add_composite(builder, inner, nullptr), HURRAY_OK);
    HurrayComposite* outer = nullptr;
    HurrayError error{};
    ASSERT_EQ(hurray_composite_builder_build(builder, &outer, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(hurray_composite_destroy(&inner), HURRAY_OK);
    EXPECT_EQ(hurray_composite_builder_destroy(&builder), HURRAY_OK);
    EXPECT_EQ(hurray_descriptor_destroy(&head), HURRAY_OK);
    auto info = sized<HurrayCompositeInfo>();
    ASSERT_EQ(hurray_composite_info(outer, &info, nullptr), HURRAY_OK);
    EXPECT_EQ(info.depth, 2U);
    EXPECT_EQ(info.descriptor_count, 4U);
    EXPECT_EQ(info.has_elements, 0) << "a group";
    const std::uint64_t zero = 0;
    std::uint32_t at = 0;
    EXPECT_EQ(hurray_composite_member_at(outer, &zero, 1, &at, nullptr), HURRAY_ERR_UNSUPPORTED);
    const HurrayDescriptor* borrowed = nullptr;
    ASSERT_EQ(hurray_composite_head(outer, &borrowed, nullptr), HURRAY_OK);
    auto* stolen = const_cast<HurrayDescriptor*>(borrowed);
    EXPECT_EQ(hurray_descriptor_destroy(&stolen), HURRAY_ERR_INVALID_HANDLE);
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(hurray_composite_member(outer, 0, &tensor, &inner, nullptr), HURRAY_OK);
    EXPECT_EQ(tensor, nullptr);
    ASSERT_NE(inner, nullptr);
    EXPECT_EQ(hurray_composite_destroy(&outer), HURRAY_OK);
    EXPECT_EQ(releases_.calls, 0);
    EXPECT_EQ(element(inner, 3), 4);
    EXPECT_EQ(hurray_composite_destroy(&inner), HURRAY_OK);
    EXPECT_EQ(releases_.calls, 2);
}

// A finalizer's thread runs no callback: releases of members wait.
TEST_F(Composites, DeferredEndsWaitForTheQueue) {
    HurrayCompositeBuilder* builder = hurray_test::partition_builder(memory_.bytes, &ReleaseCounter::release, &releases_);
    HurrayComposite* composite = nullptr;
    ASSERT_EQ(hurray_composite_builder_build(builder, &composite, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_composite_destroy_deferred(&composite, nullptr), HURRAY_OK);
    EXPECT_EQ(composite, nullptr);
    EXPECT_EQ(hurray_composite_builder_destroy_deferred(&builder, nullptr), HURRAY_OK);
    EXPECT_EQ(builder, nullptr);
    EXPECT_EQ(releases_.calls, 0);
    std::uint64_t released = 0;
    EXPECT_EQ(hurray_release_queue_drain(nullptr, UINT64_MAX, &released, nullptr), HURRAY_OK);
    EXPECT_EQ(releases_.calls, 2);
    EXPECT_EQ(hurray_composite_destroy(&composite), HURRAY_OK);
    EXPECT_EQ(hurray_composite_destroy_deferred(&composite, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_composite_builder_destroy_deferred(&builder, nullptr), HURRAY_OK);
}

/// A stream of what `write` puts into it.
template <class Write>
std::vector<std::uint8_t> stream_of(Write write) {
    HurrayWriter* writer = nullptr;
    EXPECT_EQ(hurray_writer_to_memory(&writer, nullptr), HURRAY_OK);
    write(writer);
    HurrayBuffer* buffer = nullptr;
    EXPECT_EQ(hurray_writer_take(writer, &buffer, nullptr), HURRAY_OK);
    auto info = sized<HurrayBufferInfo>();
    EXPECT_EQ(hurray_buffer_info(buffer, &info, nullptr), HURRAY_OK);
    const auto* data = static_cast<const std::uint8_t*>(info.data);
    std::vector<std::uint8_t> bytes(data, data + info.byte_size);
    EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
    EXPECT_EQ(hurray_writer_destroy(&writer), HURRAY_OK);
    return bytes;
}

HurrayReader* reader_of(const std::vector<std::uint8_t>& stream, std::uint32_t flags = 0) {
    auto options = sized<HurrayStreamOptions>();
    options.flags = flags;
    HurrayReader* reader = nullptr;
    EXPECT_EQ(hurray_reader_from_memory(stream.data(), stream.size(), &options, &reader, nullptr), HURRAY_OK);
    return reader;
}

TEST_F(Composites, AreWrittenAndReadAsAWhole) {
    HurrayComposite* composite = partition();
    HurrayTensor* single = hurray_test::partition_member(0, memory_.bytes);
    const auto stream = stream_of([&](HurrayWriter* writer) {
        EXPECT_EQ(hurray_writer_write(writer, single, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_writer_write_composite(writer, composite, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_writer_write(writer, single, nullptr), HURRAY_OK);
    });
    EXPECT_EQ(hurray_composite_destroy(&composite), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_destroy(&single), HURRAY_OK);
    HurrayReader* reader = reader_of(stream);
    for (const bool whole : {false, true, false}) {
        HurrayTensor* tensor = nullptr;
        ASSERT_EQ(hurray_reader_next_item(reader, &tensor, &composite, nullptr), HURRAY_OK);
        EXPECT_EQ(composite != nullptr, whole);
        EXPECT_EQ(tensor == nullptr, whole);
        if (whole) {
            EXPECT_EQ(element(composite, 3), 4);
        }
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
        EXPECT_EQ(hurray_composite_destroy(&composite), HURRAY_OK);
    }
    HurrayTensor* tensor = nullptr;
    EXPECT_EQ(hurray_reader_next_item(reader, &tensor, &composite, nullptr), HURRAY_OK) << "a clean end is no error";
    EXPECT_EQ(tensor, nullptr);
    EXPECT_EQ(composite, nullptr);
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
}

TEST_F(Composites, TornOnesAreRefusedOrLoose) {
    HurrayComposite* composite = partition();
    auto stream = stream_of([&](HurrayWriter* writer) {
        EXPECT_EQ(hurray_writer_write_composite(writer, composite, nullptr), HURRAY_OK);
    });
    EXPECT_EQ(hurray_composite_destroy(&composite), HURRAY_OK);
    // Without the last member.
    std::uint64_t length = 0;
    ASSERT_EQ(hurray_descriptor_peek_length(stream.data(), stream.size(), &length, nullptr), HURRAY_OK);
    stream.resize(length + (stream.size() - length) / 2);
    HurrayTensor* tensor = nullptr;
    HurrayReader* reader = reader_of(stream);
    EXPECT_EQ(hurray_reader_next_item(reader, &tensor, &composite, nullptr), HURRAY_ERR_INVALID_COMPOSITE);
    EXPECT_EQ(tensor, nullptr);
    EXPECT_EQ(composite, nullptr);
    EXPECT_NE(hurray_reader_next_item(reader, &tensor, &composite, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
    reader = reader_of(stream, HURRAY_STREAM_PERMISSIVE);
    EXPECT_EQ(hurray_reader_next_item(reader, &tensor, &composite, nullptr), HURRAY_OK);
    ASSERT_NE(tensor, nullptr);
    auto view = sized<HurrayView>();
    EXPECT_EQ(hurray_tensor_view(tensor, &view, nullptr), HURRAY_OK);
    EXPECT_EQ(view.element_count, 2U);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(hurray_reader_next_item(reader, &tensor, &composite, nullptr), HURRAY_OK);
    EXPECT_EQ(tensor, nullptr);
    EXPECT_EQ(composite, nullptr);
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
}

}  // namespace

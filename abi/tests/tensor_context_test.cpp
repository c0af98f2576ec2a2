// Tensor contexts. (seed: Tensor Context)
#include "abi/tests/support.hpp"

namespace {

using hurray_test::ReleaseCounter;

class TensorContext : public hurray_test::BaseLineTest {};

TEST_F(TensorContext, OwnsACopyOfTheDescriptor) {
    std::vector<std::uint8_t> bytes{1, 2, 3, 4, 5};
    HurrayTensorContext* context = nullptr;
    ASSERT_EQ(hurray_tensor_context_new(4, bytes.data(), bytes.size(), nullptr, nullptr, &context), HURRAY_OK);
    bytes.assign(5, 0xFF);
    const std::uint8_t* got = nullptr;
    std::uint64_t length = 0;
    ASSERT_EQ(hurray_tensor_context_descriptor(context, &got, &length), HURRAY_OK);
    ASSERT_EQ(length, 5u);
    EXPECT_EQ(std::memcmp(got, "\1\2\3\4\5", 5), 0);
    EXPECT_EQ(hurray_tensor_context_destroy(&context), HURRAY_OK);
}

TEST_F(TensorContext, CarriesTheVersionOfItsProducer) {
    for (const std::uint32_t version : {3u, 4u, 5u}) {
        HurrayTensorContext* context = nullptr;
        ASSERT_EQ(hurray_tensor_context_new(version, nullptr, 0, nullptr, nullptr, &context), HURRAY_OK);
        std::uint32_t got = 0;
        EXPECT_EQ(hurray_tensor_context_abi_version(context, &got), HURRAY_OK);
        EXPECT_EQ(got, version);
        EXPECT_EQ(hurray_tensor_context_destroy(&context), HURRAY_OK);
    }
    HurrayTensorContext* context = nullptr;
    EXPECT_EQ(hurray_tensor_context_new(0, nullptr, 0, nullptr, nullptr, &context), HURRAY_ERR_VERSION_MISMATCH);
}

TEST_F(TensorContext, LibraryVouchesForContextsOfVersionsThatHadThem) {
    struct Case {
        std::uint32_t made_by;
        std::uint32_t consumer;
        std::uint8_t supported;
    };
    for (const Case& c : {Case{4, 4, 1}, Case{4, 3, 0}, Case{3, 4, 0}, Case{5, 4, 0}, Case{4, 5, 0}, Case{4, 0, 0}}) {
        HurrayTensorContext* context = nullptr;
        ASSERT_EQ(hurray_tensor_context_new(c.made_by, nullptr, 0, nullptr, nullptr, &context), HURRAY_OK);
        std::uint8_t supported = 9;
        EXPECT_EQ(hurray_tensor_context_supports(context, c.consumer, &supported, nullptr), HURRAY_OK);
        EXPECT_EQ(supported, c.supported) << "made by " << c.made_by << ", consumer of " << c.consumer;
        EXPECT_EQ(hurray_tensor_context_destroy(&context), HURRAY_OK);
    }
}

TEST_F(TensorContext, EmptyDescriptorIsNullAndZero) {
    HurrayTensorContext* context = nullptr;
    ASSERT_EQ(hurray_tensor_context_new(4, nullptr, 0, nullptr, nullptr, &context), HURRAY_OK);
    const auto* got = reinterpret_cast<const std::uint8_t*>(&context);
    std::uint64_t length = 7;
    EXPECT_EQ(hurray_tensor_context_descriptor(context, &got, &length), HURRAY_OK);
    EXPECT_EQ(got, nullptr);
    EXPECT_EQ(length, 0u);
    EXPECT_EQ(hurray_tensor_context_destroy(&context), HURRAY_OK);
}

TEST_F(TensorContext, OwnerIsReleasedExactlyOnceAtDestroy) {
    ReleaseCounter owner;
    HurrayTensorContext* context = nullptr;
    ASSERT_EQ(hurray_tensor_context_new(4, nullptr, 0, &owner, &ReleaseCounter::release_owner, &context), HURRAY_OK);
    EXPECT_EQ(owner.calls, 0);
    EXPECT_EQ(hurray_tensor_context_destroy(&context), HURRAY_OK);
    EXPECT_EQ(context, nullptr);
    EXPECT_EQ(owner.calls, 1);
    EXPECT_EQ(hurray_tensor_context_destroy(&context), HURRAY_OK) << "destroying a null handle is a no-op";
    EXPECT_EQ(hurray_tensor_context_destroy(nullptr), HURRAY_OK);
    EXPECT_EQ(owner.calls, 1);
}

TEST_F(TensorContext, MissingBytesAreRefusedAndTheOwnerStays) {
    ReleaseCounter owner;
    HurrayTensorContext* context = nullptr;
    EXPECT_EQ(hurray_tensor_context_new(4, nullptr, 3, &owner, &ReleaseCounter::release_owner, &context),
              HURRAY_ERR_NULL_POINTER);
    EXPECT_EQ(context, nullptr);
    EXPECT_EQ(owner.calls, 0);
}

TEST_F(TensorContext, DeferredDestroyWaitsOnTheQueue) {
    ReleaseCounter owner;
    HurrayReleaseQueue* queue = nullptr;
    ASSERT_EQ(hurray_release_queue_new(&queue, nullptr), HURRAY_OK);
    HurrayTensorContext* context = nullptr;
    ASSERT_EQ(hurray_tensor_context_new(4, nullptr, 0, &owner, &ReleaseCounter::release_owner, &context), HURRAY_OK);
    ASSERT_EQ(hurray_tensor_context_set_release_queue(context, queue, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_context_destroy_deferred(&context, nullptr), HURRAY_OK);
    EXPECT_EQ(owner.calls, 0);
    std::uint64_t count = 0;
    EXPECT_EQ(hurray_release_queue_drain(queue, UINT64_MAX, &count, nullptr), HURRAY_OK);
    EXPECT_EQ(owner.calls, 1);
    EXPECT_EQ(hurray_release_queue_destroy(&queue), HURRAY_OK);
}

}  // namespace

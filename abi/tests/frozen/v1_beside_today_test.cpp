// A consumer of version 1 and a producer of today in one process, and the other way round. The consumer knows buffers
// only and inspects no sync mode: what it gets says PRODUCER_SYNCED. (seed: C ABI Version, Backward Compatibility)
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "abi/tests/frozen/v1_side.h"
#include "abi/tests/support.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::ReleaseCounter;

constexpr std::uint64_t size = 64;
constexpr std::uint64_t sum = size * 3;

class Version1BesideToday : public hurray_test::BaseLineTest {
protected:
    Version1BesideToday() { std::memset(memory_.bytes, 3, size); }

    static std::array<std::uint8_t, 16> handle_bytes(const HurrayBuffer* buffer) {
        HurrayBufferHandleBytes handle{};
        EXPECT_EQ(hurray_buffer_handle_bytes(buffer, &handle, nullptr), HURRAY_OK);
        return std::to_array(handle.bytes);
    }

    AlignedBytes<size> memory_;
    ReleaseCounter releases_;
};

TEST_F(Version1BesideToday, SidesWereCompiledForDifferentVersions) {
    EXPECT_EQ(v1_side_version(), 1u);
    EXPECT_EQ(HURRAY_C_ABI_VERSION, 4);
}

TEST_F(Version1BesideToday, EveryWayToMakeABufferSaysProducerSynced) {
    std::uint64_t offset = 0;
    HurrayBuffer* buffer = hurray_test::buffer_over(memory_.bytes, size, releases_);
    std::vector<HurrayBuffer*> made{buffer};
    made.push_back(nullptr);
    ASSERT_EQ(hurray_buffer_from_host(memory_.bytes, size, 0, nullptr, nullptr, &made.back(), &offset, nullptr), HURRAY_OK);
    made.push_back(nullptr);
    ASSERT_EQ(hurray_buffer_allocate(size, 64, &made.back(), nullptr), HURRAY_OK);
    made.push_back(nullptr);
    ASSERT_EQ(hurray_buffer_share(buffer, &made.back(), nullptr), HURRAY_OK);
    made.push_back(nullptr);
    ASSERT_EQ(hurray_buffer_slice(buffer, 0, size, &made.back(), nullptr), HURRAY_OK);
    HurrayBufferHandleBytes synced = {{64, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, HURRAY_SYNC_PRODUCER_SYNCED, 0, 0}};
    made.push_back(nullptr);
    ASSERT_EQ(hurray_buffer_handoff(&synced, memory_.bytes, nullptr, nullptr, nullptr, nullptr, &made.back(), nullptr), HURRAY_OK);
    for (HurrayBuffer* each : made) {
        HurrayBufferInfo info{};
        info.struct_size = sizeof info;
        ASSERT_EQ(hurray_buffer_info(each, &info, nullptr), HURRAY_OK);
        EXPECT_EQ(handle_bytes(each)[13], 0);
        EXPECT_NE(v1_side_consume(each, static_cast<const unsigned char*>(info.data), info.byte_size), UINT64_MAX);
    }
    EXPECT_EQ(releases_.calls, 1) << "the buffer, its share and its slice: one release together";
}

TEST_F(Version1BesideToday, ConsumerReadsAndReleasesExactlyOnce) {
    HurrayBuffer* buffer = hurray_test::buffer_over(memory_.bytes, size, releases_);
    EXPECT_EQ(v1_side_consume(buffer, memory_.bytes, size), sum);
    EXPECT_EQ(releases_.calls, 1);
    EXPECT_EQ(releases_.last_data, memory_.bytes);
}

// A consumer that knows no events still leaks none, should a producer break the rule and hand one over.
TEST_F(Version1BesideToday, ConsumerThatKnowsNoEventsReleasesThemByEndingTheBuffer) {
    const HurrayBufferHandleBytes handle = {{64, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, HURRAY_DEVICE_CUDA, HURRAY_SYNC_EVENT, 0, 0}};
    ReleaseCounter events;
    HurrayEventPayload event{};
    event.sync_handle = &events;
    event.sync_handle_device_tag = HURRAY_DEVICE_CUDA;
    event.event_release_fn = &ReleaseCounter::release;
    event.event_release_context = &events;
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(hurray_buffer_handoff(&handle, memory_.bytes, &ReleaseCounter::release, &releases_, &event, nullptr, &buffer, nullptr),
              HURRAY_OK);
    EXPECT_EQ(v1_side_consume(buffer, memory_.bytes, size), sum);
    EXPECT_EQ(events.calls, 1);
    EXPECT_EQ(releases_.calls, 1);
}

TEST_F(Version1BesideToday, TodaysConsumerSeesProducerSyncedFromAProducerOfVersion1) {
    int released = 0;
    HurrayBuffer* buffer = v1_side_produce(memory_.bytes, size, &released);
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(handle_bytes(buffer), (std::array<std::uint8_t, 16>{64, 0, 0, 0, 0, 0, 0, 0, 64}));
    void* stream = nullptr;
    std::uint8_t device = 0;
    EXPECT_EQ(hurray_buffer_event(buffer, &stream, &device, nullptr), HURRAY_ERR_SYNC_MODE_MISMATCH);
    EXPECT_EQ(hurray_buffer_stream(buffer, &stream, &device, nullptr), HURRAY_ERR_SYNC_MODE_MISMATCH);

    // It becomes part of a tensor of today, and its release runs with the tensor's end.
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* context = nullptr;
    HurrayTensor* tensor = nullptr;
    const auto descriptor = hurray_test::row_major_descriptor(HURRAY_TYPE_UINT8, {size}, size);
    ASSERT_EQ(hurray_buffer_list_new(1, &list), HURRAY_OK);
    ASSERT_EQ(hurray_buffer_list_push(list, buffer), HURRAY_OK);
    ASSERT_EQ(hurray_tensor_context_new(HURRAY_C_ABI_VERSION, descriptor.data(), descriptor.size(), nullptr, nullptr, &context),
              HURRAY_OK);
    ASSERT_EQ(hurray_tensor_import(&list, &context, &tensor, nullptr), HURRAY_OK);
    HurrayView view{};
    view.struct_size = sizeof view;
    ASSERT_EQ(hurray_tensor_view(tensor, &view, nullptr), HURRAY_OK);
    EXPECT_EQ(view.data, memory_.bytes);
    EXPECT_EQ(released, 0);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(released, 1);
}

TEST_F(Version1BesideToday, BuffersGoToAndFroThousandTimes) {
    int released = 0;
    for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(v1_side_consume(hurray_test::buffer_over(memory_.bytes, size, releases_), memory_.bytes, size), sum);
        ASSERT_EQ(hurray_buffer_destroy(v1_side_produce(memory_.bytes, size, &released)), HURRAY_OK);
    }
    EXPECT_EQ(releases_.calls, 1000);
    EXPECT_EQ(released, 1000);
}

}  // namespace

// Producer and consumer hand memory of a fake device over through the C ABI, in all three sync modes: right, and wrong in
// each way that the contract forbids, which the device must name. (seed: Buffer Handoff Synchronisation)
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "hurray.h"
#include "tests/conformance/device/fake_device.h"

namespace {

static_assert(FAKE_DEVICE_TAG == HURRAY_DEVICE_CUDA);
static_assert(FAKE_MODE_PRODUCER_SYNCED == HURRAY_SYNC_PRODUCER_SYNCED);
static_assert(FAKE_MODE_EVENT == HURRAY_SYNC_EVENT);
static_assert(FAKE_MODE_CONSUMER_STREAM == HURRAY_SYNC_CONSUMER_STREAM);

constexpr std::uint64_t byte_size = 48;

HurrayBufferHandleBytes handle_bytes(std::uint8_t mode, std::uint8_t device_tag = FAKE_DEVICE_TAG) {
    return {{byte_size, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, device_tag, mode, HURRAY_MEMORY_STANDARD, 0}};
}

// Descriptor of float32 [3, 4] in one buffer of the fake device.
std::vector<std::uint8_t> descriptor_bytes(std::uint8_t mode) {
    std::vector<std::uint8_t> bytes = {'H', 'R', 'R', 'Y', 1, 0, 61, 0, 0, 0, 0, 0, 0, 0, HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_ROW_MAJOR,
                                       2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    for (const std::uint8_t byte : handle_bytes(mode).bytes) bytes.push_back(byte);
    return bytes;
}

std::uint64_t live_handles() {
    std::uint64_t handles = 0;
    std::uint64_t bytes = 0;
    EXPECT_EQ(hurray_live_handles(HURRAY_HANDLE_ANY, &handles, &bytes, nullptr), HURRAY_OK);
    return handles;
}

class HandoffTest : public ::testing::Test {
protected:
    std::uint64_t base = live_handles();
    FakeDevice* device = fake_device_new();
    void* producer = fake_stream_new(device, "producer");
    void* consumer = fake_stream_new(device, "consumer");
    void* other = fake_stream_new(device, "other");
    void* memory = fake_memory_new(device, byte_size);
    HurrayError error{};

    void TearDown() override {
        EXPECT_EQ(live_handles(), base);
        fake_device_destroy(device);
    }

    std::string log() {
        std::string text(fake_log_copy(device, nullptr, 0) + 1, '?');
        fake_log_copy(device, text.data(), text.size());
        text.pop_back();
        return text;
    }

    /// Everything was in order, and all that was handed off has ended.
    void expect_clean() {
        EXPECT_EQ(fake_device_finish(device), FAKE_OK) << log();
        EXPECT_EQ(fake_violation_count(device), 0U) << log();
        EXPECT_EQ(fake_memory_release_count(device, memory), 1U);
    }

    /// The device has named exactly this, once.
    void expect_only(FakeViolation kind) {
        fake_device_finish(device);
        EXPECT_EQ(fake_violation_count(device), 1U) << log();
        EXPECT_EQ(fake_violation_count_of(device, kind), 1U) << fake_violation_name(kind) << " is missing:\n" << log();
    }

    void expect_before(const char* first, const char* second) {
        const std::int64_t at = fake_log_find(device, first, 0);
        EXPECT_GE(at, 0) << first << " is missing:\n" << log();
        EXPECT_GT(fake_log_find(device, second, 0), at) << second << " does not come after " << first << ":\n" << log();
    }

    void* recorded_event(void* stream) {
        void* event = fake_event_new(device);
        EXPECT_EQ(fake_event_record(device, event, stream), FAKE_OK);
        return event;
    }

    // --- The producer ---

    /// The call itself, between its marks.
    HurrayStatus hand_off(void* data, std::uint8_t mode, void* event_or_stream, HurrayBuffer** out_buffer) {
        const HurrayBufferHandleBytes bytes = handle_bytes(mode);
        const HurrayEventPayload event{event_or_stream, FAKE_DEVICE_TAG, &fake_event_release, device};
        const HurrayStreamPayload stream{event_or_stream, FAKE_DEVICE_TAG};
        fake_handoff_begin(device, data, mode, event_or_stream);
        const HurrayStatus status = hurray_buffer_handoff(&bytes, data, &fake_memory_release, device, mode == FAKE_MODE_EVENT ? &event : nullptr,
                                                          mode == FAKE_MODE_CONSUMER_STREAM ? &stream : nullptr, out_buffer, &error);
        if (status == HURRAY_OK) {
            fake_handoff_returned(device, data, mode, event_or_stream);
        } else {
            fake_handoff_failed(device, data, mode, event_or_stream);
        }
        return status;
    }

    HurrayBuffer* handed_off(std::uint8_t mode, void* event_or_stream) {
        HurrayBuffer* buffer = nullptr;
        EXPECT_EQ(hand_off(memory, mode, event_or_stream, &buffer), HURRAY_OK) << error.message;
        return buffer;
    }

    HurrayTensor* tensor_of(HurrayBuffer* buffer, std::uint8_t mode) {
        HurrayBufferList* list = nullptr;
        HurrayTensorContext* context = nullptr;
        HurrayTensor* tensor = nullptr;
        const std::vector<std::uint8_t> descriptor = descriptor_bytes(mode);
        EXPECT_EQ(hurray_buffer_list_new(1, &list), HURRAY_OK);
        EXPECT_EQ(hurray_buffer_list_push(list, buffer), HURRAY_OK);
        EXPECT_EQ(hurray_tensor_context_new(HURRAY_C_ABI_VERSION, descriptor.data(), descriptor.size(), nullptr, nullptr, &context), HURRAY_OK);
        EXPECT_EQ(hurray_tensor_import(&list, &context, &tensor, &error), HURRAY_OK) << error.message;
        return tensor;
    }

    // --- The consumer ---

    void* event_of(const HurrayBuffer* buffer) {
        void* event = nullptr;
        std::uint8_t tag = 0;
        EXPECT_EQ(hurray_buffer_event(buffer, &event, &tag, &error), HURRAY_OK) << error.message;
        EXPECT_EQ(tag, FAKE_DEVICE_TAG);
        return event;
    }

    void* data_of(const HurrayBuffer* buffer) {
        HurrayBufferInfo info{};
        info.struct_size = sizeof info;
        EXPECT_EQ(hurray_buffer_info(buffer, &info, &error), HURRAY_OK) << error.message;
        return info.data;
    }

    std::uint8_t mode_of(const HurrayBuffer* buffer) {
        HurrayBufferHandleBytes bytes{};
        EXPECT_EQ(hurray_buffer_handle_bytes(buffer, &bytes, &error), HURRAY_OK) << error.message;
        return bytes.bytes[13];
    }

    void destroy(HurrayBuffer* buffer) { EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK); }
};

// --- PRODUCER_SYNCED ---

TEST_F(HandoffTest, ProducerSyncedAfterTheHostsWait) {
    fake_stream_write(device, producer, memory);
    fake_host_wait_stream(device, producer);
    HurrayBuffer* buffer = handed_off(HURRAY_SYNC_PRODUCER_SYNCED, nullptr);
    EXPECT_EQ(mode_of(buffer), HURRAY_SYNC_PRODUCER_SYNCED);
    fake_stream_read(device, consumer, data_of(buffer));
    fake_stream_read(device, other, data_of(buffer));
    destroy(buffer);
    expect_clean();
    expect_before("wait host for producer", "handoff begins memory 1 mode 0");
}

TEST_F(HandoffTest, ProducerSyncedWithoutAWaitIsCaught) {
    fake_stream_write(device, producer, memory);
    destroy(handed_off(HURRAY_SYNC_PRODUCER_SYNCED, nullptr));
    expect_only(FAKE_HANDOFF_UNSYNCED);
}

TEST_F(HandoffTest, ProducerSyncedWithTheWaitTooLateIsCaught) {
    fake_stream_write(device, producer, memory);
    HurrayBuffer* buffer = handed_off(HURRAY_SYNC_PRODUCER_SYNCED, nullptr);
    fake_host_wait_stream(device, producer);
    fake_stream_read(device, consumer, data_of(buffer));
    destroy(buffer);
    expect_only(FAKE_HANDOFF_UNSYNCED);
}

TEST_F(HandoffTest, ProducerSyncedAccessByAConsumerThatWasTooTrustingIsCaught) {
    fake_stream_write(device, producer, memory);
    HurrayBuffer* buffer = handed_off(HURRAY_SYNC_PRODUCER_SYNCED, nullptr);
    fake_stream_read(device, consumer, data_of(buffer));
    destroy(buffer);
    EXPECT_EQ(fake_violation_count_of(device, FAKE_HANDOFF_UNSYNCED), 1U);
    EXPECT_EQ(fake_violation_count_of(device, FAKE_UNORDERED_READ), 1U);
    EXPECT_EQ(fake_violation_count(device), 2U);
}

// --- EVENT ---

TEST_F(HandoffTest, EventRecordedBeforeAndWaitedForOnEveryStream) {
    fake_stream_write(device, producer, memory);
    void* event = recorded_event(producer);
    HurrayBuffer* buffer = handed_off(HURRAY_SYNC_EVENT, event);
    EXPECT_EQ(mode_of(buffer), HURRAY_SYNC_EVENT);
    EXPECT_EQ(event_of(buffer), event);
    fake_stream_wait_event(device, consumer, event_of(buffer));
    fake_stream_wait_event(device, other, event_of(buffer));
    EXPECT_EQ(hurray_buffer_event_release(buffer, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(fake_event_release_count(device, event), 1U);
    EXPECT_EQ(fake_memory_release_count(device, memory), 0U) << "two releases with lives of their own";
    fake_stream_read(device, consumer, data_of(buffer));
    fake_stream_read(device, other, data_of(buffer));
    destroy(buffer);
    expect_clean();
    EXPECT_EQ(fake_event_release_count(device, event), 1U);
    expect_before("record event 1 on producer", "handoff begins memory 1 mode 1 event 1");
    expect_before("wait consumer for event 1", "release event 1");
    expect_before("wait consumer for event 1", "read memory 1 on consumer");
    expect_before("wait other for event 1", "read memory 1 on other");
    expect_before("release event 1", "release memory 1");
}

TEST_F(HandoffTest, EventThroughATensor) {
    fake_stream_write(device, producer, memory);
    void* event = recorded_event(producer);
    HurrayTensor* tensor = tensor_of(handed_off(HURRAY_SYNC_EVENT, event), HURRAY_SYNC_EVENT);
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(hurray_tensor_buffer(tensor, 0, &buffer, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(event_of(buffer), event);
    fake_stream_wait_event(device, consumer, event_of(buffer));
    EXPECT_EQ(hurray_buffer_event_release(buffer, &error), HURRAY_OK) << "a borrowed buffer, too";
    HurrayView view{};
    view.struct_size = sizeof view;
    ASSERT_EQ(hurray_tensor_view(tensor, &view, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(view.device, FAKE_DEVICE_TAG);
    fake_stream_read(device, consumer, view.data);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    expect_clean();
}

TEST_F(HandoffTest, EventNotRecordedIsCaught) {
    fake_stream_write(device, producer, memory);
    destroy(handed_off(HURRAY_SYNC_EVENT, fake_event_new(device)));
    expect_only(FAKE_HANDOFF_EVENT_UNRECORDED);
}

TEST_F(HandoffTest, AWaitForAnEventThatIsNotRecordedIsCaught) {
    fake_stream_write(device, producer, memory);
    HurrayBuffer* buffer = handed_off(HURRAY_SYNC_EVENT, fake_event_new(device));
    fake_violations_clear(device);
    EXPECT_EQ(fake_stream_wait_event(device, consumer, event_of(buffer)), FAKE_WAIT_UNRECORDED);
    destroy(buffer);
    expect_only(FAKE_WAIT_UNRECORDED);
}

TEST_F(HandoffTest, EventRecordedAfterTheHandoffIsCaught) {
    fake_stream_write(device, producer, memory);
    void* event = fake_event_new(device);
    HurrayBuffer* buffer = handed_off(HURRAY_SYNC_EVENT, event);
    fake_violations_clear(device);
    EXPECT_EQ(fake_event_record(device, event, producer), FAKE_EVENT_RECORDED_LATE);
    destroy(buffer);
    expect_only(FAKE_EVENT_RECORDED_LATE);
}

TEST_F(HandoffTest, EventRecordedBeforeTheWriteIsCaught) {
    void* event = recorded_event(producer);
    fake_stream_write(device, producer, memory);
    destroy(handed_off(HURRAY_SYNC_EVENT, event));
    expect_only(FAKE_HANDOFF_EVENT_MISSES_WRITE);
}

TEST_F(HandoffTest, EventOnOneOfTwoWritingStreamsIsCaught) {
    fake_stream_write(device, other, memory);
    fake_stream_wait_stream(device, producer, other);
    fake_stream_write(device, producer, memory);
    destroy(handed_off(HURRAY_SYNC_EVENT, recorded_event(other)));
    expect_only(FAKE_HANDOFF_EVENT_MISSES_WRITE);
}

TEST_F(HandoffTest, AccessWithoutAWaitIsCaught) {
    fake_stream_write(device, producer, memory);
    HurrayBuffer* buffer = handed_off(HURRAY_SYNC_EVENT, recorded_event(producer));
    EXPECT_EQ(fake_stream_read(device, consumer, data_of(buffer)), FAKE_UNORDERED_READ);
    fake_stream_wait_event(device, consumer, event_of(buffer));
    destroy(buffer);
    expect_only(FAKE_UNORDERED_READ);
}

TEST_F(HandoffTest, AWriteWithoutAWaitIsCaught) {
    fake_stream_write(device, producer, memory);
    HurrayBuffer* buffer = handed_off(HURRAY_SYNC_EVENT, recorded_event(producer));
    EXPECT_EQ(fake_stream_write(device, consumer, data_of(buffer)), FAKE_UNORDERED_WRITE);
    destroy(buffer);
    expect_only(FAKE_UNORDERED_WRITE);
}

TEST_F(HandoffTest, AWaitOnOnlyOneOfTwoStreamsIsCaught) {
    fake_stream_write(device, producer, memory);
    HurrayBuffer* buffer = handed_off(HURRAY_SYNC_EVENT, recorded_event(producer));
    fake_stream_wait_event(device, consumer, event_of(buffer));
    fake_stream_read(device, consumer, data_of(buffer));
    EXPECT_EQ(fake_stream_read(device, other, data_of(buffer)), FAKE_UNORDERED_READ);
    destroy(buffer);
    expect_only(FAKE_UNORDERED_READ);
}

TEST_F(HandoffTest, AReadByTheHostWithoutAWaitIsCaught) {
    fake_stream_write(device, producer, memory);
    HurrayBuffer* buffer = handed_off(HURRAY_SYNC_EVENT, recorded_event(producer));
    EXPECT_EQ(fake_host_read(device, data_of(buffer)), FAKE_UNORDERED_READ);
    fake_violations_clear(device);
    fake_host_wait_event(device, event_of(buffer));
    EXPECT_EQ(fake_host_read(device, data_of(buffer)), FAKE_OK);
    destroy(buffer);
    expect_clean();
}

TEST_F(HandoffTest, AWaitAfterTheReleaseIsCaught) {
    fake_stream_write(device, producer, memory);
    HurrayBuffer* buffer = handed_off(HURRAY_SYNC_EVENT, recorded_event(producer));
    void* event = event_of(buffer);
    EXPECT_EQ(hurray_buffer_event_release(buffer, &error), HURRAY_OK);
    EXPECT_EQ(fake_stream_wait_event(device, consumer, event), FAKE_EVENT_USED_AFTER_RELEASE);
    destroy(buffer);
    expect_only(FAKE_EVENT_USED_AFTER_RELEASE);
}

TEST_F(HandoffTest, TheLibraryReleasesAnEventOnceHoweverOftenItIsAsked) {
    void* event = recorded_event(producer);
    HurrayBuffer* buffer = handed_off(HURRAY_SYNC_EVENT, event);
    EXPECT_EQ(hurray_buffer_event_release(buffer, &error), HURRAY_OK);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(hurray_buffer_event_release(buffer, &error), HURRAY_ERR_INVALID_HANDLE);
    void* gone = event;
    std::uint8_t tag = 7;
    EXPECT_EQ(hurray_buffer_event(buffer, &gone, &tag, &error), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(gone, nullptr);
    EXPECT_EQ(tag, 0);
    destroy(buffer);
    expect_clean();
    EXPECT_EQ(fake_event_release_count(device, event), 1U);
}

TEST_F(HandoffTest, AnEventThatNobodyReleasedEndsWithItsBuffer) {
    void* event = recorded_event(producer);
    destroy(handed_off(HURRAY_SYNC_EVENT, event));
    expect_clean();
    EXPECT_EQ(fake_event_release_count(device, event), 1U);
    expect_before("release event 1", "release memory 1");
}

TEST_F(HandoffTest, AConsumerThatReleasesBehindTheLibrarysBackIsCaught) {
    void* event = recorded_event(producer);
    HurrayBuffer* buffer = handed_off(HURRAY_SYNC_EVENT, event);
    fake_event_release(event_of(buffer), device);
    destroy(buffer);
    expect_only(FAKE_EVENT_RELEASED_TWICE);
}

TEST_F(HandoffTest, AConsumerThatNeverReleasesIsCaught) {
    HurrayBuffer* buffer = handed_off(HURRAY_SYNC_EVENT, recorded_event(producer));
    EXPECT_EQ(fake_device_finish(device), FAKE_EVENT_NEVER_RELEASED);
    EXPECT_EQ(fake_violation_count_of(device, FAKE_EVENT_NEVER_RELEASED), 1U);
    EXPECT_EQ(fake_violation_count_of(device, FAKE_MEMORY_NEVER_RELEASED), 1U);
    destroy(buffer);
    fake_violations_clear(device);
    expect_clean();
}

TEST_F(HandoffTest, SharesAndSlicesCarryNoEventAndReleaseNone) {
    fake_stream_write(device, producer, memory);
    void* event = recorded_event(producer);
    HurrayBuffer* buffer = handed_off(HURRAY_SYNC_EVENT, event);
    HurrayBuffer* share = nullptr;
    HurrayBuffer* slice = nullptr;
    ASSERT_EQ(hurray_buffer_share(buffer, &share, &error), HURRAY_OK) << error.message;
    ASSERT_EQ(hurray_buffer_slice(buffer, 0, 16, &slice, &error), HURRAY_OK) << error.message;
    for (HurrayBuffer* derived : {share, slice}) {
        void* none = event;
        std::uint8_t tag = 7;
        EXPECT_EQ(hurray_buffer_event(derived, &none, &tag, &error), HURRAY_ERR_SYNC_MODE_MISMATCH);
        EXPECT_EQ(none, nullptr);
        EXPECT_EQ(hurray_buffer_event_release(derived, &error), HURRAY_ERR_SYNC_MODE_MISMATCH);
        destroy(derived);
    }
    EXPECT_EQ(fake_event_release_count(device, event), 0U);
    EXPECT_EQ(fake_stream_wait_event(device, consumer, event_of(buffer)), FAKE_OK);
    destroy(buffer);
    expect_clean();
}

TEST_F(HandoffTest, ATensorWithAnEventIsNotExported) {
    HurrayTensor* tensor = tensor_of(handed_off(HURRAY_SYNC_EVENT, recorded_event(producer)), HURRAY_SYNC_EVENT);
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* context = nullptr;
    EXPECT_EQ(hurray_tensor_export(tensor, &list, &context, &error), HURRAY_ERR_SYNC_MODE_MISMATCH);
    EXPECT_EQ(list, nullptr);
    EXPECT_EQ(context, nullptr);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    expect_clean();
}

TEST_F(HandoffTest, AListReleasesTheEventOfEachOfItsBuffers) {
    void* second = fake_memory_new(device, byte_size);
    void* event = recorded_event(producer);
    void* second_event = recorded_event(producer);
    HurrayBuffer* buffers[2] = {};
    ASSERT_EQ(hand_off(memory, HURRAY_SYNC_EVENT, event, &buffers[0]), HURRAY_OK) << error.message;
    ASSERT_EQ(hand_off(second, HURRAY_SYNC_EVENT, second_event, &buffers[1]), HURRAY_OK) << error.message;
    HurrayBufferList* list = nullptr;
    ASSERT_EQ(hurray_buffer_list_new(2, &list), HURRAY_OK);
    for (HurrayBuffer* buffer : buffers) ASSERT_EQ(hurray_buffer_list_push(list, buffer), HURRAY_OK);
    HurrayBuffer* borrowed = nullptr;
    ASSERT_EQ(hurray_buffer_list_get(list, 1, &borrowed), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_event_release(borrowed, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(fake_event_release_count(device, event), 0U);
    EXPECT_EQ(fake_event_release_count(device, second_event), 1U);
    EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_OK);
    EXPECT_EQ(fake_event_release_count(device, event), 1U);
    EXPECT_EQ(fake_event_release_count(device, second_event), 1U);
    EXPECT_EQ(fake_memory_release_count(device, second), 1U);
    expect_clean();
}

TEST_F(HandoffTest, AnEventIsReleasedOnWhicheverThreadAsks) {
    void* event = recorded_event(producer);
    HurrayBuffer* buffer = handed_off(HURRAY_SYNC_EVENT, event);
    std::uint64_t thread = 0;
    std::thread([&] {
        thread = fake_current_thread();
        EXPECT_EQ(hurray_buffer_event_release(buffer, nullptr), HURRAY_OK);
    }).join();
    EXPECT_EQ(fake_event_release_thread(device, event), thread);
    EXPECT_NE(thread, fake_current_thread());
    destroy(buffer);
    EXPECT_EQ(fake_memory_release_thread(device, memory), fake_current_thread());
    expect_clean();
}

TEST_F(HandoffTest, ACollectorsThreadReleasesTheEventAndLeavesTheMemoryToTheDrain) {
    void* event = recorded_event(producer);
    HurrayBuffer* buffer = handed_off(HURRAY_SYNC_EVENT, event);
    std::uint64_t collector = 0;
    std::thread([&] {
        collector = fake_current_thread();
        EXPECT_EQ(hurray_buffer_destroy_deferred(buffer, nullptr), HURRAY_OK);
    }).join();
    EXPECT_EQ(fake_event_release_count(device, event), 1U) << "the contract lets it run on any thread";
    EXPECT_EQ(fake_event_release_thread(device, event), collector);
    EXPECT_EQ(fake_memory_release_count(device, memory), 0U) << "the memory's release waits for consent";
    std::uint64_t released = 0;
    EXPECT_EQ(hurray_release_queue_drain(nullptr, UINT64_MAX, &released, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(released, 1U);
    EXPECT_EQ(fake_memory_release_thread(device, memory), fake_current_thread());
    expect_clean();
}

// --- CONSUMER_STREAM, on the consumer's request ---

struct Order {
    /// When the producer makes the consumer's stream wait for its own.
    enum class Dependency { before_handoff, after_return, never, on_another_stream, the_wrong_way_round } dependency = Dependency::before_handoff;
    /// The stream that the producer names; null: the one that it was asked for.
    void* named_stream = nullptr;
};

class RequestTest : public HandoffTest {
protected:
    Order order;
    int exports = 0;
    int releases = 0;

    static HurrayStatus export_tensor(void* context, void* consumer_stream, std::uint8_t tag, HurrayBufferList** out_list,
                                      HurrayTensorContext** out_context, HurrayError* error) {
        auto& self = *static_cast<RequestTest*>(context);
        ++self.exports;
        EXPECT_EQ(tag, FAKE_DEVICE_TAG);
        void* const named = self.order.named_stream == nullptr ? consumer_stream : self.order.named_stream;
        fake_stream_write(self.device, self.producer, self.memory);
        switch (self.order.dependency) {
            case Order::Dependency::before_handoff: fake_stream_wait_stream(self.device, consumer_stream, self.producer); break;
            case Order::Dependency::on_another_stream: fake_stream_wait_stream(self.device, self.other, self.producer); break;
            case Order::Dependency::the_wrong_way_round: fake_stream_wait_stream(self.device, self.producer, consumer_stream); break;
            case Order::Dependency::after_return:
            case Order::Dependency::never: break;
        }
        HurrayBuffer* buffer = nullptr;
        const HurrayStatus status = self.hand_off(self.memory, HURRAY_SYNC_CONSUMER_STREAM, named, &buffer);
        if (status != HURRAY_OK) {
            *error = self.error;
            return status;
        }
        if (self.order.dependency == Order::Dependency::after_return) fake_stream_wait_stream(self.device, consumer_stream, self.producer);
        const std::vector<std::uint8_t> descriptor = descriptor_bytes(HURRAY_SYNC_CONSUMER_STREAM);
        EXPECT_EQ(hurray_buffer_list_new(1, out_list), HURRAY_OK);
        EXPECT_EQ(hurray_buffer_list_push(*out_list, buffer), HURRAY_OK);
        EXPECT_EQ(hurray_tensor_context_new(HURRAY_C_ABI_VERSION, descriptor.data(), descriptor.size(), nullptr, nullptr, out_context), HURRAY_OK);
        return HURRAY_OK;
    }

    HurrayStatus request(HurrayTensor** out_tensor) {
        HurrayProducer source{sizeof source, HURRAY_C_ABI_VERSION, this, &RequestTest::export_tensor,
                              [](void* context) { ++static_cast<RequestTest*>(context)->releases; }};
        const HurrayStatus status = hurray_producer_request(&source, consumer, FAKE_DEVICE_TAG, out_tensor, &error);
        EXPECT_EQ(exports, 1);
        for (int i = 0; i < 2; ++i) EXPECT_EQ(hurray_producer_release(&source, nullptr), HURRAY_OK);
        EXPECT_EQ(releases, 1);
        return status;
    }

    HurrayTensor* requested() {
        HurrayTensor* tensor = nullptr;
        EXPECT_EQ(request(&tensor), HURRAY_OK) << error.message;
        return tensor;
    }

    HurrayBuffer* buffer_of(HurrayTensor* tensor) {
        HurrayBuffer* buffer = nullptr;
        EXPECT_EQ(hurray_tensor_buffer(tensor, 0, &buffer, &error), HURRAY_OK) << error.message;
        return buffer;
    }

    void end(HurrayTensor* tensor) { EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK); }
};

TEST_F(RequestTest, DependencyBeforeTheHandoffReturns) {
    HurrayTensor* tensor = requested();
    HurrayBuffer* buffer = buffer_of(tensor);
    EXPECT_EQ(mode_of(buffer), HURRAY_SYNC_CONSUMER_STREAM);
    void* stream = nullptr;
    std::uint8_t tag = 0;
    ASSERT_EQ(hurray_buffer_stream(buffer, &stream, &tag, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(stream, consumer);
    EXPECT_EQ(tag, FAKE_DEVICE_TAG);
    EXPECT_EQ(fake_stream_read(device, stream, data_of(buffer)), FAKE_OK);
    EXPECT_EQ(fake_stream_wait_stream(device, other, stream), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, other, data_of(buffer)), FAKE_OK);
    void* event = nullptr;
    EXPECT_EQ(hurray_buffer_event(buffer, &event, &tag, &error), HURRAY_ERR_SYNC_MODE_MISMATCH) << "there is no second release";
    end(tensor);
    expect_clean();
    expect_before("wait consumer for producer", "handoff returned memory 1 mode 2 consumer");
    expect_before("handoff returned memory 1 mode 2 consumer", "read memory 1 on consumer");
    expect_before("wait other for consumer", "read memory 1 on other");
    EXPECT_EQ(fake_log_find(device, "wait host", 0), -1) << "the host never blocks";
}

TEST_F(RequestTest, NoDependencyIsCaught) {
    order.dependency = Order::Dependency::never;
    end(requested());
    expect_only(FAKE_HANDOFF_NO_DEPENDENCY);
}

TEST_F(RequestTest, ADependencyAfterTheHandoffReturnedIsCaught) {
    order.dependency = Order::Dependency::after_return;
    HurrayTensor* tensor = requested();
    EXPECT_EQ(fake_stream_read(device, consumer, data_of(buffer_of(tensor))), FAKE_OK);
    end(tensor);
    expect_only(FAKE_HANDOFF_NO_DEPENDENCY);
}

TEST_F(RequestTest, ADependencyOfAnotherStreamIsCaught) {
    order.dependency = Order::Dependency::on_another_stream;
    end(requested());
    expect_only(FAKE_HANDOFF_NO_DEPENDENCY);
}

TEST_F(RequestTest, ADependencyTheWrongWayRoundIsCaught) {
    order.dependency = Order::Dependency::the_wrong_way_round;
    end(requested());
    expect_only(FAKE_HANDOFF_NO_DEPENDENCY);
}

TEST_F(RequestTest, AccessOnAnotherStreamWithoutAWaitIsCaught) {
    HurrayTensor* tensor = requested();
    EXPECT_EQ(fake_stream_read(device, consumer, data_of(buffer_of(tensor))), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, other, data_of(buffer_of(tensor))), FAKE_UNORDERED_READ);
    EXPECT_EQ(fake_stream_wait_stream(device, other, consumer), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, other, data_of(buffer_of(tensor))), FAKE_OK);
    end(tensor);
    expect_only(FAKE_UNORDERED_READ);
}

TEST_F(RequestTest, AccessByTheHostWithoutAWaitIsCaught) {
    HurrayTensor* tensor = requested();
    EXPECT_EQ(fake_host_read(device, data_of(buffer_of(tensor))), FAKE_UNORDERED_READ);
    fake_host_wait_stream(device, consumer);
    EXPECT_EQ(fake_host_read(device, data_of(buffer_of(tensor))), FAKE_OK);
    end(tensor);
    expect_only(FAKE_UNORDERED_READ);
}

TEST_F(RequestTest, AProducerThatNamesAnotherStreamIsRefusedAndWhatItMadeEnds) {
    order.named_stream = other;
    HurrayTensor* tensor = nullptr;
    EXPECT_EQ(request(&tensor), HURRAY_ERR_SYNC_MODE_MISMATCH);
    EXPECT_EQ(tensor, nullptr);
    EXPECT_EQ(fake_memory_release_count(device, memory), 1U);
    // That is the device's own finding: the dependency is on another stream than the one that was named.
    expect_only(FAKE_HANDOFF_NO_DEPENDENCY);
}

// --- What the library refuses moves nothing ---

TEST_F(HandoffTest, AHandoffThatIsRefusedReleasesNothing) {
    void* event = recorded_event(producer);
    const HurrayEventPayload right_event{event, FAKE_DEVICE_TAG, &fake_event_release, device};
    const HurrayEventPayload other_device{event, HURRAY_DEVICE_ROCM, &fake_event_release, device};
    const HurrayEventPayload no_release{event, FAKE_DEVICE_TAG, nullptr, device};
    const HurrayEventPayload no_event{nullptr, FAKE_DEVICE_TAG, &fake_event_release, device};
    const HurrayStreamPayload right_stream{consumer, FAKE_DEVICE_TAG};
    const HurrayStreamPayload other_stream_device{consumer, HURRAY_DEVICE_ROCM};
    const HurrayStreamPayload no_stream{nullptr, FAKE_DEVICE_TAG};
    struct Wrong {
        std::uint8_t mode;
        const HurrayEventPayload* event;
        const HurrayStreamPayload* stream;
        HurrayStatus status;
    };
    std::vector<Wrong> all = {
        {HURRAY_SYNC_PRODUCER_SYNCED, &right_event, nullptr, HURRAY_ERR_SYNC_MODE_MISMATCH},
        {HURRAY_SYNC_PRODUCER_SYNCED, nullptr, &right_stream, HURRAY_ERR_SYNC_MODE_MISMATCH},
        {HURRAY_SYNC_PRODUCER_SYNCED, &right_event, &right_stream, HURRAY_ERR_SYNC_MODE_MISMATCH},
        {HURRAY_SYNC_EVENT, nullptr, nullptr, HURRAY_ERR_SYNC_MODE_MISMATCH},
        {HURRAY_SYNC_EVENT, &other_device, nullptr, HURRAY_ERR_SYNC_MODE_MISMATCH},
        {HURRAY_SYNC_EVENT, &no_release, nullptr, HURRAY_ERR_SYNC_MODE_MISMATCH},
        {HURRAY_SYNC_EVENT, &no_event, nullptr, HURRAY_ERR_SYNC_MODE_MISMATCH},
        {HURRAY_SYNC_EVENT, nullptr, &right_stream, HURRAY_ERR_SYNC_MODE_MISMATCH},
        {HURRAY_SYNC_EVENT, &right_event, &right_stream, HURRAY_ERR_SYNC_MODE_MISMATCH},
        {HURRAY_SYNC_CONSUMER_STREAM, nullptr, nullptr, HURRAY_ERR_SYNC_MODE_MISMATCH},
        {HURRAY_SYNC_CONSUMER_STREAM, nullptr, &other_stream_device, HURRAY_ERR_SYNC_MODE_MISMATCH},
        {HURRAY_SYNC_CONSUMER_STREAM, nullptr, &no_stream, HURRAY_ERR_SYNC_MODE_MISMATCH},
        {HURRAY_SYNC_CONSUMER_STREAM, &right_event, nullptr, HURRAY_ERR_SYNC_MODE_MISMATCH},
        {HURRAY_SYNC_CONSUMER_STREAM, &right_event, &right_stream, HURRAY_ERR_SYNC_MODE_MISMATCH},
    };
    for (int mode = 0x03; mode <= 0xFF; ++mode) {
        all.push_back({static_cast<std::uint8_t>(mode), nullptr, nullptr, HURRAY_ERR_INVALID_SYNC_MODE});
        all.push_back({static_cast<std::uint8_t>(mode), &right_event, nullptr, HURRAY_ERR_INVALID_SYNC_MODE});
        all.push_back({static_cast<std::uint8_t>(mode), nullptr, &right_stream, HURRAY_ERR_INVALID_SYNC_MODE});
    }
    for (const Wrong& wrong : all) {
        const HurrayBufferHandleBytes bytes = handle_bytes(wrong.mode);
        auto* buffer = reinterpret_cast<HurrayBuffer*>(memory);
        EXPECT_EQ(hurray_buffer_handoff(&bytes, memory, &fake_memory_release, device, wrong.event, wrong.stream, &buffer, &error), wrong.status)
            << int{wrong.mode} << ": " << error.message;
        EXPECT_EQ(buffer, nullptr);
        EXPECT_EQ(error.code, wrong.status);
    }
    EXPECT_EQ(fake_event_release_count(device, event), 0U);
    EXPECT_EQ(fake_memory_release_count(device, memory), 0U);
    EXPECT_EQ(fake_violation_count(device), 0U) << log();
}

TEST_F(HandoffTest, AHandoffThatFailsIsMarkedAsSuch) {
    fake_stream_write(device, producer, memory);
    void* event = recorded_event(producer);
    // Misaligned by one byte: the mode is right, the memory is not.
    HurrayBuffer* buffer = nullptr;
    EXPECT_EQ(hand_off(static_cast<unsigned char*>(memory) + 1, HURRAY_SYNC_EVENT, event, &buffer), HURRAY_ERR_MISALIGNED);
    EXPECT_EQ(buffer, nullptr);
    EXPECT_EQ(fake_violation_count(device), 0U) << log();
    // Both are the producer's still.
    destroy(handed_off(HURRAY_SYNC_EVENT, event));
    expect_clean();
}

}  // namespace

// The fake device accepts every correct order, and names each violation. Tests of bindings lean on both.
#include "tests/conformance/device/fake_device.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

std::string log_of(FakeDevice* device) {
    std::string text(fake_log_copy(device, nullptr, 0) + 1, '?');
    EXPECT_EQ(fake_log_copy(device, text.data(), text.size()), text.size() - 1);
    EXPECT_EQ(text.back(), '\0');
    text.pop_back();
    return text;
}

std::string message_of(FakeDevice* device, std::uint64_t index) {
    std::string text(fake_violation_message_copy(device, index, nullptr, 0) + 1, '?');
    fake_violation_message_copy(device, index, text.data(), text.size());
    text.pop_back();
    return text;
}

class FakeDeviceTest : public ::testing::Test {
protected:
    FakeDevice* device = fake_device_new();
    void* producer = fake_stream_new(device, "producer");
    void* consumer = fake_stream_new(device, "consumer");
    void* other = fake_stream_new(device, "other");
    void* memory = fake_memory_new(device, 256);

    ~FakeDeviceTest() override { fake_device_destroy(device); }

    void* recorded_event(void* stream) {
        void* event = fake_event_new(device);
        EXPECT_EQ(fake_event_record(device, event, stream), FAKE_OK);
        return event;
    }

    FakeViolation hand_off(std::uint8_t mode, void* event_or_stream) {
        const FakeViolation begin = fake_handoff_begin(device, memory, mode, event_or_stream);
        const FakeViolation returned = fake_handoff_returned(device, memory, mode, event_or_stream);
        EXPECT_TRUE(begin == FAKE_OK || returned == FAKE_OK) << "told twice";
        return begin != FAKE_OK ? begin : returned;
    }

    /// Exactly one violation, of this kind, which the log names, too.
    void expect_only(FakeViolation kind) {
        ASSERT_EQ(fake_violation_count(device), 1U) << log_of(device);
        EXPECT_EQ(fake_violation_kind(device, 0), kind) << log_of(device);
        EXPECT_EQ(fake_violation_count_of(device, kind), 1U);
        EXPECT_NE(log_of(device).find(std::string("violation ") + fake_violation_name(kind) + ": " + message_of(device, 0)),
                  std::string::npos)
            << log_of(device);
    }
};

// --- Correct orders ---

TEST_F(FakeDeviceTest, ProducerSyncedInOrder) {
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(fake_host_wait_stream(device, producer), FAKE_OK);
    EXPECT_EQ(hand_off(FAKE_MODE_PRODUCER_SYNCED, nullptr), FAKE_OK);
    EXPECT_EQ(fake_host_read(device, memory), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, consumer, memory), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, other, memory), FAKE_OK);
    fake_memory_release(memory, device);
    EXPECT_EQ(fake_device_finish(device), FAKE_OK);
    EXPECT_EQ(log_of(device),
              "write memory 1 on producer\n"
              "wait host for producer\n"
              "handoff begins memory 1 mode 0\n"
              "handoff returned memory 1 mode 0\n"
              "host read memory 1\n"
              "read memory 1 on consumer\n"
              "read memory 1 on other\n"
              "release memory 1\n");
}

TEST_F(FakeDeviceTest, ProducerSyncedThroughAnEventOfTheProducersOwn) {
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    void* event = recorded_event(producer);
    EXPECT_EQ(fake_host_wait_event(device, event), FAKE_OK);
    EXPECT_EQ(hand_off(FAKE_MODE_PRODUCER_SYNCED, nullptr), FAKE_OK);
    fake_event_release(event, device);
    fake_memory_release(memory, device);
    EXPECT_EQ(fake_device_finish(device), FAKE_OK) << log_of(device);
    EXPECT_EQ(fake_violation_count(device), 0U);
}

TEST_F(FakeDeviceTest, HostWrittenMemoryNeedsNoWait) {
    EXPECT_EQ(fake_host_write(device, memory), FAKE_OK);
    EXPECT_EQ(hand_off(FAKE_MODE_PRODUCER_SYNCED, nullptr), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, consumer, memory), FAKE_OK);
    EXPECT_EQ(hand_off(FAKE_MODE_CONSUMER_STREAM, consumer), FAKE_OK);
    EXPECT_EQ(fake_violation_count(device), 0U);
}

TEST_F(FakeDeviceTest, EventInOrder) {
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    void* event = recorded_event(producer);
    EXPECT_EQ(hand_off(FAKE_MODE_EVENT, event), FAKE_OK);
    EXPECT_EQ(fake_events_outstanding(device), 1U);
    EXPECT_EQ(fake_stream_wait_event(device, consumer, event), FAKE_OK);
    EXPECT_EQ(fake_stream_wait_event(device, other, event), FAKE_OK);
    fake_event_release(event, device);
    EXPECT_EQ(fake_events_outstanding(device), 0U);
    EXPECT_EQ(fake_stream_read(device, consumer, memory), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, other, memory), FAKE_OK);
    fake_memory_release(memory, device);
    EXPECT_EQ(fake_device_finish(device), FAKE_OK) << log_of(device);
    EXPECT_EQ(fake_violation_count(device), 0U);
    EXPECT_EQ(fake_event_release_count(device, event), 1U);
    EXPECT_EQ(fake_memory_release_count(device, memory), 1U);
    EXPECT_LT(fake_log_find(device, "record event 1", 0), fake_log_find(device, "handoff begins memory 1 mode 1 event 1", 0));
    EXPECT_LT(fake_log_find(device, "wait consumer for event 1", 0), fake_log_find(device, "read memory 1 on consumer", 0));
}

TEST_F(FakeDeviceTest, EventOverTwoWritingStreams) {
    EXPECT_EQ(fake_stream_write(device, other, memory), FAKE_OK);
    EXPECT_EQ(fake_stream_wait_stream(device, producer, other), FAKE_OK);
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    void* event = recorded_event(producer);
    EXPECT_EQ(hand_off(FAKE_MODE_EVENT, event), FAKE_OK);
    EXPECT_EQ(fake_stream_wait_event(device, consumer, event), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, consumer, memory), FAKE_OK);
    EXPECT_EQ(fake_violation_count(device), 0U);
}

TEST_F(FakeDeviceTest, AnEventMayBeRecordedAgainBeforeItsHandoff) {
    void* event = recorded_event(producer);
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(fake_event_record(device, event, producer), FAKE_OK);
    EXPECT_EQ(hand_off(FAKE_MODE_EVENT, event), FAKE_OK);
    EXPECT_EQ(fake_host_wait_event(device, event), FAKE_OK);
    EXPECT_EQ(fake_host_read(device, memory), FAKE_OK);
    EXPECT_EQ(fake_violation_count(device), 0U);
}

TEST_F(FakeDeviceTest, OneEventForTwoBuffersOwesTwoReleases) {
    void* second = fake_memory_new(device, 64);
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(fake_stream_write(device, producer, second), FAKE_OK);
    void* event = recorded_event(producer);
    EXPECT_EQ(hand_off(FAKE_MODE_EVENT, event), FAKE_OK);
    EXPECT_EQ(fake_handoff_begin(device, second, FAKE_MODE_EVENT, event), FAKE_OK);
    EXPECT_EQ(fake_handoff_returned(device, second, FAKE_MODE_EVENT, event), FAKE_OK);
    EXPECT_EQ(fake_events_outstanding(device), 2U);
    fake_event_release(event, device);
    EXPECT_EQ(fake_stream_wait_event(device, consumer, event), FAKE_OK);
    fake_event_release(event, device);
    EXPECT_EQ(fake_events_outstanding(device), 0U);
    EXPECT_EQ(fake_memory_outstanding(device), 2U);
    fake_memory_release(memory, device);
    fake_memory_release(second, device);
    EXPECT_EQ(fake_device_finish(device), FAKE_OK);
    EXPECT_EQ(fake_violation_count(device), 0U);
    fake_event_release(event, device);
    expect_only(FAKE_EVENT_RELEASED_TWICE);
}

TEST_F(FakeDeviceTest, ConsumerStreamInOrder) {
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(fake_handoff_begin(device, memory, FAKE_MODE_CONSUMER_STREAM, consumer), FAKE_OK);
    EXPECT_EQ(fake_stream_wait_stream(device, consumer, producer), FAKE_OK);
    EXPECT_EQ(fake_handoff_returned(device, memory, FAKE_MODE_CONSUMER_STREAM, consumer), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, consumer, memory), FAKE_OK);
    EXPECT_EQ(fake_stream_wait_stream(device, other, consumer), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, other, memory), FAKE_OK);
    fake_memory_release(memory, device);
    EXPECT_EQ(fake_device_finish(device), FAKE_OK);
    EXPECT_EQ(fake_violation_count(device), 0U);
}

TEST_F(FakeDeviceTest, ConsumerStreamThroughAnEventOfTheProducersOwn) {
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    void* event = recorded_event(producer);
    EXPECT_EQ(fake_handoff_begin(device, memory, FAKE_MODE_CONSUMER_STREAM, consumer), FAKE_OK);
    EXPECT_EQ(fake_stream_wait_event(device, consumer, event), FAKE_OK);
    EXPECT_EQ(fake_handoff_returned(device, memory, FAKE_MODE_CONSUMER_STREAM, consumer), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, consumer, memory), FAKE_OK);
    EXPECT_EQ(fake_violation_count(device), 0U);
}

TEST_F(FakeDeviceTest, AWriterWaitsForReaders) {
    EXPECT_EQ(fake_stream_read(device, consumer, memory), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, other, memory), FAKE_OK);
    EXPECT_EQ(fake_stream_wait_stream(device, producer, consumer), FAKE_OK);
    EXPECT_EQ(fake_stream_wait_stream(device, producer, other), FAKE_OK);
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(fake_host_wait_stream(device, producer), FAKE_OK);
    EXPECT_EQ(fake_host_write(device, memory), FAKE_OK);
    EXPECT_EQ(fake_violation_count(device), 0U);
}

TEST_F(FakeDeviceTest, AFailedHandoffOwesNothing) {
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    void* event = recorded_event(producer);
    EXPECT_EQ(fake_handoff_begin(device, memory, FAKE_MODE_EVENT, event), FAKE_OK);
    EXPECT_EQ(fake_handoff_failed(device, memory, FAKE_MODE_EVENT, event), FAKE_OK);
    EXPECT_EQ(fake_device_finish(device), FAKE_OK);
    // It is the producer's again: recorded anew, released by itself.
    EXPECT_EQ(fake_event_record(device, event, producer), FAKE_OK);
    fake_event_release(event, device);
    fake_memory_release(memory, device);
    EXPECT_EQ(fake_violation_count(device), 0U) << log_of(device);
}

TEST_F(FakeDeviceTest, AnyAddressOfTheMemoryMeansTheWhole) {
    auto* const bytes = static_cast<unsigned char*>(memory);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0U);
    EXPECT_EQ(bytes[255], 0);
    EXPECT_EQ(fake_stream_write(device, producer, bytes), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, producer, bytes + 255), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, consumer, bytes + 100), FAKE_UNORDERED_READ);
    EXPECT_EQ(fake_stream_read(device, producer, bytes + 256), FAKE_UNKNOWN_HANDLE);
}

TEST_F(FakeDeviceTest, EmptyMemoryHasAnAddressOfItsOwn) {
    void* empty = fake_memory_new(device, 0);
    ASSERT_NE(empty, nullptr);
    EXPECT_EQ(fake_stream_write(device, producer, empty), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, consumer, empty), FAKE_UNORDERED_READ);
    EXPECT_EQ(fake_stream_read(device, producer, static_cast<unsigned char*>(empty) + 1), FAKE_UNKNOWN_HANDLE);
    EXPECT_EQ(fake_memory_new(device, UINT64_MAX), nullptr);
}

TEST_F(FakeDeviceTest, RegisteredMemoryMayComeAgainAfterItsRelease) {
    unsigned char mine[16] = {7};
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(fake_memory_register(device, mine, sizeof mine), FAKE_OK);
        EXPECT_EQ(fake_handoff_begin(device, mine, FAKE_MODE_PRODUCER_SYNCED, nullptr), FAKE_OK);
        EXPECT_EQ(fake_handoff_returned(device, mine, FAKE_MODE_PRODUCER_SYNCED, nullptr), FAKE_OK);
        fake_memory_release(mine, device);
        EXPECT_EQ(fake_memory_release_count(device, mine), 1U);
    }
    EXPECT_EQ(mine[0], 7);
    EXPECT_EQ(fake_device_finish(device), FAKE_OK);
    EXPECT_EQ(fake_violation_count(device), 0U);
}

// --- Each violation ---

TEST_F(FakeDeviceTest, UnorderedReadOnAStream) {
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    void* event = recorded_event(producer);
    EXPECT_EQ(hand_off(FAKE_MODE_EVENT, event), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, consumer, memory), FAKE_UNORDERED_READ);
    expect_only(FAKE_UNORDERED_READ);
    EXPECT_EQ(message_of(device, 0), "the read of memory 1 by consumer is not ordered after its write by producer (line 0)");
}

TEST_F(FakeDeviceTest, UnorderedReadByTheHost) {
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(fake_host_read(device, memory), FAKE_UNORDERED_READ);
    expect_only(FAKE_UNORDERED_READ);
}

TEST_F(FakeDeviceTest, AWaitOnOneStreamOrdersNoOther) {
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(fake_stream_wait_stream(device, consumer, producer), FAKE_OK);
    EXPECT_EQ(hand_off(FAKE_MODE_CONSUMER_STREAM, consumer), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, consumer, memory), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, other, memory), FAKE_UNORDERED_READ);
    expect_only(FAKE_UNORDERED_READ);
}

TEST_F(FakeDeviceTest, AWaitBeforeTheWriteIsTooEarly) {
    EXPECT_EQ(fake_stream_wait_stream(device, consumer, producer), FAKE_OK);
    EXPECT_EQ(fake_host_wait_stream(device, producer), FAKE_OK);
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, consumer, memory), FAKE_UNORDERED_READ);
    expect_only(FAKE_UNORDERED_READ);
}

TEST_F(FakeDeviceTest, TheHostsWaitForAnotherStreamOrdersNothing) {
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(fake_host_wait_stream(device, other), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, consumer, memory), FAKE_UNORDERED_READ);
    expect_only(FAKE_UNORDERED_READ);
}

TEST_F(FakeDeviceTest, UnorderedWriteAfterAWrite) {
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(fake_stream_write(device, consumer, memory), FAKE_UNORDERED_WRITE);
    expect_only(FAKE_UNORDERED_WRITE);
}

TEST_F(FakeDeviceTest, UnorderedWriteAfterARead) {
    EXPECT_EQ(fake_stream_read(device, consumer, memory), FAKE_OK);
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_UNORDERED_WRITE);
    expect_only(FAKE_UNORDERED_WRITE);
    EXPECT_EQ(message_of(device, 0), "the write of memory 1 by producer is not ordered after its read by consumer (line 0)");
}

TEST_F(FakeDeviceTest, UnorderedWriteByTheHost) {
    EXPECT_EQ(fake_stream_read(device, consumer, memory), FAKE_OK);
    EXPECT_EQ(fake_host_write(device, memory), FAKE_UNORDERED_WRITE);
    expect_only(FAKE_UNORDERED_WRITE);
}

TEST_F(FakeDeviceTest, WaitForAnUnrecordedEvent) {
    void* event = fake_event_new(device);
    EXPECT_EQ(fake_stream_wait_event(device, consumer, event), FAKE_WAIT_UNRECORDED);
    expect_only(FAKE_WAIT_UNRECORDED);
    EXPECT_EQ(fake_host_wait_event(device, event), FAKE_WAIT_UNRECORDED);
    EXPECT_EQ(fake_violation_count(device), 2U);
}

TEST_F(FakeDeviceTest, HandoffUnsynced) {
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(hand_off(FAKE_MODE_PRODUCER_SYNCED, nullptr), FAKE_HANDOFF_UNSYNCED);
    expect_only(FAKE_HANDOFF_UNSYNCED);
}

TEST_F(FakeDeviceTest, HandoffUnsyncedAWaitForOneOfTwoWriters) {
    EXPECT_EQ(fake_stream_write(device, other, memory), FAKE_OK);
    EXPECT_EQ(fake_host_wait_stream(device, other), FAKE_OK);
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(fake_host_wait_stream(device, other), FAKE_OK);
    EXPECT_EQ(hand_off(FAKE_MODE_PRODUCER_SYNCED, nullptr), FAKE_HANDOFF_UNSYNCED);
    expect_only(FAKE_HANDOFF_UNSYNCED);
}

TEST_F(FakeDeviceTest, AWriteDuringTheHandoff) {
    EXPECT_EQ(fake_handoff_begin(device, memory, FAKE_MODE_PRODUCER_SYNCED, nullptr), FAKE_OK);
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(fake_handoff_returned(device, memory, FAKE_MODE_PRODUCER_SYNCED, nullptr), FAKE_HANDOFF_UNSYNCED);
    expect_only(FAKE_HANDOFF_UNSYNCED);
}

TEST_F(FakeDeviceTest, HandoffWithAnUnrecordedEvent) {
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(hand_off(FAKE_MODE_EVENT, fake_event_new(device)), FAKE_HANDOFF_EVENT_UNRECORDED);
    expect_only(FAKE_HANDOFF_EVENT_UNRECORDED);
}

TEST_F(FakeDeviceTest, HandoffWithAnEventThatWasRecordedTooEarly) {
    void* event = recorded_event(producer);
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(hand_off(FAKE_MODE_EVENT, event), FAKE_HANDOFF_EVENT_MISSES_WRITE);
    expect_only(FAKE_HANDOFF_EVENT_MISSES_WRITE);
}

TEST_F(FakeDeviceTest, HandoffWithAnEventOfAnotherStream) {
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(hand_off(FAKE_MODE_EVENT, recorded_event(other)), FAKE_HANDOFF_EVENT_MISSES_WRITE);
    expect_only(FAKE_HANDOFF_EVENT_MISSES_WRITE);
}

TEST_F(FakeDeviceTest, EventRecordedLate) {
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    void* event = fake_event_new(device);
    EXPECT_EQ(hand_off(FAKE_MODE_EVENT, event), FAKE_HANDOFF_EVENT_UNRECORDED);
    fake_violations_clear(device);
    EXPECT_EQ(fake_event_record(device, event, producer), FAKE_EVENT_RECORDED_LATE);
    expect_only(FAKE_EVENT_RECORDED_LATE);
}

TEST_F(FakeDeviceTest, EventRecordedAgainAfterItsHandoff) {
    void* event = recorded_event(producer);
    EXPECT_EQ(fake_handoff_begin(device, memory, FAKE_MODE_EVENT, event), FAKE_OK);
    EXPECT_EQ(fake_event_record(device, event, producer), FAKE_EVENT_RECORDED_LATE);
    expect_only(FAKE_EVENT_RECORDED_LATE);
}

TEST_F(FakeDeviceTest, HandoffWithoutADependency) {
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(hand_off(FAKE_MODE_CONSUMER_STREAM, consumer), FAKE_HANDOFF_NO_DEPENDENCY);
    expect_only(FAKE_HANDOFF_NO_DEPENDENCY);
}

TEST_F(FakeDeviceTest, HandoffWithTheDependencyTooLate) {
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(fake_handoff_begin(device, memory, FAKE_MODE_CONSUMER_STREAM, consumer), FAKE_OK);
    EXPECT_EQ(fake_handoff_returned(device, memory, FAKE_MODE_CONSUMER_STREAM, consumer), FAKE_HANDOFF_NO_DEPENDENCY);
    EXPECT_EQ(fake_stream_wait_stream(device, consumer, producer), FAKE_OK);
    EXPECT_EQ(fake_stream_read(device, consumer, memory), FAKE_OK);
    expect_only(FAKE_HANDOFF_NO_DEPENDENCY);
}

TEST_F(FakeDeviceTest, HandoffWithTheDependencyTheWrongWayRound) {
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(fake_stream_wait_stream(device, producer, consumer), FAKE_OK);
    EXPECT_EQ(hand_off(FAKE_MODE_CONSUMER_STREAM, consumer), FAKE_HANDOFF_NO_DEPENDENCY);
    expect_only(FAKE_HANDOFF_NO_DEPENDENCY);
}

TEST_F(FakeDeviceTest, EventReleasedTwice) {
    void* event = recorded_event(producer);
    EXPECT_EQ(hand_off(FAKE_MODE_EVENT, event), FAKE_OK);
    fake_event_release(event, device);
    EXPECT_EQ(fake_violation_count(device), 0U);
    fake_event_release(event, device);
    expect_only(FAKE_EVENT_RELEASED_TWICE);
    EXPECT_EQ(fake_event_release_count(device, event), 2U);
}

TEST_F(FakeDeviceTest, EventThatWasNeverHandedOffReleasedTwice) {
    void* event = fake_event_new(device);
    fake_event_release(event, device);
    EXPECT_EQ(fake_violation_count(device), 0U);
    fake_event_release(event, device);
    expect_only(FAKE_EVENT_RELEASED_TWICE);
}

TEST_F(FakeDeviceTest, EventNeverReleased) {
    EXPECT_EQ(hand_off(FAKE_MODE_EVENT, recorded_event(producer)), FAKE_OK);
    fake_memory_release(memory, device);
    EXPECT_EQ(fake_device_finish(device), FAKE_EVENT_NEVER_RELEASED);
    expect_only(FAKE_EVENT_NEVER_RELEASED);
}

TEST_F(FakeDeviceTest, EventUsedAfterItsRelease) {
    void* event = recorded_event(producer);
    EXPECT_EQ(hand_off(FAKE_MODE_EVENT, event), FAKE_OK);
    fake_event_release(event, device);
    EXPECT_EQ(fake_stream_wait_event(device, consumer, event), FAKE_EVENT_USED_AFTER_RELEASE);
    expect_only(FAKE_EVENT_USED_AFTER_RELEASE);
    EXPECT_EQ(fake_host_wait_event(device, event), FAKE_EVENT_USED_AFTER_RELEASE);
    EXPECT_EQ(fake_event_record(device, event, producer), FAKE_EVENT_USED_AFTER_RELEASE);
    EXPECT_EQ(fake_handoff_begin(device, memory, FAKE_MODE_EVENT, event), FAKE_EVENT_USED_AFTER_RELEASE);
    EXPECT_EQ(fake_violation_count_of(device, FAKE_EVENT_USED_AFTER_RELEASE), 4U);
}

TEST_F(FakeDeviceTest, MemoryReleasedTwice) {
    EXPECT_EQ(hand_off(FAKE_MODE_PRODUCER_SYNCED, nullptr), FAKE_OK);
    fake_memory_release(memory, device);
    fake_memory_release(memory, device);
    expect_only(FAKE_MEMORY_RELEASED_TWICE);
}

TEST_F(FakeDeviceTest, MemoryNeverReleased) {
    EXPECT_EQ(hand_off(FAKE_MODE_PRODUCER_SYNCED, nullptr), FAKE_OK);
    EXPECT_EQ(fake_memory_outstanding(device), 1U);
    EXPECT_EQ(fake_device_finish(device), FAKE_MEMORY_NEVER_RELEASED);
    expect_only(FAKE_MEMORY_NEVER_RELEASED);
}

TEST_F(FakeDeviceTest, MemoryUsedAfterItsRelease) {
    fake_memory_release(memory, device);
    EXPECT_EQ(fake_stream_read(device, consumer, memory), FAKE_MEMORY_USED_AFTER_RELEASE);
    expect_only(FAKE_MEMORY_USED_AFTER_RELEASE);
    EXPECT_EQ(fake_stream_write(device, consumer, memory), FAKE_MEMORY_USED_AFTER_RELEASE);
    EXPECT_EQ(fake_host_read(device, memory), FAKE_MEMORY_USED_AFTER_RELEASE);
    EXPECT_EQ(fake_host_write(device, memory), FAKE_MEMORY_USED_AFTER_RELEASE);
    EXPECT_EQ(fake_handoff_begin(device, memory, FAKE_MODE_PRODUCER_SYNCED, nullptr), FAKE_MEMORY_USED_AFTER_RELEASE);
    EXPECT_EQ(fake_violation_count_of(device, FAKE_MEMORY_USED_AFTER_RELEASE), 5U);
}

TEST_F(FakeDeviceTest, UnknownHandles) {
    FakeDevice* elsewhere = fake_device_new();
    void* foreign_stream = fake_stream_new(elsewhere, nullptr);
    void* foreign_event = fake_event_new(elsewhere);
    void* foreign_memory = fake_memory_new(elsewhere, 8);
    void* event = recorded_event(producer);
    void* const nothing = nullptr;
    std::uint64_t expected = 0;
    const auto unknown = [&](FakeViolation found) {
        EXPECT_EQ(found, FAKE_UNKNOWN_HANDLE);
        EXPECT_EQ(fake_violation_count_of(device, FAKE_UNKNOWN_HANDLE), ++expected) << log_of(device);
    };
    for (void* wrong : {foreign_stream, foreign_event, foreign_memory, nothing}) {
        unknown(fake_event_record(device, wrong, producer));
        unknown(fake_event_record(device, event, wrong));
        unknown(fake_stream_wait_event(device, wrong, event));
        unknown(fake_stream_wait_event(device, consumer, wrong));
        unknown(fake_stream_wait_stream(device, wrong, producer));
        unknown(fake_stream_wait_stream(device, consumer, wrong));
        unknown(fake_host_wait_stream(device, wrong));
        unknown(fake_host_wait_event(device, wrong));
        unknown(fake_stream_read(device, wrong, memory));
        unknown(fake_stream_read(device, consumer, wrong));
        unknown(fake_stream_write(device, wrong, memory));
        unknown(fake_stream_write(device, consumer, wrong));
        unknown(fake_host_read(device, wrong));
        unknown(fake_host_write(device, wrong));
        unknown(fake_handoff_begin(device, wrong, FAKE_MODE_PRODUCER_SYNCED, nullptr));
        fake_event_release(wrong, device);
        unknown(FAKE_UNKNOWN_HANDLE);
        fake_memory_release(wrong, device);
        unknown(FAKE_UNKNOWN_HANDLE);
    }
    // Released with a pointer that is not the one that was handed off.
    fake_memory_release(static_cast<unsigned char*>(memory) + 1, device);
    unknown(FAKE_UNKNOWN_HANDLE);
    EXPECT_EQ(fake_memory_release_count(device, memory), 0U);
    EXPECT_EQ(fake_violation_count(elsewhere), 0U);
    fake_device_destroy(elsewhere);
}

TEST_F(FakeDeviceTest, HandoffUnpaired) {
    EXPECT_EQ(fake_handoff_returned(device, memory, FAKE_MODE_PRODUCER_SYNCED, nullptr), FAKE_HANDOFF_UNPAIRED);
    expect_only(FAKE_HANDOFF_UNPAIRED);
    EXPECT_EQ(fake_handoff_failed(device, memory, FAKE_MODE_PRODUCER_SYNCED, nullptr), FAKE_HANDOFF_UNPAIRED);
    EXPECT_EQ(fake_handoff_begin(device, memory, FAKE_MODE_CONSUMER_STREAM, consumer), FAKE_OK);
    EXPECT_EQ(fake_handoff_returned(device, memory, FAKE_MODE_CONSUMER_STREAM, other), FAKE_HANDOFF_UNPAIRED);
    EXPECT_EQ(fake_handoff_returned(device, memory, FAKE_MODE_PRODUCER_SYNCED, nullptr), FAKE_HANDOFF_UNPAIRED);
    EXPECT_EQ(fake_violation_count_of(device, FAKE_HANDOFF_UNPAIRED), 4U);
}

TEST_F(FakeDeviceTest, HandoffThatNeverCameBack) {
    EXPECT_EQ(fake_handoff_begin(device, memory, FAKE_MODE_PRODUCER_SYNCED, nullptr), FAKE_OK);
    EXPECT_EQ(fake_device_finish(device), FAKE_HANDOFF_UNPAIRED);
    expect_only(FAKE_HANDOFF_UNPAIRED);
}

TEST_F(FakeDeviceTest, HandoffBadMode) {
    void* event = recorded_event(producer);
    const std::vector<std::pair<std::uint8_t, void*>> wrong = {
        {FAKE_MODE_PRODUCER_SYNCED, event},
        {FAKE_MODE_PRODUCER_SYNCED, consumer},
        {FAKE_MODE_EVENT, nullptr},
        {FAKE_MODE_EVENT, consumer},
        {FAKE_MODE_CONSUMER_STREAM, nullptr},
        {FAKE_MODE_CONSUMER_STREAM, event},
        {3, nullptr},
        {0xFE, event},
        {0xFF, nullptr},
    };
    for (const auto& [mode, handle] : wrong) {
        EXPECT_EQ(fake_handoff_begin(device, memory, mode, handle), FAKE_HANDOFF_BAD_MODE) << int{mode};
        expect_only(FAKE_HANDOFF_BAD_MODE);
        fake_violations_clear(device);
    }
}

TEST_F(FakeDeviceTest, AFailedHandoffThatReleasedTheMemory) {
    EXPECT_EQ(fake_handoff_begin(device, memory, FAKE_MODE_PRODUCER_SYNCED, nullptr), FAKE_OK);
    fake_memory_release(memory, device);
    EXPECT_EQ(fake_handoff_failed(device, memory, FAKE_MODE_PRODUCER_SYNCED, nullptr), FAKE_RELEASED_BY_FAILED_HANDOFF);
    expect_only(FAKE_RELEASED_BY_FAILED_HANDOFF);
}

TEST_F(FakeDeviceTest, AFailedHandoffThatReleasedTheEvent) {
    void* event = recorded_event(producer);
    EXPECT_EQ(fake_handoff_begin(device, memory, FAKE_MODE_EVENT, event), FAKE_OK);
    fake_event_release(event, device);
    EXPECT_EQ(fake_handoff_failed(device, memory, FAKE_MODE_EVENT, event), FAKE_RELEASED_BY_FAILED_HANDOFF);
    expect_only(FAKE_RELEASED_BY_FAILED_HANDOFF);
}

// --- The rest ---

TEST_F(FakeDeviceTest, NamesOfTheKinds) {
    std::set<std::string> names;
    for (FakeViolation kind = 0; kind < FAKE_VIOLATION_KINDS; ++kind) names.insert(fake_violation_name(kind));
    EXPECT_EQ(names.size(), std::size_t{FAKE_VIOLATION_KINDS});
    EXPECT_EQ(names.count("?"), 0U);
    EXPECT_STREQ(fake_violation_name(FAKE_RELEASED_BY_FAILED_HANDOFF), "RELEASED_BY_FAILED_HANDOFF");
    EXPECT_STREQ(fake_violation_name(FAKE_VIOLATION_KINDS), "?");
    EXPECT_STREQ(fake_violation_name(UINT32_MAX), "?");
}

TEST_F(FakeDeviceTest, LogIsCopiedInWholeAndInPart) {
    fake_log_mark(device, "one");
    fake_log_mark(device, "two");
    EXPECT_EQ(fake_log_length(device), 2U);
    EXPECT_EQ(fake_log_find(device, "mark ", 0), 0);
    EXPECT_EQ(fake_log_find(device, "mark ", 1), 1);
    EXPECT_EQ(fake_log_find(device, "mark ", 2), -1);
    EXPECT_EQ(fake_log_find(device, "two", 0), -1);
    const std::string whole = "mark one\nmark two\n";
    for (std::size_t capacity = 0; capacity <= whole.size() + 2; ++capacity) {
        std::vector<char> out(capacity + 1, '#');
        EXPECT_EQ(fake_log_copy(device, out.data(), capacity), whole.size());
        EXPECT_EQ(out[capacity], '#');
        if (capacity > 0) {
            EXPECT_EQ(std::string(out.data()), whole.substr(0, capacity - 1));
        }
    }
    char line[16];
    EXPECT_EQ(fake_log_line_copy(device, 1, line, sizeof line), 8U);
    EXPECT_STREQ(line, "mark two");
    EXPECT_EQ(fake_log_line_copy(device, 2, line, sizeof line), 0U);
    EXPECT_STREQ(line, "");
    EXPECT_EQ(fake_log_line_thread(device, 0), fake_current_thread());
    EXPECT_EQ(fake_log_line_thread(device, 2), 0U);
}

TEST_F(FakeDeviceTest, StreamsHaveNamesAndALimit) {
    void* unnamed = fake_stream_new(device, nullptr);
    void* longest = fake_stream_new(device, "0123456789012345678901234567890123456789");
    EXPECT_EQ(fake_stream_wait_stream(device, unnamed, longest), FAKE_OK);
    EXPECT_EQ(log_of(device), "wait stream 4 for 0123456789012345678901234567890\n");
    for (int i = 5; i < 63; ++i) EXPECT_NE(fake_stream_new(device, "s"), nullptr) << i;
    EXPECT_EQ(fake_stream_new(device, "s"), nullptr);
}

TEST_F(FakeDeviceTest, ResetForgetsEverything) {
    EXPECT_EQ(fake_stream_write(device, producer, memory), FAKE_OK);
    EXPECT_EQ(hand_off(FAKE_MODE_PRODUCER_SYNCED, nullptr), FAKE_HANDOFF_UNSYNCED);
    fake_device_reset(device);
    EXPECT_EQ(fake_violation_count(device), 0U);
    EXPECT_EQ(fake_log_length(device), 0U);
    EXPECT_EQ(fake_device_finish(device), FAKE_OK);
    EXPECT_EQ(fake_host_wait_stream(device, producer), FAKE_UNKNOWN_HANDLE);
}

TEST_F(FakeDeviceTest, CallbacksForADeviceThatIsGoneAreStray) {
    const std::uint64_t before = fake_stray_calls();
    FakeDevice* gone = fake_device_new();
    void* event = fake_event_new(gone);
    fake_device_destroy(gone);
    fake_event_release(event, gone);
    fake_memory_release(memory, gone);
    fake_memory_release(memory, nullptr);
    EXPECT_EQ(fake_stray_calls(), before + 3);
    EXPECT_EQ(fake_memory_release_count(device, memory), 0U);
    EXPECT_EQ(fake_host_write(gone, memory), FAKE_UNKNOWN_HANDLE);
    EXPECT_EQ(fake_stream_new(gone, "s"), nullptr);
    EXPECT_EQ(fake_log_length(gone), 0U);
    fake_device_reset(gone);
    fake_device_destroy(gone);
    fake_device_destroy(nullptr);
}

TEST_F(FakeDeviceTest, AddressesAreThoseOfTheCallbacks) {
    using Callback = void (*)(void*, void*);
    void* event = recorded_event(producer);
    reinterpret_cast<Callback>(fake_event_release_address())(event, device);
    reinterpret_cast<Callback>(fake_memory_release_address())(memory, device);
    EXPECT_EQ(fake_event_release_count(device, event), 1U);
    EXPECT_EQ(fake_memory_release_count(device, memory), 1U);
}

TEST_F(FakeDeviceTest, ThreadsReleaseAtOnceAndAreTold) {
    constexpr int thread_count = 4;
    constexpr int per_thread = 50;
    std::vector<void*> events;
    for (int i = 0; i < thread_count * per_thread; ++i) {
        events.push_back(recorded_event(producer));
        EXPECT_EQ(hand_off(FAKE_MODE_EVENT, events.back()), FAKE_OK);
    }
    std::vector<std::uint64_t> ids(thread_count);
    std::vector<std::thread> threads;
    for (int t = 0; t < thread_count; ++t) {
        threads.emplace_back([&, t] {
            ids[t] = fake_current_thread();
            for (int i = 0; i < per_thread; ++i) fake_event_release(events[t * per_thread + i], device);
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(std::set<std::uint64_t>(ids.begin(), ids.end()).size(), std::size_t{thread_count});
    for (int i = 0; i < thread_count * per_thread; ++i) {
        EXPECT_EQ(fake_event_release_count(device, events[i]), 1U);
        EXPECT_EQ(fake_event_release_thread(device, events[i]), ids[i / per_thread]);
        EXPECT_NE(ids[i / per_thread], fake_current_thread());
    }
    EXPECT_EQ(fake_events_outstanding(device), 0U);
    EXPECT_EQ(fake_violation_count(device), 0U);
}

TEST_F(FakeDeviceTest, OfManyThreadsOneReleasesFirst) {
    void* event = recorded_event(producer);
    EXPECT_EQ(hand_off(FAKE_MODE_EVENT, event), FAKE_OK);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back([&] { fake_event_release(event, device); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(fake_violation_count_of(device, FAKE_EVENT_RELEASED_TWICE), 3U);
}

}  // namespace

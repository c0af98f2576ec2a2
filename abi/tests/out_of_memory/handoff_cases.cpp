// Handoff and producers: see out_of_memory_test.cpp.
#include "abi/tests/out_of_memory/fixtures.hpp"

namespace {

using namespace hurray_test;

NEEDS_MEMORY(hurray_buffer_handoff) {
    AlignedBytes<64> memory;
    ReleaseCounter events;
    int stream = 0;
    const HurrayEventPayload event = event_of(events);
    const HurrayStreamPayload payload = stream_of(&stream);
    int done = 0;
    for (const std::uint8_t mode : {HURRAY_SYNC_PRODUCER_SYNCED, HURRAY_SYNC_EVENT, HURRAY_SYNC_CONSUMER_STREAM}) {
        ReleaseCounter releases;
        Buffer buffer;
        const auto handle = handle_bytes(HURRAY_DEVICE_CUDA, mode);
        each_allocation_fails(
            [&] {
                return subject(&handle, memory.bytes, &ReleaseCounter::release, &releases,
                               mode == HURRAY_SYNC_EVENT ? &event : nullptr,
                               mode == HURRAY_SYNC_CONSUMER_STREAM ? &payload : nullptr, buffer.out(), &report);
            },
            [&] {
                EXPECT_EQ(buffer.handle, nullptr);
                EXPECT_EQ(releases.calls, 0);
                EXPECT_EQ(events.calls, 0) << "the event stays the producer's";
            });
        buffer.end();
        EXPECT_EQ(releases.calls, 1);
        EXPECT_EQ(events.calls, mode == HURRAY_SYNC_EVENT ? 1 : 0);
        events.calls = 0;
        ++done;
    }
    EXPECT_EQ(done, 3);
}
NEEDS_NO_MEMORY(hurray_buffer_event, "the event stands in the handle") {
    AlignedBytes<64> memory;
    ReleaseCounter releases;
    ReleaseCounter events;
    const HurrayEventPayload event = event_of(events);
    Buffer buffer;
    buffer.handle = handed_off(memory, releases, &event, nullptr);
    void* found = nullptr;
    std::uint8_t device = 0;
    EXPECT_EQ(without_memory([&] { return subject(buffer.handle, &found, &device, &report); }), HURRAY_OK);
    EXPECT_EQ(found, &events);
    Lent synced;
    EXPECT_EQ(without_memory([&] { return subject(synced.buffer.handle, &found, &device, &report); }), HURRAY_ERR_SYNC_MODE_MISMATCH);
}
NEEDS_NO_MEMORY(hurray_buffer_event_release, "calls what stands in the handle") {
    AlignedBytes<64> memory;
    ReleaseCounter releases;
    ReleaseCounter events;
    const HurrayEventPayload event = event_of(events);
    Buffer buffer;
    buffer.handle = handed_off(memory, releases, &event, nullptr);
    EXPECT_EQ(without_memory([&] { return subject(buffer.handle, &report); }), HURRAY_OK);
    EXPECT_EQ(events.calls, 1);
    EXPECT_EQ(without_memory([&] { return subject(buffer.handle, &report); }), HURRAY_ERR_INVALID_HANDLE);
}
NEEDS_NO_MEMORY(hurray_buffer_stream, "the stream stands in the handle") {
    AlignedBytes<64> memory;
    ReleaseCounter releases;
    int stream = 0;
    const HurrayStreamPayload payload = stream_of(&stream);
    Buffer buffer;
    buffer.handle = handed_off(memory, releases, nullptr, &payload);
    void* found = nullptr;
    std::uint8_t device = 0;
    EXPECT_EQ(without_memory([&] { return subject(buffer.handle, &found, &device, &report); }), HURRAY_OK);
    EXPECT_EQ(found, &stream);
}

/// Exports one buffer on the consumer's stream; counts what was made and what came back. Its own needs are met.
struct TestProducer {
    AlignedBytes<64> memory;
    ReleaseCounter releases;
    ReleaseCounter owner_releases;
    int exports = 0;
    int ended = 0;

    static HurrayStatus export_tensor(void* context, void* stream, std::uint8_t device, HurrayBufferList** out_list,
                                      HurrayTensorContext** out_context, HurrayError*) {
        // The allocations of the producer are not those of the function under test.
        const long left = std::exchange(allocations_until_failure, -1);
        const long seen = allocations_seen;
        auto* producer = static_cast<TestProducer*>(context);
        auto descriptor = row_major_descriptor(HURRAY_TYPE_UINT8, {64}, 64);
        HurrayBuffer* buffer = nullptr;
        auto handle = handle_bytes(device, stream == nullptr ? HURRAY_SYNC_PRODUCER_SYNCED : HURRAY_SYNC_CONSUMER_STREAM);
        std::memcpy(descriptor.data() + descriptor.size() - 16, handle.bytes, 16);
        HurrayStreamPayload payload{};
        payload.consumer_stream = stream;
        payload.consumer_stream_device_tag = device;
        EXPECT_EQ(hurray_buffer_handoff(&handle, producer->memory.bytes, &ReleaseCounter::release, &producer->releases, nullptr,
                                        stream == nullptr ? nullptr : &payload, &buffer, nullptr),
                  HURRAY_OK);
        EXPECT_EQ(hurray_buffer_list_new(1, out_list), HURRAY_OK);
        EXPECT_EQ(hurray_buffer_list_push(*out_list, buffer), HURRAY_OK);
        EXPECT_EQ(hurray_tensor_context_new(HURRAY_C_ABI_VERSION, descriptor.data(), descriptor.size(), &producer->owner_releases,
                                            &ReleaseCounter::release_owner, out_context),
                  HURRAY_OK);
        ++producer->exports;
        allocations_until_failure = left;
        allocations_seen = seen;
        return HURRAY_OK;
    }

    HurrayProducer producer() {
        HurrayProducer made{};
        made.struct_size = sizeof made;
        made.abi_version = HURRAY_C_ABI_VERSION;
        made.context = this;
        made.export_tensor = &export_tensor;
        made.release = [](void* context) { ++static_cast<TestProducer*>(context)->ended; };
        return made;
    }
};

NEEDS_MEMORY(hurray_producer_request) {
    TestProducer source;
    const HurrayProducer producer = source.producer();
    int stream = 0;
    Tensor tensor;
    each_allocation_fails([&] { return subject(&producer, &stream, HURRAY_DEVICE_CUDA, tensor.out(), &report); },
                          [&] {
                              EXPECT_EQ(tensor.handle, nullptr);
                              EXPECT_EQ(source.releases.calls, source.exports) << "what was exported has ended, each once";
                              EXPECT_EQ(source.owner_releases.calls, source.exports);
                          });
    EXPECT_EQ(source.releases.calls, source.exports - 1);
    tensor.end();
    EXPECT_EQ(source.releases.calls, source.exports);
    EXPECT_EQ(source.owner_releases.calls, source.exports);
    EXPECT_EQ(source.ended, 0);
}
NEEDS_NO_MEMORY(hurray_producer_release, "calls the producer's own release") {
    TestProducer source;
    HurrayProducer producer = source.producer();
    EXPECT_EQ(without_memory([&] { return subject(&producer, &report); }), HURRAY_OK);
    EXPECT_EQ(without_memory([&] { return subject(&producer, &report); }), HURRAY_OK);
    EXPECT_EQ(source.ended, 1);
}

}  // namespace

// Handoff over the C ABI (seed: Buffer Handoff Synchronisation): the cross-check of mode and payload, and the life of the
// event. The order of device work is proven with the fake device of tests/conformance/device.
#include <array>
#include <thread>
#include <vector>

#include "abi/tests/support.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::ReleaseCounter;

constexpr std::uint8_t own_device = HURRAY_DEVICE_CUDA;
constexpr std::uint8_t other_device = HURRAY_DEVICE_ROCM;

// An event and what became of it.
struct Event {
    std::atomic<int> releases{0};
    void* released_handle = nullptr;

    static void release(void* sync_handle, void* context) {
        auto* event = static_cast<Event*>(context);
        if (event == nullptr) return;
        event->released_handle = sync_handle;
        ++event->releases;
    }
    HurrayEventPayload payload(std::uint8_t device = own_device) { return {this, device, &Event::release, this}; }
};

HurrayBufferHandleBytes handle_bytes(std::uint8_t mode, std::uint8_t device = own_device) {
    return {{64, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, device, mode, HURRAY_MEMORY_STANDARD, 0}};
}

class Handoff : public hurray_test::BaseLineTest {
protected:
    HurrayBuffer* hand_off(const HurrayBufferHandleBytes& bytes, const HurrayEventPayload* event, const HurrayStreamPayload* stream) {
        HurrayBuffer* buffer = nullptr;
        HurrayError error{};
        EXPECT_EQ(hurray_buffer_handoff(&bytes, memory.bytes, &ReleaseCounter::release, &releases, event, stream, &buffer, &error),
                  HURRAY_OK)
            << error.message;
        return buffer;
    }
    HurrayBuffer* hand_off_event() {
        const HurrayEventPayload payload = event.payload();
        return hand_off(handle_bytes(HURRAY_SYNC_EVENT), &payload, nullptr);
    }

    AlignedBytes<64> memory;
    ReleaseCounter releases;
    Event event;
};

// Every sync mode there is, with every combination of payloads: absent, all zero, complete, and with each field missing or
// of another device. The expectation is written down from the seed's text, rule by rule, and not from the implementation.
TEST_F(Handoff, EveryCombinationOfModeAndPayloadIsCrossChecked) {
    struct EventCase {
        const char* what;
        bool given;  // a pointer to a payload at all
        HurrayEventPayload payload;
        bool present;   // any field set
        bool complete;  // handle, function and the buffer's device
    };
    struct StreamCase {
        const char* what;
        bool given;
        HurrayStreamPayload payload;
        bool present;
        bool complete;
    };
    int stream = 0;
    void* const handle = &event;
    const EventCase events[] = {
        {"no event", false, {}, false, false},
        {"all zero", true, {}, false, false},
        {"complete", true, {handle, own_device, &Event::release, &event}, true, true},
        {"complete without context", true, {handle, own_device, &Event::release, nullptr}, true, true},
        {"no handle", true, {nullptr, own_device, &Event::release, &event}, true, false},
        {"no function", true, {handle, own_device, nullptr, &event}, true, false},
        {"device of another", true, {handle, other_device, &Event::release, &event}, true, false},
        {"device of the CPU", true, {handle, HURRAY_DEVICE_CPU, &Event::release, &event}, true, false},
        {"only a context", true, {nullptr, 0, nullptr, &event}, true, false},
        {"only a device", true, {nullptr, own_device, nullptr, nullptr}, true, false},
    };
    const StreamCase streams[] = {
        {"no stream", false, {}, false, false},
        {"all zero", true, {}, false, false},
        {"complete", true, {&stream, own_device}, true, true},
        {"no stream, only a device", true, {nullptr, own_device}, true, false},
        {"device of another", true, {&stream, other_device}, true, false},
        {"device of the CPU", true, {&stream, HURRAY_DEVICE_CPU}, true, false},
    };
    int accepted = 0;
    for (int mode = 0; mode <= 0xFF; ++mode) {
        for (const EventCase& e : events) {
            for (const StreamCase& s : streams) {
                HurrayStatus expected = HURRAY_ERR_INVALID_SYNC_MODE;
                if (mode == HURRAY_SYNC_PRODUCER_SYNCED) {
                    expected = e.present || s.present ? HURRAY_ERR_SYNC_MODE_MISMATCH : HURRAY_OK;
                } else if (mode == HURRAY_SYNC_EVENT) {
                    expected = e.complete && !s.present ? HURRAY_OK : HURRAY_ERR_SYNC_MODE_MISMATCH;
                } else if (mode == HURRAY_SYNC_CONSUMER_STREAM) {
                    expected = s.complete && !e.present ? HURRAY_OK : HURRAY_ERR_SYNC_MODE_MISMATCH;
                }
                event.releases = 0;
                releases.calls = 0;
                const HurrayBufferHandleBytes bytes = handle_bytes(static_cast<std::uint8_t>(mode));
                auto* buffer = reinterpret_cast<HurrayBuffer*>(&stream);
                HurrayError error{};
                const HurrayStatus got =
                    hurray_buffer_handoff(&bytes, memory.bytes, &ReleaseCounter::release, &releases, e.given ? &e.payload : nullptr,
                                          s.given ? &s.payload : nullptr, &buffer, &error);
                ASSERT_EQ(got, expected) << "mode " << mode << ", event " << e.what << ", stream " << s.what << ": " << error.message;
                EXPECT_EQ(error.code, expected);
                if (got != HURRAY_OK) {
                    EXPECT_EQ(buffer, nullptr) << "no handle reaches the consumer";
                    EXPECT_EQ(releases.calls, 0) << "the memory stays the producer's";
                    EXPECT_EQ(event.releases, 0) << "the event stays the producer's";
                    continue;
                }
                ++accepted;
                // The mode is read from the 16 bytes, by the consumer too.
                HurrayBufferHandleBytes read{};
                ASSERT_EQ(hurray_buffer_handle_bytes(buffer, &read, nullptr), HURRAY_OK);
                EXPECT_EQ(std::memcmp(read.bytes, bytes.bytes, 16), 0);
                ASSERT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
                EXPECT_EQ(releases.calls, 1);
                EXPECT_EQ(event.releases, mode == HURRAY_SYNC_EVENT && e.payload.event_release_context != nullptr ? 1 : 0);
            }
        }
    }
    EXPECT_EQ(accepted, 2 * 2 + 2 * 2 + 1 * 2) << "PRODUCER_SYNCED 2x2 absent payloads, EVENT 2 events x 2, CONSUMER_STREAM 1 x 2";
}

// Where an event without a context is released by a function that would need it, the case above could not count.
TEST_F(Handoff, EventWithoutAContextIsReleasedToo) {
    static std::atomic<int> calls{0};
    calls = 0;
    const HurrayEventPayload payload{&event, own_device, [](void*, void*) { ++calls; }, nullptr};
    EXPECT_EQ(hurray_buffer_destroy(hand_off(handle_bytes(HURRAY_SYNC_EVENT), &payload, nullptr)), HURRAY_OK);
    EXPECT_EQ(calls, 1);
}

TEST_F(Handoff, MemoryOfTheCpuIsProducerSynced) {
    const HurrayEventPayload payload = event.payload(HURRAY_DEVICE_CPU);
    int stream = 0;
    const HurrayStreamPayload stream_payload{&stream, HURRAY_DEVICE_CPU};
    HurrayBuffer* buffer = nullptr;
    const auto with_event = handle_bytes(HURRAY_SYNC_EVENT, HURRAY_DEVICE_CPU);
    EXPECT_EQ(hurray_buffer_handoff(&with_event, memory.bytes, nullptr, nullptr, &payload, nullptr, &buffer, nullptr),
              HURRAY_ERR_INVALID_SYNC_MODE);
    const auto with_stream = handle_bytes(HURRAY_SYNC_CONSUMER_STREAM, HURRAY_DEVICE_CPU);
    EXPECT_EQ(hurray_buffer_handoff(&with_stream, memory.bytes, nullptr, nullptr, nullptr, &stream_payload, &buffer, nullptr),
              HURRAY_ERR_INVALID_SYNC_MODE);
    EXPECT_EQ(event.releases, 0);
    EXPECT_EQ(hurray_buffer_destroy(hand_off(handle_bytes(HURRAY_SYNC_PRODUCER_SYNCED, HURRAY_DEVICE_CPU), nullptr, nullptr)), HURRAY_OK);
}

TEST_F(Handoff, OtherFieldsOfTheHandleAreChecked) {
    const HurrayEventPayload payload = event.payload();
    struct Case {
        const char* what;
        std::size_t byte;
        std::uint8_t value;
        HurrayStatus expected;
    };
    const Case cases[] = {
        {"alignment 0", 8, 0, HURRAY_ERR_INVALID_LAYOUT},        {"alignment below 64", 8, 32, HURRAY_ERR_INVALID_LAYOUT},
        {"alignment 65", 8, 65, HURRAY_ERR_INVALID_LAYOUT},      {"reserved device", 12, 0x09, HURRAY_ERR_INVALID_TYPE},
        {"memory class", 14, 0x77, HURRAY_ERR_INVALID_TYPE},     {"byte 15", 15, 1, HURRAY_ERR_INVALID_LAYOUT},
        {"size that wraps around", 7, 0xFF, HURRAY_ERR_INVALID_ARGUMENT},
    };
    for (const Case& c : cases) {
        HurrayBufferHandleBytes bytes = handle_bytes(HURRAY_SYNC_EVENT);
        bytes.bytes[c.byte] = c.value;
        if (c.byte == 7) std::memset(bytes.bytes, 0xFF, 8);
        HurrayBuffer* buffer = nullptr;
        HurrayError error{};
        EXPECT_EQ(hurray_buffer_handoff(&bytes, memory.bytes, &ReleaseCounter::release, &releases, &payload, nullptr, &buffer, &error),
                  c.expected)
            << c.what << ": " << error.message;
        EXPECT_EQ(buffer, nullptr);
    }
    const auto good = handle_bytes(HURRAY_SYNC_EVENT);
    HurrayBuffer* buffer = nullptr;
    EXPECT_EQ(hurray_buffer_handoff(&good, nullptr, nullptr, nullptr, &payload, nullptr, &buffer, nullptr), HURRAY_ERR_NULL_POINTER);
    EXPECT_EQ(hurray_buffer_handoff(&good, memory.bytes + 8, nullptr, nullptr, &payload, nullptr, &buffer, nullptr),
              HURRAY_ERR_MISALIGNED);
    EXPECT_EQ(event.releases, 0);
    EXPECT_EQ(releases.calls, 0);
}

TEST_F(Handoff, EventIsBorrowedUntilItIsReleasedExactlyOnce) {
    HurrayBuffer* buffer = hand_off_event();
    void* handle = nullptr;
    std::uint8_t device = 0xEE;
    ASSERT_EQ(hurray_buffer_event(buffer, &handle, &device, nullptr), HURRAY_OK);
    EXPECT_EQ(handle, &event);
    EXPECT_EQ(device, own_device);
    EXPECT_EQ(event.releases, 0) << "reading it releases nothing";
    ASSERT_EQ(hurray_buffer_event_release(buffer, nullptr), HURRAY_OK);
    EXPECT_EQ(event.releases, 1);
    EXPECT_EQ(event.released_handle, &event);
    EXPECT_EQ(releases.calls, 0) << "the memory has a life of its own";

    HurrayError error{};
    EXPECT_EQ(hurray_buffer_event_release(buffer, &error), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_NE(std::string(error.message).find("released already"), std::string::npos) << error.message;
    EXPECT_EQ(hurray_buffer_event(buffer, &handle, &device, nullptr), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(handle, nullptr);
    EXPECT_EQ(device, 0);
    EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
    EXPECT_EQ(event.releases, 1) << "exactly once";
    EXPECT_EQ(releases.calls, 1);
}

TEST_F(Handoff, BufferThatEndsWithItsEventUnreleasedReleasesIt) {
    EXPECT_EQ(hurray_buffer_destroy(hand_off_event()), HURRAY_OK);
    EXPECT_EQ(event.releases, 1);
    EXPECT_EQ(releases.calls, 1);
}

// The event's release is safe on any thread by contract, so a collector's thread runs it; the memory's waits.
TEST_F(Handoff, DeferredDestroyReleasesTheEventAtOnceAndTheMemoryLater) {
    HurrayBuffer* buffer = hand_off_event();
    std::thread([buffer] { EXPECT_EQ(hurray_buffer_destroy_deferred(buffer, nullptr), HURRAY_OK); }).join();
    EXPECT_EQ(event.releases, 1);
    EXPECT_EQ(releases.calls, 0);
    std::uint64_t drained = 0;
    EXPECT_EQ(hurray_release_queue_drain(nullptr, UINT64_MAX, &drained, nullptr), HURRAY_OK);
    EXPECT_EQ(releases.calls, 1);
}

TEST_F(Handoff, SharesAndSlicesCarryNoEventAndNoStream) {
    int stream = 0;
    const HurrayStreamPayload stream_payload{&stream, own_device};
    HurrayBuffer* const originals[] = {hand_off_event(), hand_off(handle_bytes(HURRAY_SYNC_CONSUMER_STREAM), nullptr, &stream_payload)};
    for (HurrayBuffer* original : originals) {
        HurrayBuffer* share = nullptr;
        HurrayBuffer* slice = nullptr;
        ASSERT_EQ(hurray_buffer_share(original, &share, nullptr), HURRAY_OK);
        ASSERT_EQ(hurray_buffer_slice(original, 0, 64, &slice, nullptr), HURRAY_OK);
        for (HurrayBuffer* part : {share, slice}) {
            void* handle = &stream;
            std::uint8_t device = 1;
            EXPECT_EQ(hurray_buffer_event(part, &handle, &device, nullptr), HURRAY_ERR_SYNC_MODE_MISMATCH);
            EXPECT_EQ(handle, nullptr);
            EXPECT_EQ(hurray_buffer_event_release(part, nullptr), HURRAY_ERR_SYNC_MODE_MISMATCH);
            EXPECT_EQ(hurray_buffer_stream(part, &handle, &device, nullptr), HURRAY_ERR_SYNC_MODE_MISMATCH);
            EXPECT_EQ(hurray_buffer_destroy(part), HURRAY_OK);
            EXPECT_EQ(event.releases, 0);
        }
    }
    for (HurrayBuffer* original : originals) EXPECT_EQ(hurray_buffer_destroy(original), HURRAY_OK);
    EXPECT_EQ(event.releases, 1);
}

TEST_F(Handoff, StreamIsTheConsumersOwn) {
    int stream = 0;
    const HurrayStreamPayload payload{&stream, own_device};
    HurrayBuffer* buffer = hand_off(handle_bytes(HURRAY_SYNC_CONSUMER_STREAM), nullptr, &payload);
    void* got = nullptr;
    std::uint8_t device = 0;
    ASSERT_EQ(hurray_buffer_stream(buffer, &got, &device, nullptr), HURRAY_OK);
    EXPECT_EQ(got, &stream);
    EXPECT_EQ(device, own_device);
    EXPECT_EQ(hurray_buffer_event(buffer, &got, &device, nullptr), HURRAY_ERR_SYNC_MODE_MISMATCH);
    EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
    EXPECT_EQ(event.releases, 0) << "CONSUMER_STREAM has no second release callback";
}

// A release that comes back to the buffer whose event it is, and one that ends that buffer.
TEST_F(Handoff, EventReleaseMayReenterAndMayEndTheBuffer) {
    struct Reentry {
        HurrayBuffer* buffer = nullptr;
        int calls = 0;
        bool destroys = false;
        HurrayStatus again = HURRAY_OK;
        static void release(void*, void* context) {
            auto* self = static_cast<Reentry*>(context);
            ++self->calls;
            self->again = hurray_buffer_event_release(self->buffer, nullptr);
            if (self->destroys) {
                EXPECT_EQ(hurray_buffer_destroy(self->buffer), HURRAY_OK);
            }
        }
    };
    for (const bool destroys : {false, true}) {
        Reentry reentry;
        reentry.destroys = destroys;
        const HurrayEventPayload payload{&reentry, own_device, &Reentry::release, &reentry};
        reentry.buffer = hand_off(handle_bytes(HURRAY_SYNC_EVENT), &payload, nullptr);
        EXPECT_EQ(hurray_buffer_event_release(reentry.buffer, nullptr), HURRAY_OK);
        EXPECT_EQ(reentry.calls, 1);
        EXPECT_EQ(reentry.again, HURRAY_ERR_INVALID_HANDLE);
        if (!destroys) {
            EXPECT_EQ(hurray_buffer_destroy(reentry.buffer), HURRAY_OK);
        }
        EXPECT_EQ(reentry.calls, 1);
    }
    EXPECT_EQ(releases.calls, 2);
}

// Encoded descriptor of float32 [16] in one buffer of the device, with this sync mode.
std::vector<std::uint8_t> device_descriptor(std::uint8_t mode) {
    auto bytes = hurray_test::row_major_descriptor(HURRAY_TYPE_FLOAT32, {16}, 64);
    bytes[bytes.size() - 4] = own_device;
    bytes[bytes.size() - 3] = mode;
    return bytes;
}

HurrayTensor* import_one(HurrayBuffer* buffer, std::uint8_t described_mode, HurrayStatus expected) {
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* context = nullptr;
    HurrayTensor* tensor = nullptr;
    EXPECT_EQ(hurray_buffer_list_new(1, &list), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_list_push(list, buffer), HURRAY_OK);
    const auto bytes = device_descriptor(described_mode);
    EXPECT_EQ(hurray_tensor_context_new(HURRAY_C_ABI_VERSION, bytes.data(), bytes.size(), nullptr, nullptr, &context), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_import(&list, &context, &tensor, nullptr), expected);
    EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_context_destroy(&context), HURRAY_OK);
    return tensor;
}

TEST_F(Handoff, EventTravelsInAListAndIsReleasedThroughTheTensorsBuffer) {
    HurrayTensor* tensor = import_one(hand_off_event(), HURRAY_SYNC_EVENT, HURRAY_OK);
    ASSERT_NE(tensor, nullptr);
    HurrayBuffer* borrowed = nullptr;
    ASSERT_EQ(hurray_tensor_buffer(tensor, 0, &borrowed, nullptr), HURRAY_OK);
    void* handle = nullptr;
    std::uint8_t device = 0;
    ASSERT_EQ(hurray_buffer_event(borrowed, &handle, &device, nullptr), HURRAY_OK);
    EXPECT_EQ(handle, &event);
    EXPECT_EQ(hurray_buffer_event_release(borrowed, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_event_release(borrowed, nullptr), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(event.releases, 1);
    EXPECT_EQ(releases.calls, 1);
}

TEST_F(Handoff, TensorThatEndsReleasesItsEvent) {
    HurrayTensor* tensor = import_one(hand_off_event(), HURRAY_SYNC_EVENT, HURRAY_OK);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(event.releases, 1);
    EXPECT_EQ(releases.calls, 1);
}

TEST_F(Handoff, DescriptorAndBufferMustAgreeAboutTheMode) {
    EXPECT_EQ(import_one(hand_off_event(), HURRAY_SYNC_PRODUCER_SYNCED, HURRAY_ERR_SYNC_MODE_MISMATCH), nullptr);
    EXPECT_EQ(event.releases, 1) << "the list that stayed the caller's was ended";
    const HurrayBufferHandleBytes synced = handle_bytes(HURRAY_SYNC_PRODUCER_SYNCED);
    EXPECT_EQ(import_one(hand_off(synced, nullptr, nullptr), HURRAY_SYNC_EVENT, HURRAY_ERR_SYNC_MODE_MISMATCH), nullptr);
}

// An export makes shares, shares carry no event: a consumer could not wait.
TEST_F(Handoff, ExportOfATensorThatStillNeedsAWaitIsRefused) {
    HurrayTensor* tensor = import_one(hand_off_event(), HURRAY_SYNC_EVENT, HURRAY_OK);
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* context = nullptr;
    HurrayError error{};
    EXPECT_EQ(hurray_tensor_export(tensor, &list, &context, &error), HURRAY_ERR_SYNC_MODE_MISMATCH);
    EXPECT_NE(std::string(error.message).find("hurray_buffer_handoff"), std::string::npos) << error.message;
    EXPECT_EQ(list, nullptr);
    EXPECT_EQ(context, nullptr);
    EXPECT_EQ(event.releases, 0);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
}

}  // namespace

// Producers: tensors on request with the consumer's stream. (seed: SYNC_CONSUMER_STREAM)
#include <array>
#include <vector>

#include "abi/tests/support.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::ReleaseCounter;

constexpr std::uint8_t device = HURRAY_DEVICE_CUDA;

// A producer of float32 [16] that does what a test asks of it.
struct Maker {
    AlignedBytes<64> memory;
    ReleaseCounter releases;
    int exports = 0;
    int ends = 0;
    void* asked_stream = nullptr;
    std::uint8_t asked_device = 0xEE;

    std::uint32_t context_version = HURRAY_C_ABI_VERSION;
    std::uint8_t mode = HURRAY_SYNC_CONSUMER_STREAM;
    void* other_stream = nullptr;  // ordered on this one instead
    HurrayStatus answer = HURRAY_OK;
    const char* message = "";
    bool without_list = false;
    bool without_context = false;

    static void release_event(void*, void*) {}

    static HurrayStatus export_tensor(void* context, void* stream, std::uint8_t stream_device, HurrayBufferList** out_list,
                                      HurrayTensorContext** out_context, HurrayError* error) {
        auto* self = static_cast<Maker*>(context);
        ++self->exports;
        self->asked_stream = stream;
        self->asked_device = stream_device;
        EXPECT_EQ(*out_list, nullptr);
        EXPECT_EQ(*out_context, nullptr);
        if (self->answer != HURRAY_OK) {
            if (error != nullptr) std::snprintf(error->message, sizeof error->message, "%s", self->message);
            return self->answer;
        }
        if (!self->without_list) {
            const HurrayBufferHandleBytes bytes{{64, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, device, self->mode, 0, 0}};
            const HurrayStreamPayload payload{self->other_stream != nullptr ? self->other_stream : stream, device};
            HurrayBuffer* buffer = nullptr;
            const bool ordered = self->mode == HURRAY_SYNC_CONSUMER_STREAM;
            const HurrayStatus made = hurray_buffer_handoff(&bytes, self->memory.bytes, &ReleaseCounter::release, &self->releases,
                                                            nullptr, ordered ? &payload : nullptr, &buffer, error);
            if (made != HURRAY_OK) return made;
            EXPECT_EQ(hurray_buffer_list_new(1, out_list), HURRAY_OK);
            EXPECT_EQ(hurray_buffer_list_push(*out_list, buffer), HURRAY_OK);
        }
        if (!self->without_context) {
            auto bytes = hurray_test::row_major_descriptor(HURRAY_TYPE_FLOAT32, {16}, 64);
            bytes[bytes.size() - 4] = device;
            bytes[bytes.size() - 3] = self->mode;
            EXPECT_EQ(hurray_tensor_context_new(self->context_version, bytes.data(), bytes.size(), nullptr, nullptr, out_context),
                      HURRAY_OK);
        }
        return HURRAY_OK;
    }
    static void release(void* context) { ++static_cast<Maker*>(context)->ends; }

    HurrayProducer producer() { return {sizeof(HurrayProducer), HURRAY_C_ABI_VERSION, this, &export_tensor, &release}; }
};

class Producer : public hurray_test::BaseLineTest {
protected:
    Maker maker;
    int stream = 0;
    HurrayError error{};
    HurrayTensor* tensor = nullptr;

    HurrayStatus request(const HurrayProducer& producer) {
        return hurray_producer_request(&producer, &stream, device, &tensor, &error);
    }
    void expect_refused(HurrayStatus expected) {
        EXPECT_EQ(request(maker.producer()), expected) << error.message;
        EXPECT_EQ(error.code, expected);
        EXPECT_EQ(tensor, nullptr);
    }
};

TEST_F(Producer, ExportsForTheConsumersStream) {
    const HurrayProducer producer = maker.producer();
    ASSERT_EQ(request(producer), HURRAY_OK) << error.message;
    EXPECT_EQ(maker.exports, 1);
    EXPECT_EQ(maker.asked_stream, &stream);
    EXPECT_EQ(maker.asked_device, device);
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(hurray_tensor_buffer(tensor, 0, &buffer, nullptr), HURRAY_OK);
    void* ordered = nullptr;
    std::uint8_t ordered_device = 0;
    ASSERT_EQ(hurray_buffer_stream(buffer, &ordered, &ordered_device, nullptr), HURRAY_OK);
    EXPECT_EQ(ordered, &stream);
    EXPECT_EQ(ordered_device, device);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(maker.releases.calls, 1);
    EXPECT_EQ(maker.ends, 0) << "the producer lives on, and may be asked again";
}

TEST_F(Producer, MayAnswerWithMemoryThatIsSyncedOrHasAnEvent) {
    maker.mode = HURRAY_SYNC_PRODUCER_SYNCED;
    ASSERT_EQ(request(maker.producer()), HURRAY_OK) << error.message;
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    // Without a stream only these are possible.
    const HurrayProducer producer = maker.producer();
    ASSERT_EQ(hurray_producer_request(&producer, nullptr, 0, &tensor, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
}

TEST_F(Producer, OrderOnAnotherStreamIsAMismatch) {
    int another = 0;
    maker.other_stream = &another;
    expect_refused(HURRAY_ERR_SYNC_MODE_MISMATCH);
    EXPECT_EQ(maker.releases.calls, 1) << "what was exported is ended";
    const HurrayProducer producer = maker.producer();
    EXPECT_EQ(hurray_producer_request(&producer, nullptr, 0, &tensor, &error), HURRAY_ERR_SYNC_MODE_MISMATCH);
    EXPECT_EQ(maker.releases.calls, 2);
}

TEST_F(Producer, VersionOfTheContextIsChecked) {
    for (const std::uint32_t version : {1u, 3u, 5u}) {
        maker.context_version = version;
        expect_refused(HURRAY_ERR_VERSION_MISMATCH);
    }
    EXPECT_EQ(maker.releases.calls, 3);
}

TEST_F(Producer, ReportsOfTheProducerArePassedOn) {
    maker.answer = HURRAY_ERR_OUT_OF_MEMORY;
    maker.message = "the device is full";
    expect_refused(HURRAY_ERR_OUT_OF_MEMORY);
    EXPECT_NE(std::string(error.message).find("the device is full"), std::string::npos);
    maker.answer = -9999;
    expect_refused(HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(error.message).find("-9999"), std::string::npos);
    maker.answer = 7;
    expect_refused(HURRAY_ERR_INVALID_ARGUMENT);
}

TEST_F(Producer, PlaceInALongReportIsNotLost) {
    const std::string message = std::string(240, 'x') + " [byte 12]";
    maker.answer = HURRAY_ERR_INVALID_LAYOUT;
    maker.message = message.c_str();
    expect_refused(HURRAY_ERR_INVALID_LAYOUT);
    EXPECT_TRUE(std::string(error.message).ends_with(" [byte 12]")) << error.message;
    for (const char* strange : {"no place [byte ]", "no place [byte 1x]", "no place [byte 99999999999999999999999]", "[byte 3"}) {
        maker.message = strange;
        expect_refused(HURRAY_ERR_INVALID_LAYOUT);
        EXPECT_TRUE(std::string(error.message).ends_with(strange)) << error.message;
    }
}

TEST_F(Producer, ReportThatIsNoUtf8IsMendedToBeIt) {
    maker.answer = HURRAY_ERR_IO;
    maker.message = "Datei \xFC" "ber \xE2\x82";
    expect_refused(HURRAY_ERR_IO);
    EXPECT_NE(std::string(error.message).find("Datei ?ber ??"), std::string::npos) << error.message;
}

TEST_F(Producer, SameHandleAsListAndContextIsRefusedAndEndedOnce) {
    const HurrayProducer producer{sizeof producer, HURRAY_C_ABI_VERSION, &maker,
                                  [](void* context, void* wanted, std::uint8_t tag, HurrayBufferList** out_list,
                                     HurrayTensorContext** out_context, HurrayError* report) -> HurrayStatus {
                                      auto* self = static_cast<Maker*>(context);
                                      self->without_context = true;
                                      const HurrayStatus made = Maker::export_tensor(context, wanted, tag, out_list, out_context, report);
                                      *out_context = reinterpret_cast<HurrayTensorContext*>(*out_list);
                                      return made;
                                  },
                                  nullptr};
    EXPECT_EQ(request(producer), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(maker.releases.calls, 1);
}

TEST_F(Producer, WhatAFailedExportLeavesInItsOutputsIsNotTouched) {
    static HurrayBufferList* left = nullptr;
    ASSERT_EQ(hurray_buffer_list_new(0, &left), HURRAY_OK);
    for (const HurrayStatus answer : {HURRAY_ERR_IO, HurrayStatus{77}}) {
        static HurrayStatus answered = 0;
        answered = answer;
        const HurrayProducer producer{sizeof producer, HURRAY_C_ABI_VERSION, nullptr,
                                      [](void*, void*, std::uint8_t, HurrayBufferList** out_list, HurrayTensorContext**,
                                         HurrayError*) -> HurrayStatus {
                                          *out_list = left;
                                          return answered;
                                      },
                                      nullptr};
        EXPECT_NE(request(producer), HURRAY_OK);
    }
    EXPECT_EQ(hurray_buffer_list_destroy(&left), HURRAY_OK) << "still alive, and the producer's to end";
}

TEST_F(Producer, HalfAnAnswerIsRefusedAndEnded) {
    maker.without_list = true;
    expect_refused(HURRAY_ERR_NULL_POINTER);
    maker.without_list = false;
    maker.without_context = true;
    expect_refused(HURRAY_ERR_NULL_POINTER);
    EXPECT_EQ(maker.releases.calls, 1);
}

TEST_F(Producer, StructIsChecked) {
    HurrayProducer producer = maker.producer();
    producer.struct_size = sizeof producer - 1;
    EXPECT_EQ(request(producer), HURRAY_ERR_INVALID_ARGUMENT);
    producer.struct_size = 1u << 20;
    EXPECT_EQ(request(producer), HURRAY_ERR_INVALID_ARGUMENT);
    producer = maker.producer();
    producer.abi_version = 3;
    EXPECT_EQ(request(producer), HURRAY_ERR_VERSION_MISMATCH);
    EXPECT_EQ(hurray_producer_release(&producer, nullptr), HURRAY_ERR_VERSION_MISMATCH);
    producer = maker.producer();
    EXPECT_EQ(hurray_producer_request(&producer, nullptr, device, &tensor, &error), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(maker.exports, 0);
    EXPECT_EQ(maker.ends, 0);
}

TEST_F(Producer, IsReleasedExactlyOnceAndThenAnswersNothing) {
    HurrayProducer producer = maker.producer();
    ASSERT_EQ(hurray_producer_release(&producer, nullptr), HURRAY_OK);
    EXPECT_EQ(maker.ends, 1);
    EXPECT_EQ(producer.release, nullptr);
    EXPECT_EQ(producer.export_tensor, nullptr);
    EXPECT_EQ(hurray_producer_release(&producer, nullptr), HURRAY_OK) << "a repeated call is a no-op";
    EXPECT_EQ(maker.ends, 1);
    EXPECT_EQ(request(producer), HURRAY_ERR_NULL_POINTER);
    EXPECT_EQ(maker.exports, 0);
}

}  // namespace

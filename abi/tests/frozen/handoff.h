/* Version 2: the handoff with its three sync modes. */
#ifndef HURRAY_FROZEN_HANDOFF_H_
#define HURRAY_FROZEN_HANDOFF_H_

#include "abi/tests/frozen/check.h"
#include "hurray.h"

enum { DEVICE = 1, OTHER_DEVICE = 2 };

/* The 16 bytes of 64 bytes on DEVICE, with this sync mode at byte 13. */
static HurrayBufferHandleBytes handle_with_mode(unsigned mode) {
    HurrayBufferHandleBytes handle;
    memset(&handle, 0, sizeof handle);
    handle.bytes[0] = 64;
    handle.bytes[8] = 64;
    handle.bytes[12] = DEVICE;
    handle.bytes[13] = (uint8_t)mode;
    return handle;
}

static HurrayEventPayload event_of(void *handle, uint8_t device, HurrayEventReleaseFn release, void *context) {
    HurrayEventPayload event;
    memset(&event, 0, sizeof event);
    event.sync_handle = handle;
    event.sync_handle_device_tag = device;
    event.event_release_fn = release;
    event.event_release_context = context;
    return event;
}

static HurrayStreamPayload stream_of(void *handle, uint8_t device) {
    HurrayStreamPayload stream;
    memset(&stream, 0, sizeof stream);
    stream.consumer_stream = handle;
    stream.consumer_stream_device_tag = device;
    return stream;
}

/* Opaque words: the library hands them on and never looks. */
static void *const the_event = (void *)(uintptr_t)0xE0;
static void *const the_stream = (void *)(uintptr_t)0x50;

static void synced_handoff(void) {
    Calls calls = {0, NULL};
    const HurrayBufferHandleBytes handle = handle_with_mode(HURRAY_SYNC_PRODUCER_SYNCED);
    HurrayBufferHandleBytes read;
    HurrayBuffer *buffer = NULL;
    HurrayError error = {-99, "noise"};
    void *out = NOISE(void);
    uint8_t device = 77;
    CHECK_STATUS(hurray_buffer_handoff(&handle, memory(), count_release, &calls, NULL, NULL, &buffer, &error), HURRAY_OK);
    CHECK(error.code == HURRAY_OK);
    memset(&read, 0xA5, sizeof read);
    CHECK_STATUS(hurray_buffer_handle_bytes(buffer, &read, &error), HURRAY_OK);
    CHECK(memcmp(&read, &handle, sizeof handle) == 0);
    CHECK_STATUS(hurray_buffer_event(buffer, &out, &device, &error), HURRAY_ERR_SYNC_MODE_MISMATCH);
    CHECK(out == NULL);
    CHECK(device == 0);
    CHECK(error.code == HURRAY_ERR_SYNC_MODE_MISMATCH);
    CHECK(error.message[0] != '\0');
    out = NOISE(void);
    device = 77;
    CHECK_STATUS(hurray_buffer_stream(buffer, &out, &device, &error), HURRAY_ERR_SYNC_MODE_MISMATCH);
    CHECK(out == NULL);
    CHECK(device == 0);
    CHECK(hurray_buffer_event_release(buffer, &error) < 0);
    CHECK(calls.count == 0);
    CHECK_STATUS(hurray_buffer_destroy(buffer), HURRAY_OK);
    CHECK(calls.count == 1);
    CHECK(calls.first == (void *)memory());
}

/* What version 1 makes is what a version-1 consumer relies on. */
static void default_mode(void) {
    HurrayBufferHandleBytes read;
    HurrayBuffer *buffer = NULL;
    memset(&read, 0xA5, sizeof read);
    CHECK_STATUS(hurray_buffer_from_ptr(memory(), 64, 64, DEVICE, NULL, NULL, &buffer), HURRAY_OK);
    CHECK_STATUS(hurray_buffer_handle_bytes(buffer, &read, NULL), HURRAY_OK);
    CHECK(read.bytes[13] == HURRAY_SYNC_PRODUCER_SYNCED);
    CHECK_STATUS(hurray_buffer_destroy(buffer), HURRAY_OK);
}

static HurrayBuffer *event_buffer(Calls *memory_calls, Calls *event_calls) {
    const HurrayBufferHandleBytes handle = handle_with_mode(HURRAY_SYNC_EVENT);
    const HurrayEventPayload event = event_of(the_event, DEVICE, count_release, event_calls);
    HurrayBuffer *buffer = NULL;
    CHECK_STATUS(hurray_buffer_handoff(&handle, memory(), count_release, memory_calls, &event, NULL, &buffer, NULL), HURRAY_OK);
    return buffer;
}

/* Two releases, each once, each in its own time. */
static void event_handoff(void) {
    Calls memory_calls = {0, NULL};
    Calls event_calls = {0, NULL};
    HurrayBuffer *buffer = event_buffer(&memory_calls, &event_calls);
    HurrayError error = {-99, "noise"};
    void *out = NULL;
    uint8_t device = 0;
    CHECK_STATUS(hurray_buffer_event(buffer, &out, &device, &error), HURRAY_OK);
    CHECK(out == the_event);
    CHECK(device == DEVICE);
    CHECK(event_calls.count == 0);
    CHECK_STATUS(hurray_buffer_stream(buffer, &out, &device, &error), HURRAY_ERR_SYNC_MODE_MISMATCH);
    CHECK_STATUS(hurray_buffer_event_release(buffer, &error), HURRAY_OK);
    CHECK(event_calls.count == 1);
    CHECK(event_calls.first == the_event);
    CHECK(memory_calls.count == 0);
    CHECK(hurray_buffer_event_release(buffer, &error) < 0);
    CHECK(hurray_buffer_event(buffer, &out, &device, &error) < 0);
    CHECK(out == NULL);
    CHECK(event_calls.count == 1);
    CHECK_STATUS(hurray_buffer_destroy(buffer), HURRAY_OK);
    CHECK(event_calls.count == 1);
    CHECK(memory_calls.count == 1);
}

static void event_that_nobody_released(void) {
    Calls memory_calls = {0, NULL};
    Calls event_calls = {0, NULL};
    CHECK_STATUS(hurray_buffer_destroy(event_buffer(&memory_calls, &event_calls)), HURRAY_OK);
    CHECK(event_calls.count == 1);
    CHECK(event_calls.first == the_event);
    CHECK(memory_calls.count == 1);
}

static void stream_handoff(void) {
    Calls calls = {0, NULL};
    const HurrayBufferHandleBytes handle = handle_with_mode(HURRAY_SYNC_CONSUMER_STREAM);
    const HurrayStreamPayload stream = stream_of(the_stream, DEVICE);
    HurrayBuffer *buffer = NULL;
    void *out = NULL;
    uint8_t device = 0;
    CHECK_STATUS(hurray_buffer_handoff(&handle, memory(), count_release, &calls, NULL, &stream, &buffer, NULL), HURRAY_OK);
    CHECK_STATUS(hurray_buffer_stream(buffer, &out, &device, NULL), HURRAY_OK);
    CHECK(out == the_stream);
    CHECK(device == DEVICE);
    CHECK_STATUS(hurray_buffer_event(buffer, &out, &device, NULL), HURRAY_ERR_SYNC_MODE_MISMATCH);
    CHECK(hurray_buffer_event_release(buffer, NULL) < 0);
    CHECK_STATUS(hurray_buffer_destroy(buffer), HURRAY_OK);
    CHECK(calls.count == 1);
}

/* The table of the cross-check, row by row: every mode against every pair of payloads. */
static void cross_check(void) {
    enum { EVENTS = 8, STREAMS = 5 };
    Calls memory_calls = {0, NULL};
    Calls event_calls = {0, NULL};
    HurrayEventPayload events[EVENTS];
    HurrayStreamPayload streams[STREAMS];
    unsigned mode;
    int e;
    int s;
    int accepted = 0;
    int accepted_events = 0;
    /* 0: no pointer; 1: all fields zero, the same; 2: complete; then what lacks or contradicts something. */
    events[0] = events[1] = event_of(NULL, 0, NULL, NULL);
    events[2] = event_of(the_event, DEVICE, count_release, &event_calls);
    events[3] = event_of(the_event, OTHER_DEVICE, count_release, &event_calls);
    events[4] = event_of(the_event, DEVICE, NULL, &event_calls);
    events[5] = event_of(NULL, DEVICE, count_release, &event_calls);
    events[6] = event_of(the_event, 0, NULL, NULL);
    events[7] = event_of(NULL, 0, NULL, &event_calls);
    streams[0] = streams[1] = stream_of(NULL, 0);
    streams[2] = stream_of(the_stream, DEVICE);
    streams[3] = stream_of(the_stream, OTHER_DEVICE);
    streams[4] = stream_of(NULL, DEVICE);
    for (mode = 0; mode <= 0xFF; ++mode) {
        for (e = 0; e < EVENTS; ++e) {
            for (s = 0; s < STREAMS; ++s) {
                const HurrayBufferHandleBytes handle = handle_with_mode(mode);
                const int fits = (mode == HURRAY_SYNC_PRODUCER_SYNCED && e < 2 && s < 2) ||
                                 (mode == HURRAY_SYNC_EVENT && e == 2 && s < 2) ||
                                 (mode == HURRAY_SYNC_CONSUMER_STREAM && e < 2 && s == 2);
                const int32_t expected = mode > HURRAY_SYNC_CONSUMER_STREAM ? HURRAY_ERR_INVALID_SYNC_MODE
                                         : fits                            ? HURRAY_OK
                                                                           : HURRAY_ERR_SYNC_MODE_MISMATCH;
                HurrayError error = {-99, "noise"};
                HurrayBuffer *buffer = NOISE(HurrayBuffer);
                const HurrayStatus status =
                    hurray_buffer_handoff(&handle, memory(), count_release, &memory_calls, e == 0 ? NULL : &events[e],
                                          s == 0 ? NULL : &streams[s], &buffer, &error);
                if (status != expected) {
                    fprintf(stderr, "mode %02X, event %d, stream %d: expected %d, got %d: %s\n", mode, e, s, (int)expected,
                            (int)status, error.message);
                    exit(1);
                }
                CHECK(error.code == expected);
                if (expected == HURRAY_OK) {
                    ++accepted;
                    accepted_events += mode == HURRAY_SYNC_EVENT;
                    CHECK_STATUS(hurray_buffer_destroy(buffer), HURRAY_OK);
                } else {
                    CHECK(buffer == NULL);
                    CHECK(error.message[0] != '\0');
                }
                CHECK(memory_calls.count == accepted);
                CHECK(event_calls.count == accepted_events);
            }
        }
    }
    CHECK(accepted == 4 + 2 + 2);
}

static void handoff_failures(void) {
    Calls calls = {0, NULL};
    HurrayBufferHandleBytes handle = handle_with_mode(HURRAY_SYNC_PRODUCER_SYNCED);
    HurrayBufferHandleBytes read;
    HurrayBuffer *buffer = NOISE(HurrayBuffer);
    void *out = NOISE(void);
    uint8_t device = 77;
    int i;
    memset(&read, 0xA5, sizeof read);
    CHECK_STATUS(hurray_buffer_handoff(NULL, memory(), count_release, &calls, NULL, NULL, &buffer, NULL),
                 HURRAY_ERR_NULL_POINTER);
    CHECK(buffer == NULL);
    buffer = NOISE(HurrayBuffer);
    CHECK_STATUS(hurray_buffer_handoff(&handle, NULL, count_release, &calls, NULL, NULL, &buffer, NULL),
                 HURRAY_ERR_NULL_POINTER);
    CHECK(buffer == NULL);
    CHECK_STATUS(hurray_buffer_handoff(&handle, memory(), count_release, &calls, NULL, NULL, NULL, NULL),
                 HURRAY_ERR_NULL_POINTER);
    CHECK_STATUS(hurray_buffer_handle_bytes(NULL, &read, NULL), HURRAY_ERR_NULL_POINTER);
    for (i = 0; i < 16; ++i) CHECK(read.bytes[i] == 0);
    CHECK_STATUS(hurray_buffer_event(NULL, &out, &device, NULL), HURRAY_ERR_NULL_POINTER);
    CHECK(out == NULL && device == 0);
    CHECK_STATUS(hurray_buffer_stream(NULL, &out, &device, NULL), HURRAY_ERR_NULL_POINTER);
    CHECK_STATUS(hurray_buffer_event_release(NULL, NULL), HURRAY_ERR_NULL_POINTER);
    handle.bytes[8] = 32;
    CHECK_STATUS(hurray_buffer_handoff(&handle, memory(), count_release, &calls, NULL, NULL, &buffer, NULL),
                 HURRAY_ERR_INVALID_LAYOUT);
    handle = handle_with_mode(HURRAY_SYNC_PRODUCER_SYNCED);
    handle.bytes[12] = 0x3F;
    CHECK_STATUS(hurray_buffer_handoff(&handle, memory(), count_release, &calls, NULL, NULL, &buffer, NULL),
                 HURRAY_ERR_INVALID_TYPE);
    CHECK(calls.count == 0);
}

static void use_handoff(void) {
    default_mode();
    synced_handoff();
    event_handoff();
    event_that_nobody_released();
    stream_handoff();
    cross_check();
    handoff_failures();
}

#endif

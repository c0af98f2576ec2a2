/* Version 1: all that it has. Compiled against the frozen header of each version. */
#ifndef HURRAY_FROZEN_BUFFERS_H_
#define HURRAY_FROZEN_BUFFERS_H_

#include "abi/tests/frozen/check.h"
#include "hurray.h"

static void released_exactly_once_with_the_pointer_as_given(void) {
    Calls calls = {0, NULL};
    HurrayBuffer *buffer = NULL;
    CHECK_STATUS(hurray_buffer_from_ptr(memory(), 4096, 64, 0, count_release, &calls, &buffer), HURRAY_OK);
    CHECK(buffer != NULL);
    CHECK(calls.count == 0);
    CHECK_STATUS(hurray_buffer_destroy(buffer), HURRAY_OK);
    CHECK(calls.count == 1);
    CHECK(calls.first == (void *)memory());
}

static void empty_and_static_memory(void) {
    Calls calls = {0, NULL};
    HurrayBuffer *buffer = NULL;
    CHECK_STATUS(hurray_buffer_from_ptr(NULL, 0, 64, 0, count_release, &calls, &buffer), HURRAY_OK);
    CHECK_STATUS(hurray_buffer_destroy(buffer), HURRAY_OK);
    CHECK(calls.count == 1);
    CHECK(calls.first == NULL);
    /* No release: the memory lives for ever. */
    buffer = NULL;
    CHECK_STATUS(hurray_buffer_from_ptr(memory(), 4096, 4096 / 64, 0, NULL, NULL, &buffer), HURRAY_OK);
    CHECK_STATUS(hurray_buffer_destroy(buffer), HURRAY_OK);
}

/* An address of a device, 6 GiB long: nobody reads it here. */
static void device_memory_beyond_four_gigabytes(void) {
    Calls calls = {0, NULL};
    HurrayBuffer *buffer = NULL;
    void *address = (void *)(uintptr_t)0x10000;
    CHECK_STATUS(hurray_buffer_from_ptr(address, UINT64_C(6) << 30, 256, 1, count_release, &calls, &buffer), HURRAY_OK);
    CHECK_STATUS(hurray_buffer_destroy(buffer), HURRAY_OK);
    CHECK(calls.count == 1);
    CHECK(calls.first == address);
}

/* A failed call: this status (0: any failure, also one that a later version named), a null output, no release. */
static void refused(int32_t expected, void *data, uint64_t byte_size, uint32_t alignment, uint8_t device_tag) {
    Calls calls = {0, NULL};
    HurrayBuffer *buffer = NOISE(HurrayBuffer);
    const HurrayStatus status =
        hurray_buffer_from_ptr(data, byte_size, alignment, device_tag, count_release, &calls, &buffer);
    if (expected == 0) {
        CHECK(status < 0);
    } else {
        CHECK_STATUS(status, expected);
    }
    CHECK(buffer == NULL);
    CHECK(calls.count == 0);
}

static void failures_move_nothing(void) {
    Calls calls = {0, NULL};
    refused(HURRAY_ERR_NULL_POINTER, NULL, 4096, 64, 0);
    refused(HURRAY_ERR_INVALID_LAYOUT, memory(), 4096, 0, 0);
    refused(HURRAY_ERR_INVALID_LAYOUT, memory(), 4096, 32, 0);
    refused(HURRAY_ERR_INVALID_LAYOUT, memory(), 4096, 96, 0);
    refused(HURRAY_ERR_INVALID_TYPE, memory(), 4096, 64, 0x3F);
    refused(0, memory() + 1, 64, 64, 0);
    refused(0, memory(), UINT64_MAX, 64, 0);
    CHECK_STATUS(hurray_buffer_from_ptr(memory(), 4096, 64, 0, count_release, &calls, NULL), HURRAY_ERR_NULL_POINTER);
    CHECK(calls.count == 0);
    CHECK_STATUS(hurray_buffer_destroy(NULL), HURRAY_ERR_NULL_POINTER);
}

static void end_another(void *data, void *context) {
    HurrayBuffer **other = (HurrayBuffer **)context;
    (void)data;
    CHECK_STATUS(hurray_buffer_destroy(*other), HURRAY_OK);
    *other = NULL;
}

static void release_that_comes_back(void) {
    Calls calls = {0, NULL};
    HurrayBuffer *inner = NULL;
    HurrayBuffer *outer = NULL;
    CHECK_STATUS(hurray_buffer_from_ptr(memory(), 64, 64, 0, count_release, &calls, &inner), HURRAY_OK);
    CHECK_STATUS(hurray_buffer_from_ptr(memory() + 64, 64, 64, 0, end_another, &inner, &outer), HURRAY_OK);
    CHECK_STATUS(hurray_buffer_destroy(outer), HURRAY_OK);
    CHECK(inner == NULL);
    CHECK(calls.count == 1);
}

static void many_at_once(void) {
    enum { MANY = 1000 };
    static HurrayBuffer *buffers[MANY];
    Calls calls = {0, NULL};
    int i;
    for (i = 0; i < MANY; ++i) {
        CHECK_STATUS(hurray_buffer_from_ptr(memory(), 4096, 64, 0, count_release, &calls, &buffers[i]), HURRAY_OK);
    }
    for (i = MANY; i-- > 0;) CHECK_STATUS(hurray_buffer_destroy(buffers[i]), HURRAY_OK);
    CHECK(calls.count == MANY);
}

/* The values are compiled into programs. */
static void statuses(void) {
    static const HurrayStatus all[] = {HURRAY_OK, HURRAY_ERR_INVALID_MAGIC, HURRAY_ERR_VERSION_MISMATCH,
                                       HURRAY_ERR_INVALID_LAYOUT, HURRAY_ERR_INVALID_TYPE, HURRAY_ERR_BUFFER_TOO_SMALL,
                                       HURRAY_ERR_NULL_POINTER, HURRAY_ERR_INTERNAL_PANIC};
    int i;
    for (i = 0; i < 8; ++i) CHECK(all[i] == -i);
}

static void use_buffers(void) {
    statuses();
    released_exactly_once_with_the_pointer_as_given();
    empty_and_static_memory();
    device_memory_beyond_four_gigabytes();
    failures_move_nothing();
    release_that_comes_back();
    many_at_once();
}

#endif

/* What the programs of earlier versions share. Plain C99; knows no header of the C ABI. */
#ifndef HURRAY_FROZEN_CHECK_H_
#define HURRAY_FROZEN_CHECK_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program with the place and what was expected. */
#define CHECK(condition)                                                           \
    do {                                                                           \
        if (!(condition)) {                                                        \
            fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                               \
        }                                                                          \
    } while (0)

/* Ends the program unless `call` returns `status`. */
#define CHECK_STATUS(call, status)                                                                              \
    do {                                                                                                        \
        const int32_t got_ = (call);                                                                            \
        if (got_ != (status)) {                                                                                 \
            fprintf(stderr, "%s:%d: %s: expected %s, got %d\n", __FILE__, __LINE__, #call, #status, (int)got_); \
            exit(1);                                                                                            \
        }                                                                                                       \
    } while (0)

/* How often a callback ran, and with what. */
typedef struct Calls {
    int count;
    void *first;  /* the argument that the library was given to hand back */
} Calls;

static void count_release(void *first, void *context) {
    Calls *calls = (Calls *)context;
    calls->first = first;
    ++calls->count;
}

/* 4 KiB at a multiple of 64, filled with what a consumer expects to find. */
static unsigned char *memory(void) {
    static unsigned char storage[4096 + 63];
    unsigned char *aligned = storage + (64 - (uintptr_t)storage % 64) % 64;
    size_t i;
    for (i = 0; i < 4096; ++i) aligned[i] = (unsigned char)i;
    return aligned;
}

/* A pointer that outputs hold before a call, so that one which is not written is noticed. */
#define NOISE(type) ((type *)(uintptr_t)0x5A5A5A5A)

#endif

/* FROZEN: never edited. The C ABI as version 2 had it: version 1, and what a handoff carries beside the 16 bytes.
 *
 * This is not the header to build with: that is hurray.h in abi/include. Programs that were compiled against this one
 * must link to, and run with, every later library of the same generation, and abi/tests/frozen proves it for today's.
 */
#ifndef HURRAY_H_
#define HURRAY_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HURRAY_C_ABI_VERSION 2

uint32_t hurray_c_abi_version(void);

typedef int32_t HurrayStatus;

#define HURRAY_OK                        0
#define HURRAY_ERR_INVALID_MAGIC        -1
#define HURRAY_ERR_VERSION_MISMATCH     -2
#define HURRAY_ERR_INVALID_LAYOUT       -3
#define HURRAY_ERR_INVALID_TYPE         -4
#define HURRAY_ERR_BUFFER_TOO_SMALL     -5
#define HURRAY_ERR_NULL_POINTER         -6
#define HURRAY_ERR_INTERNAL_PANIC       -7
#define HURRAY_ERR_INVALID_SYNC_MODE    -8
#define HURRAY_ERR_SYNC_MODE_MISMATCH   -9

/* Report of a failed call; the caller's, and NULL when it wants none. */
typedef struct HurrayError {
    int32_t code;
    char message[256];
} HurrayError;

/* --- Buffers --- */

typedef struct HurrayBuffer HurrayBuffer;

/* Runs exactly once, when the last handle that shares the memory goes. */
typedef void (*HurrayReleaseCallback)(void *buffer, void *context);

HurrayStatus hurray_buffer_from_ptr(void *data,
                                    uint64_t byte_size,
                                    uint32_t alignment,
                                    uint8_t device_tag,
                                    HurrayReleaseCallback release,
                                    void *release_context,
                                    HurrayBuffer **out_handle);

HurrayStatus hurray_buffer_destroy(HurrayBuffer *buffer);

/* --- Handoff synchronisation (since version 2) --- */

/* Byte 13 of the 16 that describe a buffer is its sync mode; nothing beside them repeats it. */
typedef struct HurrayBufferHandleBytes {
    uint8_t bytes[16];
} HurrayBufferHandleBytes;

#define HURRAY_SYNC_PRODUCER_SYNCED 0x00
#define HURRAY_SYNC_EVENT           0x01
#define HURRAY_SYNC_CONSUMER_STREAM 0x02

/* Any thread may call it; it runs exactly once for an event. */
typedef void (*HurrayEventReleaseFn)(void *sync_handle, void *context);

/* What HURRAY_SYNC_EVENT carries. */
typedef struct HurrayEventPayload {
    void *sync_handle;
    uint8_t sync_handle_device_tag;
    HurrayEventReleaseFn event_release_fn;
    void *event_release_context;
} HurrayEventPayload;

/* What HURRAY_SYNC_CONSUMER_STREAM carries. */
typedef struct HurrayStreamPayload {
    void *consumer_stream;
    uint8_t consumer_stream_device_tag;
} HurrayStreamPayload;

HurrayStatus hurray_buffer_handoff(const HurrayBufferHandleBytes *handle_bytes,
                                   void *data,
                                   HurrayReleaseCallback release,
                                   void *release_context,
                                   const HurrayEventPayload *event,
                                   const HurrayStreamPayload *stream,
                                   HurrayBuffer **out_handle,
                                   HurrayError *error);

HurrayStatus hurray_buffer_handle_bytes(const HurrayBuffer *buffer,
                                        HurrayBufferHandleBytes *out_handle_bytes,
                                        HurrayError *error);

HurrayStatus hurray_buffer_event(const HurrayBuffer *buffer,
                                 void **out_sync_handle,
                                 uint8_t *out_device_tag,
                                 HurrayError *error);

HurrayStatus hurray_buffer_event_release(HurrayBuffer *buffer, HurrayError *error);

HurrayStatus hurray_buffer_stream(const HurrayBuffer *buffer,
                                  void **out_consumer_stream,
                                  uint8_t *out_device_tag,
                                  HurrayError *error);

#ifdef __cplusplus
}
#endif

#endif /* HURRAY_H_ */

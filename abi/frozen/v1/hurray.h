/* FROZEN: never edited. The C ABI as version 1 had it: buffer handles with release callbacks, statuses, the version.
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

#define HURRAY_C_ABI_VERSION 1

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

#ifdef __cplusplus
}
#endif

#endif /* HURRAY_H_ */

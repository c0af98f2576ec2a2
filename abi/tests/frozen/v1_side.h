/* What a consumer and producer of version 1 offers the other side of the process. Knows no hurray.h, so that each side
 * includes its own. */
#ifndef HURRAY_FROZEN_V1_SIDE_H_
#define HURRAY_FROZEN_V1_SIDE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct HurrayBuffer;

/* The version that this side was compiled for. */
uint32_t v1_side_version(void);

/* Takes a buffer over: asks for the version first, reads the bytes, which it was told of beside the handle, at once (a
 * version-1 consumer waits for nothing), and ends the handle. Returns the sum of the bytes, or UINT64_MAX. */
uint64_t v1_side_consume(struct HurrayBuffer *buffer, const unsigned char *data, uint64_t byte_size);

/* Hands a buffer over; `releases` counts its release. Null on failure. */
struct HurrayBuffer *v1_side_produce(unsigned char *data, uint64_t byte_size, int *releases);

#ifdef __cplusplus
}
#endif

#endif

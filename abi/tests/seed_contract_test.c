/* The signatures and values that the contract of the C ABI writes out, word for word, over the generated header. A
 * declaration that differs in a type conflicts with the header's, and a macro that differs is redefined: neither
 * compiles. To compile this file is the test. */
#include <hurray.h>

typedef int32_t HurrayStatus;

#define HURRAY_OK                    0
#define HURRAY_ERR_INVALID_MAGIC    -1
#define HURRAY_ERR_VERSION_MISMATCH -2
#define HURRAY_ERR_INVALID_LAYOUT   -3
#define HURRAY_ERR_INVALID_TYPE     -4
#define HURRAY_ERR_BUFFER_TOO_SMALL -5
#define HURRAY_ERR_NULL_POINTER     -6
#define HURRAY_ERR_INTERNAL_PANIC   -7
#define HURRAY_ERR_INVALID_SYNC_MODE   -8
#define HURRAY_ERR_SYNC_MODE_MISMATCH  -9
#define HURRAY_ERR_INTERNAL            -10
#define HURRAY_ERR_INDEX_OUT_OF_BOUNDS -11

#define HURRAY_C_ABI_VERSION 4

typedef void (*HurrayReleaseCallback)(void* buffer, void* context);
typedef void (*HurrayOwnerReleaseFn)(void *owner);

uint32_t hurray_c_abi_version(void);

HurrayStatus hurray_buffer_from_ptr(
    void*                 data,
    uint64_t              byte_size,
    uint32_t              alignment,
    uint8_t               device_tag,
    HurrayReleaseCallback release,
    void*                 release_context,
    HurrayBuffer**        out_handle
);
HurrayStatus hurray_buffer_destroy(HurrayBuffer *);

HurrayStatus hurray_buffer_list_new(uint64_t capacity_hint, struct HurrayBufferList **out);
HurrayStatus hurray_buffer_list_push(struct HurrayBufferList *list, struct HurrayBuffer *buffer);
HurrayStatus hurray_buffer_list_len(const struct HurrayBufferList *list, uint64_t *out);
HurrayStatus hurray_buffer_list_get(const struct HurrayBufferList *list, uint64_t i, struct HurrayBuffer **out);
HurrayStatus hurray_buffer_list_destroy(HurrayBufferList **);

HurrayStatus hurray_tensor_context_new(uint32_t abi_version,
                                       const uint8_t *descriptor_bytes,
                                       uint64_t descriptor_len,
                                       void *owner,
                                       HurrayOwnerReleaseFn owner_release,
                                       struct HurrayTensorContext **out_ctx);

HurrayStatus hurray_tensor_context_abi_version(const struct HurrayTensorContext *ctx,
                                               uint32_t *out);
HurrayStatus hurray_tensor_context_descriptor(const struct HurrayTensorContext *ctx,
                                              const uint8_t **out_bytes,
                                              uint64_t *out_len);
HurrayStatus hurray_tensor_context_destroy(struct HurrayTensorContext **ctx);

HurrayStatus hurray_descriptor_decode(const uint8_t *bytes, uint64_t length, HurrayDescriptor **out, HurrayError *error);
HurrayStatus hurray_descriptor_destroy(HurrayDescriptor **);

int main(void) { return 0; }

#include "abi/tests/frozen/v1_side.h"

#include "hurray.h"

#if HURRAY_C_ABI_VERSION != 1
#error "another header than the frozen one of version 1"
#endif

uint32_t v1_side_version(void) { return HURRAY_C_ABI_VERSION; }

uint64_t v1_side_consume(HurrayBuffer *buffer, const unsigned char *data, uint64_t byte_size) {
    uint64_t sum = 0;
    uint64_t i;
    if (hurray_c_abi_version() < HURRAY_C_ABI_VERSION) return UINT64_MAX;
    for (i = 0; i < byte_size; ++i) sum += data[i];
    return hurray_buffer_destroy(buffer) == HURRAY_OK ? sum : UINT64_MAX;
}

static void count(void *data, void *context) {
    (void)data;
    ++*(int *)context;
}

HurrayBuffer *v1_side_produce(unsigned char *data, uint64_t byte_size, int *releases) {
    HurrayBuffer *buffer = 0;
    if (hurray_c_abi_version() < HURRAY_C_ABI_VERSION) return 0;
    if (hurray_buffer_from_ptr(data, byte_size, 64, 0, count, releases, &buffer) != HURRAY_OK) return 0;
    return buffer;
}

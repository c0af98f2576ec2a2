/* A program of version 1, as it was compiled then. */
#include "abi/tests/frozen/buffers.h"

#if HURRAY_C_ABI_VERSION != 1
#error "another header than the frozen one of version 1"
#endif

int main(void) {
    /* Before anything else. */
    CHECK(hurray_c_abi_version() >= HURRAY_C_ABI_VERSION);
    use_buffers();
    return 0;
}

/* A program of version 2, as it was compiled then. */
#include "abi/tests/frozen/buffers.h"
#include "abi/tests/frozen/handoff.h"

#if HURRAY_C_ABI_VERSION != 2
#error "another header than the frozen one of version 2"
#endif

int main(void) {
    /* Before any function of a version later than 1. */
    CHECK(hurray_c_abi_version() >= HURRAY_C_ABI_VERSION);
    use_buffers();
    use_handoff();
    return 0;
}

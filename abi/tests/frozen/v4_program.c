/* A program of version 4, as it was compiled then. */
#include "abi/tests/frozen/buffers.h"
#include "abi/tests/frozen/handoff.h"
#include "abi/tests/frozen/lists.h"
#include "abi/tests/frozen/contexts.h"

#if HURRAY_C_ABI_VERSION != 4
#error "another header than the frozen one of version 4"
#endif

int main(void) {
    /* Before any function of a version later than 1. */
    CHECK(hurray_c_abi_version() >= HURRAY_C_ABI_VERSION);
    use_buffers();
    use_handoff();
    use_lists();
    use_contexts();
    return 0;
}

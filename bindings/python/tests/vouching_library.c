// A library of a later version that has the version functions and nothing else. VOUCHES: it says that it supports
// what was built for version 4.
#include <stdint.h>

#include <hurray.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED uint32_t hurray_c_abi_version(void) { return 5; }

#ifdef VOUCHES
EXPORTED uint8_t hurray_c_abi_supports(uint32_t version) { return version == 4; }
#endif

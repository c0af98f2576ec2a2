/* For tests: a library of version 5 of the C ABI that supports version 4, and has no other function. */
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT uint32_t hurray_c_abi_version(void);
EXPORT uint8_t hurray_c_abi_supports(uint32_t version);

uint32_t hurray_c_abi_version(void) { return 5; }
uint8_t hurray_c_abi_supports(uint32_t version) { return version == 4; }

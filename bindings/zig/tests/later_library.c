// A library of a later version. VOUCHES: it says that it supports what was built for version 4. COMPLETE: it has all other
// functions, too: those of the library that it is linked with.
#include <stdint.h>

#include <hurray.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED uint32_t hurray_c_abi_version(void) { return 5; }

#ifdef VOUCHES
EXPORTED uint8_t hurray_c_abi_supports(uint32_t version) { return version == 4; }
#endif

#ifdef COMPLETE
// A use, so that no linker leaves the library out.
EXPORTED const char *later_library_build_id(void) { return hurray_build_id(); }
#endif

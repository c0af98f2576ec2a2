// The library behind the forwarders of gen/forward.c.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// Fills the table of the forwarders by name. Returns the first name that `find` has no symbol for, else null. Before
/// this succeeded no function of the C ABI may be called.
const char *hurray_jni_bind(void *(*find)(const char *name));

#ifdef __cplusplus
}
#endif

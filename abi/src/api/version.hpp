// Version of the boundary and facts about the loaded library. Public.
#pragma once

#include <cstdint>

#include "abi/src/api/status.hpp"

// For tests of two copies in one process: a build of another version than this source's.
#ifndef HURRAY_SOURCE_C_ABI_VERSION
#define HURRAY_SOURCE_C_ABI_VERSION 4
#endif

/// @group HurrayVersion Version.
/// Version of the C ABI that this header describes.
constexpr uint32_t HURRAY_C_ABI_VERSION = HURRAY_SOURCE_C_ABI_VERSION;

/// Told of a caught exception (INTERNAL_PANIC) or a broken invariant (INTERNAL) of this copy of the library, on the thread
/// on which it arose, one call at a time for the copy. It may use the library, but not replace itself; what arises within it is not logged. It must
/// not throw. `message` lives during the call.
/// @since 4
typedef void (*HurrayLogFn)(void* context, HurrayStatus code, const char* message);

/// Facts about the loaded copy of the library. Strings are static: they live as long as the library is loaded.
/// @since 4
struct HurrayRuntimeInfo {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// What hurray_c_abi_version returns.
    uint32_t c_abi_version;
    /// What hurray_build_id returns.
    const char* build_id;
    /// Version of the library, such as "0.1.0".
    const char* version;
    /// File that the library was loaded from; empty when the operating system cannot tell.
    const char* library_path;
    /// 1 when destroyed handles are kept in quarantine and checked, else 0.
    uint32_t handle_checks;
    /// 0.
    uint32_t reserved;
};

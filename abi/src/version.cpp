// Version and facts about the loaded library.
#include "abi/src/api/version.hpp"

#include "abi/src/api/annotations.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/build_info.hpp"
#include "abi/src/internal/diagnostics.hpp"
#include "abi/src/internal/library_path.hpp"
#include "abi/src/internal/objects.hpp"

using namespace hurray;
using namespace hurray::abi;

/// Returns the version of the C ABI that the loaded library implements.
/// A consumer calls it before any function whose contract changed in a later version.
/// @thread any
/// @since 1
HURRAY_API HG_INFALLIBLE uint32_t hurray_c_abi_version(void) noexcept { return HURRAY_C_ABI_VERSION; }

/// Returns 1 when a program built for version `version` of the C ABI may use this library, else 0.
/// Versions 1 to 4 only added to one another, so all of them are supported.
/// @thread any
/// @since 4
HURRAY_API HG_INFALLIBLE uint8_t hurray_c_abi_supports(uint32_t version) noexcept {
    return version >= 1 && version <= HURRAY_C_ABI_VERSION ? 1 : 0;
}

/// Returns a text that identifies this build: library version, C ABI version, compiler and configuration.
/// @owner the library; static, never freed
/// @thread any
/// @since 4
HURRAY_API HG_INFALLIBLE const char* hurray_build_id(void) noexcept { return build_id(); }

/// Returns the name of a status code without its prefix, such as "INVALID_MAGIC"; "UNKNOWN" for a code that this
/// library does not know.
/// @owner the library; static, never freed
/// @thread any
/// @since 4
HURRAY_API HG_INFALLIBLE const char* hurray_status_name(HurrayStatus status) noexcept {
    switch (status) {
        case HURRAY_OK: return "OK";
        case HURRAY_ERR_INVALID_MAGIC: return "INVALID_MAGIC";
        case HURRAY_ERR_VERSION_MISMATCH: return "VERSION_MISMATCH";
        case HURRAY_ERR_INVALID_LAYOUT: return "INVALID_LAYOUT";
        case HURRAY_ERR_INVALID_TYPE: return "INVALID_TYPE";
        case HURRAY_ERR_BUFFER_TOO_SMALL: return "BUFFER_TOO_SMALL";
        case HURRAY_ERR_NULL_POINTER: return "NULL_POINTER";
        case HURRAY_ERR_INTERNAL_PANIC: return "INTERNAL_PANIC";
        case HURRAY_ERR_INVALID_SYNC_MODE: return "INVALID_SYNC_MODE";
        case HURRAY_ERR_SYNC_MODE_MISMATCH: return "SYNC_MODE_MISMATCH";
        case HURRAY_ERR_INTERNAL: return "INTERNAL";
        case HURRAY_ERR_INDEX_OUT_OF_BOUNDS: return "INDEX_OUT_OF_BOUNDS";
        case HURRAY_ERR_INVALID_HANDLE: return "INVALID_HANDLE";
        case HURRAY_ERR_OUT_OF_MEMORY: return "OUT_OF_MEMORY";
        case HURRAY_ERR_IO: return "IO";
        case HURRAY_ERR_UNSUPPORTED: return "UNSUPPORTED";
        case HURRAY_ERR_CANCELLED: return "CANCELLED";
        case HURRAY_ERR_FORKED: return "FORKED";
        case HURRAY_ERR_INVALID_ARGUMENT: return "INVALID_ARGUMENT";
        case HURRAY_ERR_INVALID_QUANTIZATION: return "INVALID_QUANTIZATION";
        case HURRAY_ERR_INVALID_COMPOSITE: return "INVALID_COMPOSITE";
        case HURRAY_ERR_MISALIGNED: return "MISALIGNED";
        case HURRAY_ERR_INVALID_FORMAT: return "INVALID_FORMAT";
        case HURRAY_ERR_NOT_FOUND: return "NOT_FOUND";
        case HURRAY_ERR_LIMIT_EXCEEDED: return "LIMIT_EXCEEDED";
        case HURRAY_ERR_TIMED_OUT: return "TIMED_OUT";
        case HURRAY_ERR_DISCONNECTED: return "DISCONNECTED";
        default: return "UNKNOWN";
    }
}

/// Fills a struct with facts about the loaded library.
/// @errors INVALID_ARGUMENT: struct_size is too small
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_runtime_info(HG_OUT HurrayRuntimeInfo* out_info, HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE(out_info, error);
    clear_sized_struct(out_info);
    return guarded(error, [&]() -> Result<void> {
        HurrayRuntimeInfo info{};
        info.c_abi_version = HURRAY_C_ABI_VERSION;
        info.build_id = build_id();
        info.version = library_version();
        info.library_path = library_path();
        info.handle_checks = handle_checks_enabled() ? 1 : 0;
        return fill_sized_struct(out_info, info, sizeof info, "out_info");
    });
}

/// Counts live handles and the bytes that they stand for, over the whole process and this copy of the library.
/// A program that has ended all its handles reads what it read before it made the first one.
/// @param kind HURRAY_HANDLE_ value; HURRAY_HANDLE_ANY sums all kinds
/// @errors INVALID_ARGUMENT: no such kind
/// @thread any; the two numbers are not taken at one instant while other threads work
/// @since 4
HURRAY_API HurrayStatus hurray_live_handles(uint32_t kind, HG_OUT uint64_t* out_handles, HG_OUT uint64_t* out_bytes,
                                            HG_ERROR HurrayError* error) noexcept {
    if (out_handles != nullptr) *out_handles = 0;
    if (out_bytes != nullptr) *out_bytes = 0;
    HURRAY_REQUIRE(out_handles, error);
    HURRAY_REQUIRE(out_bytes, error);
    return guarded(error, [&]() -> Result<void> {
        if (kind >= handle_kind_count) {
            return fail(Status::invalid_argument, Error::no_offset, "kind: expected 0 to %u, got %u", handle_kind_count - 1,
                        kind);
        }
        read_counters(kind, *out_handles, *out_bytes);
        return {};
    });
}

/// Turns the quarantine of destroyed handles on or off. While it is on, destroying a handle twice or using a
/// destroyed one returns INVALID_HANDLE instead of being undefined; debug builds start with it on.
/// @param enabled 1: on, 0: off
/// @errors INVALID_ARGUMENT: neither 0 nor 1
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_handle_checks_set(uint8_t enabled, HG_ERROR HurrayError* error) noexcept {
    return guarded(error, [&]() -> Result<void> {
        if (enabled > 1) {
            return fail(Status::invalid_argument, Error::no_offset, "enabled: expected 0 or 1, got %u", enabled);
        }
        set_handle_checks(enabled == 1);
        return {};
    });
}

/// Copies one of the last 32 messages of caught exceptions (INTERNAL_PANIC) and broken invariants (INTERNAL).
/// @param index 0 for the oldest that is kept
/// @errors INDEX_OUT_OF_BOUNDS: fewer are kept
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_diagnostics_read(uint32_t index, HG_OUT HurrayError* out_diagnostic,
                                                HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE(out_diagnostic, error);
    *out_diagnostic = HurrayError{};
    return guarded(error, [&]() -> Result<void> {
        if (!read_diagnostic(index, *out_diagnostic)) {
            return fail(Status::index_out_of_bounds, Error::no_offset, "index: %u is not below the number of kept messages",
                        index);
        }
        return {};
    });
}

/// Installs the process's log callback for the messages that hurray_diagnostics_read keeps. One at a time: a further call
/// replaces it. When the call returns, the callback before it is not running and never runs again. Not inherited by the
/// child of a fork.
/// @param callback null: none
/// @param context handed to the callback; the caller keeps it alive until the callback is replaced
/// @errors INVALID_ARGUMENT: called from within the log callback
/// @thread any, without a lock that the callback takes
/// @since 4
HURRAY_API HurrayStatus hurray_log_callback_set(HG_CALLBACK_OPT HurrayLogFn callback, HG_OPAQUE void* context,
                                                HG_ERROR HurrayError* error) noexcept {
    return guarded(error, [&]() -> Result<void> {
        if (!set_log_callback(callback, context)) {
            return fail(Status::invalid_argument, Error::no_offset, "callback: cannot be replaced from within the log callback");
        }
        return {};
    });
}

#include "abi/src/internal/barrier.hpp"

#include <cstdio>

#include "abi/src/internal/diagnostics.hpp"

namespace hurray::abi {
namespace {

// The core's codes and the published ones are the same numbers.
constexpr bool same(Status core, HurrayStatus published) { return static_cast<HurrayStatus>(core) == published; }
static_assert(same(Status::ok, HURRAY_OK));
static_assert(same(Status::invalid_magic, HURRAY_ERR_INVALID_MAGIC));
static_assert(same(Status::version_mismatch, HURRAY_ERR_VERSION_MISMATCH));
static_assert(same(Status::invalid_layout, HURRAY_ERR_INVALID_LAYOUT));
static_assert(same(Status::invalid_type, HURRAY_ERR_INVALID_TYPE));
static_assert(same(Status::buffer_too_small, HURRAY_ERR_BUFFER_TOO_SMALL));
static_assert(same(Status::null_pointer, HURRAY_ERR_NULL_POINTER));
static_assert(same(Status::internal_panic, HURRAY_ERR_INTERNAL_PANIC));
static_assert(same(Status::invalid_sync_mode, HURRAY_ERR_INVALID_SYNC_MODE));
static_assert(same(Status::sync_mode_mismatch, HURRAY_ERR_SYNC_MODE_MISMATCH));
static_assert(same(Status::internal, HURRAY_ERR_INTERNAL));
static_assert(same(Status::index_out_of_bounds, HURRAY_ERR_INDEX_OUT_OF_BOUNDS));
static_assert(same(Status::invalid_handle, HURRAY_ERR_INVALID_HANDLE));
static_assert(same(Status::out_of_memory, HURRAY_ERR_OUT_OF_MEMORY));
static_assert(same(Status::io, HURRAY_ERR_IO));
static_assert(same(Status::unsupported, HURRAY_ERR_UNSUPPORTED));
static_assert(same(Status::cancelled, HURRAY_ERR_CANCELLED));
static_assert(same(Status::forked, HURRAY_ERR_FORKED));
static_assert(same(Status::invalid_argument, HURRAY_ERR_INVALID_ARGUMENT));
static_assert(same(Status::invalid_quantization, HURRAY_ERR_INVALID_QUANTIZATION));
static_assert(same(Status::invalid_composite, HURRAY_ERR_INVALID_COMPOSITE));
static_assert(same(Status::misaligned, HURRAY_ERR_MISALIGNED));
static_assert(same(Status::invalid_format, HURRAY_ERR_INVALID_FORMAT));
static_assert(same(Status::not_found, HURRAY_ERR_NOT_FOUND));
static_assert(same(Status::limit_exceeded, HURRAY_ERR_LIMIT_EXCEEDED));
static_assert(same(Status::timed_out, HURRAY_ERR_TIMED_OUT));
static_assert(same(Status::disconnected, HURRAY_ERR_DISCONNECTED));

void write_report(HurrayError* out, Status code, const char* message, std::uint64_t offset) noexcept {
    if (out == nullptr) return;
    out->code = static_cast<std::int32_t>(code);
    if (offset == Error::no_offset) {
        std::snprintf(out->message, sizeof out->message, "%s", message);
    } else {
        // The longest message of an Error leaves room for the offset, so that it is never cut off.
        static_assert(sizeof(Error::message) + sizeof " [byte 18446744073709551615]" <= sizeof(HurrayError::message));
        std::snprintf(out->message, sizeof out->message, "%.*s [byte %llu]", static_cast<int>(sizeof(Error::message)) - 1,
                      message, static_cast<unsigned long long>(offset));
    }
}

}  // namespace

HurrayStatus report(const Error& error, HurrayError* out) noexcept {
    write_report(out, error.code, error.message, error.offset);
    if (error.code == Status::internal) keep_diagnostic(HURRAY_ERR_INTERNAL, error.message);
    return static_cast<HurrayStatus>(error.code);
}

HurrayStatus report_null(const char* parameter, HurrayError* out) noexcept {
    return report(make_error(Status::null_pointer, Error::no_offset, "%s: is null, expected a pointer", parameter), out);
}

HurrayStatus report_out_of_memory(HurrayError* out) noexcept {
    write_report(out, Status::out_of_memory, "memory could not be allocated", Error::no_offset);
    return HURRAY_ERR_OUT_OF_MEMORY;
}

HurrayStatus report_panic(const char* what, HurrayError* out) noexcept {
    const Error error = make_error(Status::internal_panic, Error::no_offset, "%s", what);
    write_report(out, error.code, error.message, error.offset);
    keep_diagnostic(HURRAY_ERR_INTERNAL_PANIC, what);
    return HURRAY_ERR_INTERNAL_PANIC;
}

HurrayStatus report_end(bool clean, HurrayError* out) noexcept {
    if (clean) return succeed(out);
    write_report(out, Status::internal_panic,
                 "a callback threw an exception; everything was ended all the same (hurray_diagnostics_read of the copy of the "
                 "library that ran it has its text)",
                 Error::no_offset);
    return HURRAY_ERR_INTERNAL_PANIC;
}

HurrayStatus report_invalid_handle(const char* parameter, HurrayError* out) noexcept {
    return report(invalid_handle(parameter, "a live handle").error(), out);
}

std::unexpected<Error> invalid_handle(const char* parameter, const char* expected) noexcept {
    return fail(Status::invalid_handle, Error::no_offset, "%s: expected %s, but it is destroyed, of another kind, or of another copy of the library",
                parameter, expected);
}

namespace {

// GCC's unwinder fills its tables when it raises its first exception; a copy of it that is linked into a shared library
// raises none before a callback of the program throws one through it, and would abort. So it raises one at load.
[[maybe_unused]] const bool unwinder_is_ready = [] {
    try {
        throw 0;
    } catch (int) {
        return true;
    }
}();

}  // namespace

}  // namespace hurray::abi

#include "abi/src/internal/barrier.hpp"

#include <cstdio>

#include "abi/src/internal/diagnostics.hpp"

namespace hurray::abi {
namespace {

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
    write_report(out, Status::internal_panic, what, Error::no_offset);
    keep_diagnostic(HURRAY_ERR_INTERNAL_PANIC, what);
    return HURRAY_ERR_INTERNAL_PANIC;
}

HurrayStatus report_invalid_handle(const char* parameter, HurrayError* out) noexcept {
    return report(invalid_handle(parameter, "a live handle").error(), out);
}

std::unexpected<Error> invalid_handle(const char* parameter, const char* expected) noexcept {
    return fail(Status::invalid_handle, Error::no_offset, "%s: expected %s, but it is destroyed or not a handle of that kind",
                parameter, expected);
}

}  // namespace hurray::abi

// The last messages of broken invariants and caught exceptions, for a process that wants to know.
#pragma once

#include <cstdint>

#include "abi/src/api/status.hpp"
#include "abi/src/api/version.hpp"

namespace hurray::abi {

/// The text of the exception that is being handled: what() of a standard one, or the string that was thrown. It lives until
/// the handler ends. Call it in a catch block only.
const char* exception_text() noexcept;

/// Keeps the message in a ring of 32; the oldest is overwritten. Then calls the log callback, if the process installed
/// one, with no lock held that another function of the library takes.
/// @param detail null, or text that is put behind the message
void keep_diagnostic(HurrayStatus code, const char* message, const char* detail = nullptr) noexcept;

/// Copies message `index` (0 is the oldest kept) and its code; false when there are fewer.
bool read_diagnostic(std::uint32_t index, HurrayError& out) noexcept;

/// Installs the log callback (null: none). When it returns true, the callback before it is not running and will not run
/// again; false: called from within a log callback, nothing is changed.
bool set_log_callback(HurrayLogFn callback, void* context) noexcept;

/// For the child of a fork, before it does anything else: locks may have been held by threads that it does not have. The
/// parent's log callback is not called there.
void reset_diagnostics_after_fork() noexcept;

}  // namespace hurray::abi

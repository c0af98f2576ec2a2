// The last messages of broken invariants and caught exceptions, for a process that wants to know.
#pragma once

#include <cstdint>

#include "abi/src/api/status.hpp"

namespace hurray::abi {

/// Keeps the message in a ring of 32; the oldest is overwritten.
void keep_diagnostic(HurrayStatus code, const char* message) noexcept;

/// Copies message `index` (0 is the oldest kept) and its code; false when there are fewer.
bool read_diagnostic(std::uint32_t index, HurrayError& out) noexcept;

/// For the child of a fork, before it does anything else: the lock may have been held by a thread that it does not have.
void reset_diagnostics_after_fork() noexcept;

}  // namespace hurray::abi

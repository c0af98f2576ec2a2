// What a fork of the process may do with what it inherited: end it, without a callback and without waiting for a lock that
// another thread of the parent held.
#pragma once

#include <cstdint>

namespace hurray::abi {

/// How many forks lie between this process and the one that loaded the library. What was made at another generation
/// belongs to an ancestor: its releases are the ancestor's to run.
std::uint32_t fork_generation() noexcept;

}  // namespace hurray::abi

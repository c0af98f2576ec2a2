#ifndef _WIN32
#include <pthread.h>

#include <atomic>

#include "abi/src/internal/diagnostics.hpp"
#include "abi/src/internal/fork.hpp"
#include "abi/src/internal/handle.hpp"
#include "abi/src/internal/release.hpp"

namespace hurray::abi {
namespace {

constinit std::atomic<std::uint32_t> generation{0};

// Runs in the child, which has one thread: locks that others held at the fork are made anew.
void begin_child() {
    generation.fetch_add(1, std::memory_order_relaxed);
    ReleaseQueue::reset_default_after_fork();
    reset_diagnostics_after_fork();
    reset_quarantine_after_fork();
}

// Without it, a child is taken for its parent: the limit that every library has that does not look.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, &begin_child);

}  // namespace

std::uint32_t fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

}  // namespace hurray::abi
#endif

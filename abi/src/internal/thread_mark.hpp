// A number that the running threads of a process do not share; 0 is no thread's.
#pragma once

#include <cstdint>

#ifdef _WIN32
#include "core/hurray/io/windows_system.hpp"
#else
#include <pthread.h>
#endif

namespace hurray::abi {

inline std::uintptr_t this_thread_mark() noexcept {
#ifdef _WIN32
    return ::GetCurrentThreadId();
#else
    return (std::uintptr_t)::pthread_self();  // a number here, a pointer there
#endif
}

}  // namespace hurray::abi

// Allocations that fail on demand: what allocator.cpp, which replaces operator new and the malloc family, asks first.
#pragma once

namespace hurray_test {

// How many allocations of this thread may still succeed before one fails; negative: all of them.
inline thread_local long allocations_until_failure = -1;
// How many were asked for since the last arm().
inline thread_local long allocations_seen = 0;

inline bool allocation_fails() {
    ++allocations_seen;
    if (allocations_until_failure < 0) return false;
    return allocations_until_failure-- == 0;
}

/// The n-th allocation from now on fails, those after it succeed again; negative: none fails.
inline void arm(long n) {
    allocations_seen = 0;
    allocations_until_failure = n;
}

/// Nothing fails any more; how many allocations were asked for since arm().
inline long disarm() {
    allocations_until_failure = -1;
    return allocations_seen;
}

}  // namespace hurray_test

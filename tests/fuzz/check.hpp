// What must hold whatever the input is; a fuzz target stops the program where it does not.
#pragma once

#include <cstdio>
#include <cstdlib>

#define HURRAY_FUZZ_CHECK(condition)                                                        \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
            std::abort();                                                                   \
        }                                                                                   \
    } while (false)

namespace hurray::fuzz {

/// As above, with words for what must hold.
inline void require(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
}

}  // namespace hurray::fuzz

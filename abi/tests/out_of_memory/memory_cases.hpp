// One case for each function of the C ABI: what it does when memory runs out. See out_of_memory_test.cpp.
#pragma once

#include <functional>
#include <ostream>
#include <vector>

#include "abi/tests/out_of_memory/allocation_failure.hpp"
#include "abi/tests/support.hpp"

namespace hurray_test {

using Call = std::function<HurrayStatus()>;
using Look = std::function<void()>;

inline void nothing() {}

struct MemoryCase {
    const char* function;
    /// What is special about a further case of a function; empty: the function's first one.
    const char* variant;
    /// Why the function needs no memory; empty: it does need some.
    const char* reason;
    void (*body)();

    friend void PrintTo(const MemoryCase& one, std::ostream* out) { *out << one.function << one.variant; }
};

inline std::vector<MemoryCase>& memory_cases() {
    static std::vector<MemoryCase> cases;
    return cases;
}

/// For the error parameter of the calls.
inline HurrayError report;

/// How often the current case saw a call fail for want of memory, and how often one that needed none.
inline int failures_injected = 0;
inline int calls_without_memory = 0;

/// Runs `call` with the n-th allocation failing, n = 0, 1, ... until it needs no further one and succeeds. `prepare` runs
/// before each attempt and `look` after each failure. The call must fail with OUT_OF_MEMORY, also in its report, and leave
/// no handle behind.
inline void each_allocation_fails(const Call& call, const Look& look = nothing, const Look& prepare = nothing) {
    for (long n = 0; n < 2000; ++n) {
        prepare();
        const std::uint64_t before = live_handles();
        constexpr std::int32_t untouched = 77;
        report.code = untouched;
        report.message[0] = '\0';
        arm(n);
        const HurrayStatus status = call();
        const bool injected = allocations_until_failure < 0;
        (void)disarm();
        if (status == HURRAY_OK) {
            EXPECT_FALSE(injected) << "allocation " << n << " failed, but the call succeeded";
            EXPECT_GT(n, 0) << "the call needs no memory: the case proves nothing";
            return;
        }
        ASSERT_EQ(status, HURRAY_ERR_OUT_OF_MEMORY) << "allocation " << n;
        if (report.code != untouched) {
            EXPECT_EQ(report.code, HURRAY_ERR_OUT_OF_MEMORY) << "allocation " << n;
            EXPECT_NE(report.message[0], '\0');
        }
        ASSERT_EQ(live_handles(), before) << "allocation " << n << ": half-made handles";
        ++failures_injected;
        look();
        if (::testing::Test::HasFatalFailure()) return;
    }
    FAIL() << "the call never succeeded";
}

/// Runs `call` while no allocation succeeds: it must not ask for any. Returns what the call returned.
template <class Function>
auto without_memory(Function&& call) {
    arm(0);
    auto result = call();
    EXPECT_EQ(disarm(), 0) << "the function asked for memory";
    ++calls_without_memory;
    return result;
}

}  // namespace hurray_test

// The body of a case knows the function by the name `subject` only, so that it cannot test another one.
#define HURRAY_MEMORY_CASE(function, variant, reason)                                                                        \
    static void function##variant##_case(decltype(&function) subject);                                                       \
    [[maybe_unused]] static const bool function##variant##_listed =                                                          \
        (hurray_test::memory_cases().push_back({#function, #variant, reason, [] { function##variant##_case(&function); }}), true); \
    static void function##variant##_case(decltype(&function) subject)

/// The function needs memory: std::bad_alloc at each of its allocations in turn.
#define NEEDS_MEMORY(function) HURRAY_MEMORY_CASE(function, , "")
/// The same in other circumstances, which the variant, such as `_of_a_list`, names.
#define NEEDS_MEMORY_TOO(function, variant) HURRAY_MEMORY_CASE(function, variant, "")
/// The function needs none, for the reason given: it works while every allocation fails.
#define NEEDS_NO_MEMORY(function, reason) HURRAY_MEMORY_CASE(function, , reason)

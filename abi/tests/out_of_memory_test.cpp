// The barrier: std::bad_alloc at the n-th allocation, for every n, of every function that needs memory. The call fails with
// OUT_OF_MEMORY, nothing half-made is visible, nothing leaks, ownership has not moved and no release has run; after the
// failure the same call succeeds. Every other function does its work while no allocation succeeds. Each function of
// abi.json has a case. (seed: Panic Safety)
//
// The cases stand in out_of_memory/, one file for each group of functions.
#include <set>
#include <string>

#include "abi/gen/function_names.hpp"
#include "abi/tests/out_of_memory/memory_cases.hpp"

namespace {

using namespace hurray_test;

class OutOfMemory : public BaseLineTest, public ::testing::WithParamInterface<MemoryCase> {};

TEST_P(OutOfMemory, EachAllocation) {
    const MemoryCase& one = GetParam();
    failures_injected = 0;
    calls_without_memory = 0;
    one.body();
    if (one.reason[0] == '\0') {
        EXPECT_GT(failures_injected, 0) << "no allocation of " << one.function << " failed";
    } else {
        EXPECT_GT(calls_without_memory, 0) << one.function << " was not called";
        EXPECT_EQ(failures_injected, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Functions, OutOfMemory, ::testing::ValuesIn(memory_cases()),
                         [](const auto& one) { return std::string(one.param.function) + one.param.variant; });

TEST(OutOfMemoryCases, EveryFunctionOfTheAbiHasOne) {
    std::set<std::string> cases;
    for (const MemoryCase& one : memory_cases()) {
        if (one.variant[0] != '\0') continue;
        EXPECT_TRUE(cases.insert(one.function).second) << "two cases for " << one.function;
    }
    for (const char* name : hurray_function_names) EXPECT_EQ(cases.erase(name), 1u) << "no case for " << name;
    EXPECT_TRUE(cases.empty()) << "a case for " << *cases.begin() << ", which is no function of abi.json";
}

}  // namespace

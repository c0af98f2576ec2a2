// Proves that the NULL tests (abi/gen/null_test.cpp) can fail: each mutant of each function must make one of the tests of
// that function fail, and without a mutant all of them must pass.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "abi/tests/null_mutants.hpp"

namespace {

/// Says nothing: that a test fails is what is wanted.
class Quiet final : public ::testing::EmptyTestEventListener {};

/// Runs the NULL tests that a filter names; how many failed.
int failed_tests(const std::string& filter) {
    GTEST_FLAG_SET(filter, filter);
    if (RUN_ALL_TESTS() == 0) return 0;
    return ::testing::UnitTest::GetInstance()->failed_test_count();
}

}  // namespace

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    // A mutant that ends a handle must be found by the fixture that ends it again, and not by chance.
    if (hurray_handle_checks_set(1, nullptr) != HURRAY_OK) return 1;
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new Quiet);

    int wrong = 0;
    const int failed = failed_tests("NullPointers.*");
    const int ran = ::testing::UnitTest::GetInstance()->test_to_run_count();
    if (failed != 0 || ran == 0) {
        std::fprintf(stderr, "without a mutant: %d of %d tests fail\n", failed, ran);
        ++wrong;
    }
    for (const hurray_null::Mutant& mutant : hurray_null::all_mutants()) {
        hurray_null::active_mutant() = &mutant;
        hurray_null::spoilt_answers() = 0;
        const int found = failed_tests("NullPointers." + std::string(mutant.function) + "_*");
        hurray_null::active_mutant() = nullptr;
        if (found != 0 && hurray_null::spoilt_answers() != 0) continue;
        ++wrong;
        std::fprintf(stderr, "%.*s: no NULL test notices the mutant %.*s %.*s (it spoilt %d answers)\n",
                     static_cast<int>(mutant.function.size()), mutant.function.data(), static_cast<int>(mutant.kind.size()),
                     mutant.kind.data(), static_cast<int>(mutant.parameter.size()), mutant.parameter.data(),
                     hurray_null::spoilt_answers());
    }
    std::printf("%d NULL tests, %zu mutants, %d survived\n", ran, hurray_null::all_mutants().size(), wrong);
    return wrong == 0 ? 0 : 1;
}

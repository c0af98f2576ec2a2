// Each sanitizer configuration does find the fault that it is there for. Without one this test is left out.
#include <gtest/gtest.h>

#include <climits>
#include <thread>

namespace {

#if defined(HURRAY_ASAN)
TEST(Sanitizer, FindsUseAfterFree) {
    EXPECT_DEATH(
        {
            // Through a volatile pointer, or the compiler finds the fault first.
            int* volatile memory = new int[4];
            delete[] memory;
            *(memory + 1) = 1;
        },
        "AddressSanitizer: heap-use-after-free");
}
#endif

#if defined(HURRAY_UBSAN)
TEST(Sanitizer, FindsSignedOverflow) {
    EXPECT_DEATH(
        {
            volatile int number = INT_MAX;
            number = number + 1;
        },
        "signed integer overflow");
}
#endif

#if defined(HURRAY_TSAN)
TEST(Sanitizer, FindsDataRace) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(
        {
            volatile int number = 0;
            std::thread other([&number] { number = 1; });
            number = 2;
            other.join();
        },
        "ThreadSanitizer: data race");
}
#endif

#if !defined(HURRAY_ASAN) && !defined(HURRAY_UBSAN) && !defined(HURRAY_TSAN)
#error "only for the sanitizer configurations"
#endif

}  // namespace

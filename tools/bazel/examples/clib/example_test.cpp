#include "example.h"

#include <gtest/gtest.h>

TEST(Example, Sums) {
    const int32_t values[] = {1, 2, 39};
    EXPECT_EQ(example_sum(values, 3), 42);
}

TEST(Example, CatchesInside) { EXPECT_EQ(example_sum(nullptr, 3), 0); }

TEST(Example, CallsBack) {
    int calls = 0;
    example_call([](void* context) { ++*static_cast<int*>(context); }, &calls);
    EXPECT_EQ(calls, 1);
}

#include "example.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

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

TEST(Example, ExceptionsPassThroughFrames) {
    const auto thrower = []() -> int { throw std::runtime_error("thrown"); };
    EXPECT_THROW(thrower(), std::runtime_error);
}

TEST(Example, SharesMemoryBetweenThreads) {
    std::atomic<int> calls{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&calls] {
            example_call([](void* context) { static_cast<std::atomic<int>*>(context)->fetch_add(1); }, &calls);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(calls.load(), 4);
}

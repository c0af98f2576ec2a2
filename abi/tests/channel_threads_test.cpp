// Tensors that came through a channel end on other threads than the channel's: to be run with the thread sanitizer, too.
// (docs/channel.md)
#include <atomic>
#include <mutex>
#include <thread>

#include "abi/tests/channels.hpp"

namespace {

using namespace hurray_test;

class ChannelThreads : public BaseLineTest {};

TEST_F(ChannelThreads, ReleasesComeFromAllThreads) {
    constexpr int tensors = 400;
    Ends ends;
    std::mutex mutex;
    std::vector<HurrayTensor*> waiting;
    std::atomic<int> ended{0};
    std::thread producer([&] {
        HurrayTensor* tensor = shared_tensor(5000);
        for (int i = 0; i < tensors; ++i) EXPECT_EQ(hurray_channel_send(ends.first, tensor, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_channel_finish(ends.first, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
        while (info_of(ends.first).outstanding != 0) {
            EXPECT_EQ(hurray_channel_process(ends.first, nullptr), HURRAY_OK);
            std::this_thread::yield();
        }
    });
    std::vector<std::thread> enders;
    for (int i = 0; i < 3; ++i) {
        enders.emplace_back([&, i] {
            while (ended < tensors) {
                HurrayTensor* tensor = nullptr;
                {
                    const std::lock_guard lock(mutex);
                    if (!waiting.empty()) {
                        tensor = waiting.back();
                        waiting.pop_back();
                    }
                }
                if (tensor == nullptr) {
                    std::this_thread::yield();
                    continue;
                }
                EXPECT_EQ(static_cast<const unsigned char*>(view_of(tensor).data)[77], 77);
                EXPECT_EQ(i == 0 ? hurray_tensor_destroy_deferred(&tensor, nullptr) : hurray_tensor_destroy(&tensor), HURRAY_OK);
                ++ended;
            }
        });
    }
    for (;;) {
        HurrayTensor* tensor = received(ends.second);
        if (tensor == nullptr) break;
        const std::lock_guard lock(mutex);
        waiting.push_back(tensor);
    }
    for (std::thread& thread : enders) thread.join();
    // What did not fit the socket when it was released goes with the next call.
    for (int i = 0; i < 1000 && info_of(ends.second).held != 0; ++i) std::this_thread::yield();
    HurrayTensor* none = received(ends.second);
    EXPECT_EQ(none, nullptr);
    std::atomic<bool> done{false};
    std::thread flusher([&] {
        // The producer may need more than one: its end reads in steps.
        while (!done) {
            EXPECT_EQ(hurray_channel_process(ends.second, nullptr), HURRAY_OK);
            std::this_thread::yield();
        }
    });
    producer.join();
    done = true;
    flusher.join();
    EXPECT_EQ(info_of(ends.first).outstanding, 0u);
    EXPECT_EQ(info_of(ends.first).copied_bytes, 0u);
}

// The last share of a tensor ends while its channel does.
TEST_F(ChannelThreads, TensorsEndWhileTheirChannelDoes) {
    for (int round = 0; round < 100; ++round) {
        Ends ends;
        HurrayTensor* tensor = shared_tensor(10);
        ASSERT_EQ(hurray_channel_send(ends.first, tensor, nullptr), HURRAY_OK);
        HurrayTensor* other = received(ends.second);
        std::thread ender([&] { EXPECT_EQ(hurray_tensor_destroy(&other), HURRAY_OK); });
        EXPECT_EQ(hurray_channel_destroy(&ends.second), HURRAY_OK);
        EXPECT_EQ(hurray_channel_destroy(&ends.first), HURRAY_OK);
        ender.join();
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    }
}

}  // namespace

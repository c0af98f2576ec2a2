// A child of fork ends what it inherited without a callback and without waiting for ever. (design: Lifetime)
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "abi/tests/support.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::buffer_over;
using hurray_test::ReleaseCounter;

// Runs `body` in a child and returns what it returned; -1 when it did not end within the time limit.
template <typename Body>
int in_child(Body&& body) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(body());
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Fork, ChildEndsWhatItInheritedWithoutCallbacks) {
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    HurrayBuffer* buffer = buffer_over(memory.bytes, 64, counter);
    HurrayBuffer* deferred = buffer_over(memory.bytes, 64, counter);
    EXPECT_EQ(in_child([&] {
                  if (hurray_buffer_destroy(buffer) != HURRAY_OK) return 1;
                  if (hurray_buffer_destroy_deferred(deferred, nullptr) != HURRAY_OK) return 2;
                  std::uint64_t released = 0;
                  if (hurray_release_queue_drain(nullptr, UINT64_MAX, &released, nullptr) != HURRAY_OK) return 3;
                  return static_cast<int>(counter.calls) == 0 && released == 0 ? 0 : 4;
              }),
              0);
    EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(deferred), HURRAY_OK);
    EXPECT_EQ(counter.calls, 2) << "the parent's are the parent's";
}

TEST(Fork, WhatTheChildMakesIsReleased) {
    AlignedBytes<64> memory;
    EXPECT_EQ(in_child([&] {
                  ReleaseCounter counter;
                  HurrayBuffer* buffer = buffer_over(memory.bytes, 64, counter);
                  if (hurray_buffer_destroy_deferred(buffer, nullptr) != HURRAY_OK) return 1;
                  std::uint64_t released = 0;
                  if (hurray_release_queue_drain(nullptr, UINT64_MAX, &released, nullptr) != HURRAY_OK) return 2;
                  return counter.calls == 1 && released == 1 ? 0 : 3;
              }),
              0);
}

// Another thread may hold the queue's lock at the fork; nobody in the child will ever let it go.
TEST(Fork, LockThatAnotherThreadHeldDoesNotStopTheChild) {
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    HurrayReleaseQueue* queue = nullptr;
    ASSERT_EQ(hurray_release_queue_new(&queue, nullptr), HURRAY_OK);
    std::atomic<bool> stop{false};
    std::thread busy([&] {
        std::uint64_t count = 0;
        while (!stop) {
            hurray_release_queue_pending(queue, &count, nullptr);
            hurray_release_queue_pending(nullptr, &count, nullptr);
        }
    });
    for (int i = 0; i < 200; ++i) {
        HurrayBuffer* buffer = buffer_over(memory.bytes, 64, counter);
        ASSERT_EQ(hurray_buffer_set_release_queue(buffer, queue, nullptr), HURRAY_OK);
        HurrayBuffer* plain = buffer_over(memory.bytes, 64, counter);
        const int ended = in_child([&] {
            return hurray_buffer_destroy_deferred(buffer, nullptr) == HURRAY_OK &&
                           hurray_buffer_destroy_deferred(plain, nullptr) == HURRAY_OK
                       ? 0
                       : 1;
        });
        EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
        EXPECT_EQ(hurray_buffer_destroy(plain), HURRAY_OK);
        ASSERT_EQ(ended, 0) << "child " << i;
    }
    stop = true;
    busy.join();
    EXPECT_EQ(hurray_release_queue_destroy(&queue), HURRAY_OK);
    EXPECT_EQ(counter.calls, 400);
}

}  // namespace

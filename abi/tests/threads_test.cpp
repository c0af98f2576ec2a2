// What several threads may do at once, for ThreadSanitizer: handles that share memory used by one thread each, releases that
// are put off on one thread while another drains. (seed: Thread Safety)
#include <array>
#include <thread>
#include <vector>

#include "abi/tests/support.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::ReleaseCounter;

constexpr int thread_count = 4;
constexpr int rounds = 500;

class Threads : public hurray_test::BaseLineTest {
protected:
    template <class Body>
    static void run(Body body) {
        std::vector<std::thread> threads;
        for (int i = 0; i < thread_count; ++i) threads.emplace_back(body, i);
        for (std::thread& thread : threads) thread.join();
    }
};

// The owner of the context and the memory are released once, by whichever thread ends the last share.
TEST_F(Threads, SharesOfATensorAreMadeExportedAndEndedByManyThreads) {
    hurray_test::Pair pair;
    HurrayTensor* root = nullptr;
    ASSERT_EQ(hurray_tensor_import(&pair.list, &pair.context, &root, nullptr), HURRAY_OK);
    std::array<HurrayTensor*, thread_count> own{};
    for (HurrayTensor*& tensor : own) ASSERT_EQ(hurray_tensor_share(root, &tensor, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_tensor_destroy(&root), HURRAY_OK);
    run([&own](int number) {
        HurrayTensor* tensor = own[static_cast<std::size_t>(number)];
        for (int i = 0; i < rounds; ++i) {
            HurrayBufferList* list = nullptr;
            HurrayTensorContext* context = nullptr;
            ASSERT_EQ(hurray_tensor_export(tensor, &list, &context, nullptr), HURRAY_OK);
            HurrayTensor* taken = nullptr;
            ASSERT_EQ(hurray_tensor_import(&list, &context, &taken, nullptr), HURRAY_OK);
            ASSERT_EQ(hurray_tensor_destroy(&taken), HURRAY_OK);
        }
        ASSERT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    });
    EXPECT_EQ(pair.releases.calls, 1);
    EXPECT_EQ(pair.owner_releases.calls, 1);
}

TEST_F(Threads, ReleasesArePutOffByManyThreadsWhileOneDrains) {
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    HurrayReleaseQueue* queue = nullptr;
    ASSERT_EQ(hurray_release_queue_new(&queue, nullptr), HURRAY_OK);
    std::atomic<int> working{thread_count - 1};
    std::uint64_t total = 0;
    run([&](int number) {
        if (number == 0) {
            while (working != 0) {
                std::uint64_t drained = 0;
                ASSERT_EQ(hurray_release_queue_drain(queue, 7, &drained, nullptr), HURRAY_OK);
                total += drained;
            }
            return;
        }
        for (int i = 0; i < rounds; ++i) {
            HurrayBuffer* buffer = hurray_test::buffer_over(memory.bytes, 64, counter);
            ASSERT_EQ(hurray_buffer_set_release_queue(buffer, queue, nullptr), HURRAY_OK);
            ASSERT_EQ(hurray_buffer_destroy_deferred(buffer, nullptr), HURRAY_OK);
        }
        --working;
    });
    std::uint64_t rest = 0;
    EXPECT_EQ(hurray_release_queue_drain(queue, UINT64_MAX, &rest, nullptr), HURRAY_OK);
    EXPECT_EQ(total + rest, static_cast<std::uint64_t>((thread_count - 1) * rounds));
    EXPECT_EQ(hurray_release_queue_destroy(&queue), HURRAY_OK);
    EXPECT_EQ(counter.calls, (thread_count - 1) * rounds);
}

// A handle moves between threads: made on one, used on another, ended on a third.
TEST_F(Threads, HandleMovesBetweenThreads) {
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    HurrayBuffer* buffer = nullptr;
    std::thread([&] { buffer = hurray_test::buffer_over(memory.bytes, 64, counter); }).join();
    std::thread([&] {
        HurrayBufferInfo info{};
        info.struct_size = sizeof info;
        EXPECT_EQ(hurray_buffer_info(buffer, &info, nullptr), HURRAY_OK);
    }).join();
    std::thread([&] { EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK); }).join();
    EXPECT_EQ(counter.calls, 1);
}

// With the checks on, the quarantine is shared by all threads, too.
TEST_F(Threads, QuarantineIsSharedByThreads) {
    HurrayRuntimeInfo info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(hurray_runtime_info(&info, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_handle_checks_set(1, nullptr), HURRAY_OK);
    run([](int) {
        AlignedBytes<64> own;
        ReleaseCounter counter;
        for (int i = 0; i < rounds; ++i) {
            HurrayBuffer* buffer = hurray_test::buffer_over(own.bytes, 64, counter);
            ASSERT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
            ASSERT_EQ(hurray_buffer_destroy(buffer), HURRAY_ERR_INVALID_HANDLE);
        }
    });
    ASSERT_EQ(hurray_handle_checks_set(static_cast<std::uint8_t>(info.handle_checks), nullptr), HURRAY_OK);
}

}  // namespace

// Buffers. (seed: Opaque Handles, Buffer Release Callbacks, Thread Safety)
#include <thread>

#include "abi/tests/support.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::buffer_over;
using hurray_test::ReleaseCounter;

class BufferFromPtr : public hurray_test::BaseLineTest {};

TEST_F(BufferFromPtr, ReleaseRunsExactlyOnceWithThePointerAsGiven) {
    AlignedBytes<128> memory;
    ReleaseCounter counter;
    HurrayBuffer* buffer = buffer_over(memory.bytes, 128, counter);
    EXPECT_EQ(counter.calls, 0);
    EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
    EXPECT_EQ(counter.calls, 1);
    EXPECT_EQ(counter.last_data, memory.bytes);
}

TEST_F(BufferFromPtr, NullReleaseMeansBorrowedForEver) {
    static AlignedBytes<64> memory;
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(hurray_buffer_from_ptr(memory.bytes, 64, 64, HURRAY_DEVICE_CPU, nullptr, nullptr, &buffer), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
}

TEST_F(BufferFromPtr, IsProducerSyncedAndStandard) {
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    HurrayBuffer* buffer = buffer_over(memory.bytes, 64, counter);
    HurrayBufferHandleBytes handle;
    ASSERT_EQ(hurray_buffer_handle_bytes(buffer, &handle, nullptr), HURRAY_OK);
    EXPECT_EQ(handle.bytes[0], 64);
    EXPECT_EQ(handle.bytes[8], 64);
    EXPECT_EQ(handle.bytes[13], HURRAY_SYNC_PRODUCER_SYNCED);
    EXPECT_EQ(handle.bytes[14], HURRAY_MEMORY_STANDARD);
    EXPECT_EQ(handle.bytes[15], 0);
    EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
}

TEST_F(BufferFromPtr, EmptyBufferMayHaveANullPointer) {
    ReleaseCounter counter;
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(hurray_buffer_from_ptr(nullptr, 0, 1, HURRAY_DEVICE_CPU, &ReleaseCounter::release, &counter, &buffer), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
    EXPECT_EQ(counter.calls, 1) << "released exactly once, empty or not";
}

// Each refusal: the code, no handle, no release: the memory stays the caller's.
TEST_F(BufferFromPtr, RefusalsMoveNoOwnership) {
    AlignedBytes<128> memory;
    struct Case {
        const char* what;
        void* data;
        std::uint64_t size;
        std::uint32_t alignment;
        std::uint8_t device;
        HurrayStatus expected;
    };
    const Case cases[] = {
        {"range that wraps", reinterpret_cast<void*>(~std::uintptr_t{63}), 65, 64, 0, HURRAY_ERR_INVALID_ARGUMENT},
        {"null data", nullptr, 1, 64, 0, HURRAY_ERR_NULL_POINTER},
        {"alignment 0", memory.bytes, 64, 0, 0, HURRAY_ERR_INVALID_LAYOUT},
        {"alignment not a power of two", memory.bytes, 64, 96, 0, HURRAY_ERR_INVALID_LAYOUT},
        {"alignment below 64", memory.bytes, 64, 32, 0, HURRAY_ERR_INVALID_LAYOUT},
        {"pointer not aligned as declared", memory.bytes + 8, 64, 64, 0, HURRAY_ERR_MISALIGNED},
        {"reserved device", memory.bytes, 64, 64, 0x09, HURRAY_ERR_INVALID_TYPE},
        {"invalid device", memory.bytes, 64, 64, 0xFF, HURRAY_ERR_INVALID_TYPE},
    };
    for (const Case& c : cases) {
        ReleaseCounter counter;
        auto* buffer = reinterpret_cast<HurrayBuffer*>(&counter);
        EXPECT_EQ(hurray_buffer_from_ptr(c.data, c.size, c.alignment, c.device, &ReleaseCounter::release, &counter, &buffer),
                  c.expected)
            << c.what;
        EXPECT_EQ(buffer, nullptr) << c.what;
        EXPECT_EQ(counter.calls, 0) << c.what;
    }
}

class BufferFromHost : public hurray_test::BaseLineTest {};

TEST_F(BufferFromHost, BaseIsRoundedDownAndTheDifferenceIsThePrefix) {
    AlignedBytes<256> memory;
    for (std::uint32_t start = 0; start < 130; ++start) {
        ReleaseCounter counter;
        HurrayBuffer* buffer = nullptr;
        std::uint64_t byte_offset = 999;
        ASSERT_EQ(hurray_buffer_from_host(memory.bytes + start, 100, 0, &ReleaseCounter::release, &counter, &buffer,
                                          &byte_offset, nullptr),
                  HURRAY_OK);
        EXPECT_EQ(byte_offset, start % 64);
        HurrayBufferInfo info{};
        info.struct_size = sizeof info;
        ASSERT_EQ(hurray_buffer_info(buffer, &info, nullptr), HURRAY_OK);
        EXPECT_EQ(info.data, memory.bytes + start / 64 * 64);
        EXPECT_EQ(info.byte_size, 100 + start % 64);
        EXPECT_EQ(info.alignment, 64u);
        EXPECT_EQ(info.prefix, start % 64);
        std::uint64_t prefix = 0;
        EXPECT_EQ(hurray_buffer_prefix(buffer, &prefix, nullptr), HURRAY_OK);
        EXPECT_EQ(prefix, start % 64);
        EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
        EXPECT_EQ(counter.calls, 1);
        EXPECT_EQ(counter.last_data, memory.bytes + start) << "data exactly as it was passed in";
    }
}

TEST_F(BufferFromHost, RangeThatWrapsIsRefused) {
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    HurrayBuffer* buffer = nullptr;
    std::uint64_t byte_offset = 0;
    HurrayError error{};
    EXPECT_EQ(hurray_buffer_from_host(memory.bytes, UINT64_MAX, 0, &ReleaseCounter::release, &counter, &buffer, &byte_offset,
                                      &error),
              HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(counter.calls, 0);
    EXPECT_NE(std::string(error.message).find("byte_size"), std::string::npos);
}

class BufferShare : public hurray_test::BaseLineTest {};

TEST_F(BufferShare, LastHandleReleases) {
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    HurrayBuffer* first = buffer_over(memory.bytes, 64, counter);
    HurrayBuffer* second = nullptr;
    ASSERT_EQ(hurray_buffer_share(first, &second, nullptr), HURRAY_OK);
    HurrayBufferInfo info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(hurray_buffer_info(second, &info, nullptr), HURRAY_OK);
    EXPECT_EQ(info.share_count, 2u);
    EXPECT_EQ(hurray_buffer_destroy(first), HURRAY_OK);
    EXPECT_EQ(counter.calls, 0);
    EXPECT_EQ(hurray_buffer_destroy(second), HURRAY_OK);
    EXPECT_EQ(counter.calls, 1);
}

// Reference counts are atomic: shares made and ended by many threads, one release.
TEST_F(BufferShare, ThreadsShareAndDestroyConcurrently) {
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    HurrayBuffer* root = buffer_over(memory.bytes, 64, counter);
    constexpr int thread_count = 4;
    std::vector<HurrayBuffer*> own(thread_count, nullptr);
    for (auto& handle : own) ASSERT_EQ(hurray_buffer_share(root, &handle, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(root), HURRAY_OK);
    std::vector<std::thread> threads;
    for (HurrayBuffer* handle : own) {
        threads.emplace_back([handle] {
            for (int i = 0; i < 2000; ++i) {
                HurrayBuffer* share = nullptr;
                ASSERT_EQ(hurray_buffer_share(handle, &share, nullptr), HURRAY_OK);
                ASSERT_EQ(hurray_buffer_destroy(share), HURRAY_OK);
            }
            ASSERT_EQ(hurray_buffer_destroy(handle), HURRAY_OK);
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(counter.calls, 1);
}

class BufferSlice : public hurray_test::BaseLineTest {};

TEST_F(BufferSlice, SharesTheMemoryAndKeepsIt) {
    AlignedBytes<256> memory;
    ReleaseCounter counter;
    HurrayBuffer* whole = buffer_over(memory.bytes, 256, counter);
    HurrayBuffer* part = nullptr;
    ASSERT_EQ(hurray_buffer_slice(whole, 64, 100, &part, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(whole), HURRAY_OK);
    EXPECT_EQ(counter.calls, 0);
    HurrayBufferInfo info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(hurray_buffer_info(part, &info, nullptr), HURRAY_OK);
    EXPECT_EQ(info.data, memory.bytes + 64);
    EXPECT_EQ(info.byte_size, 100u);
    EXPECT_EQ(hurray_buffer_destroy(part), HURRAY_OK);
    EXPECT_EQ(counter.calls, 1);
    EXPECT_EQ(counter.last_data, memory.bytes);
}

TEST_F(BufferSlice, RefusesWhatIsOutsideOrUnaligned) {
    AlignedBytes<128> memory;
    ReleaseCounter counter;
    HurrayBuffer* whole = buffer_over(memory.bytes, 128, counter);
    HurrayBuffer* part = nullptr;
    EXPECT_EQ(hurray_buffer_slice(whole, 129, 0, &part, nullptr), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    EXPECT_EQ(hurray_buffer_slice(whole, 64, 65, &part, nullptr), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    EXPECT_EQ(hurray_buffer_slice(whole, UINT64_MAX, 2, &part, nullptr), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    EXPECT_EQ(hurray_buffer_slice(whole, 64, UINT64_MAX, &part, nullptr), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    EXPECT_EQ(hurray_buffer_slice(whole, 8, 8, &part, nullptr), HURRAY_ERR_MISALIGNED);
    EXPECT_EQ(part, nullptr);
    EXPECT_EQ(hurray_buffer_slice(whole, 128, 0, &part, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(part), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(whole), HURRAY_OK);
}

class BufferAllocate : public hurray_test::BaseLineTest {};

TEST_F(BufferAllocate, IsAlignedZeroedAndCounted) {
    for (const std::uint32_t alignment : {0u, 1u, 64u, 4096u}) {
        HurrayBuffer* buffer = nullptr;
        ASSERT_EQ(hurray_buffer_allocate(1000, alignment, &buffer, nullptr), HURRAY_OK);
        HurrayBufferInfo info{};
        info.struct_size = sizeof info;
        ASSERT_EQ(hurray_buffer_info(buffer, &info, nullptr), HURRAY_OK);
        EXPECT_EQ(info.alignment, alignment < 64 ? 64 : alignment);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(info.data) % info.alignment, 0u);
        for (int i = 0; i < 1000; ++i) ASSERT_EQ(static_cast<unsigned char*>(info.data)[i], 0);
        EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
    }
}

TEST_F(BufferAllocate, AbsurdSizesAreRefused) {
    HurrayBuffer* buffer = nullptr;
    for (const std::uint64_t size : {UINT64_MAX, UINT64_MAX - 63, std::uint64_t{1} << 63, std::uint64_t{1} << 60}) {
        EXPECT_EQ(hurray_buffer_allocate(size, 64, &buffer, nullptr), HURRAY_ERR_OUT_OF_MEMORY) << size;
        EXPECT_EQ(buffer, nullptr);
    }
    EXPECT_EQ(hurray_buffer_allocate(1, 96, &buffer, nullptr), HURRAY_ERR_INVALID_LAYOUT);
}

class BufferDeferred : public hurray_test::BaseLineTest {};

TEST_F(BufferDeferred, ReleaseWaitsOnItsQueueUntilDrained) {
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    HurrayReleaseQueue* queue = nullptr;
    ASSERT_EQ(hurray_release_queue_new(&queue, nullptr), HURRAY_OK);
    HurrayBuffer* buffer = buffer_over(memory.bytes, 64, counter);
    ASSERT_EQ(hurray_buffer_set_release_queue(buffer, queue, nullptr), HURRAY_OK);
    std::thread([buffer] { EXPECT_EQ(hurray_buffer_destroy_deferred(buffer, nullptr), HURRAY_OK); }).join();
    EXPECT_EQ(counter.calls, 0) << "no callback on a foreign thread";
    std::uint64_t count = 0;
    EXPECT_EQ(hurray_release_queue_pending(queue, &count, nullptr), HURRAY_OK);
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(hurray_release_queue_drain(queue, UINT64_MAX, &count, nullptr), HURRAY_OK);
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(counter.calls, 1);
    EXPECT_EQ(hurray_release_queue_destroy(&queue), HURRAY_OK);
    EXPECT_EQ(queue, nullptr);
}

TEST_F(BufferDeferred, WithoutAQueueTheDefaultOneTakesIt) {
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    EXPECT_EQ(hurray_buffer_destroy_deferred(buffer_over(memory.bytes, 64, counter), nullptr), HURRAY_OK);
    EXPECT_EQ(counter.calls, 0);
    std::uint64_t count = 0;
    EXPECT_EQ(hurray_release_queue_drain(nullptr, UINT64_MAX, &count, nullptr), HURRAY_OK);
    EXPECT_EQ(counter.calls, 1);
}

TEST_F(BufferDeferred, ConsentReleasesAtOnce) {
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    HurrayBuffer* buffer = buffer_over(memory.bytes, 64, counter);
    ASSERT_EQ(hurray_buffer_set_release_any_thread(buffer, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy_deferred(buffer, nullptr), HURRAY_OK);
    EXPECT_EQ(counter.calls, 1);
}

TEST_F(BufferDeferred, MemoryOfTheLibraryIsReleasedAtOnce) {
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(hurray_buffer_allocate(64, 64, &buffer, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_set_release_queue(buffer, nullptr, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hurray_buffer_destroy_deferred(buffer, nullptr), HURRAY_OK);
}

TEST_F(BufferDeferred, DestroyedQueueReleasesWhatWaitsAndHandsTheRestToTheDefaultQueue) {
    AlignedBytes<64> memory;
    ReleaseCounter waiting;
    ReleaseCounter later;
    HurrayReleaseQueue* queue = nullptr;
    ASSERT_EQ(hurray_release_queue_new(&queue, nullptr), HURRAY_OK);
    HurrayBuffer* first = buffer_over(memory.bytes, 64, waiting);
    HurrayBuffer* second = buffer_over(memory.bytes, 64, later);
    ASSERT_EQ(hurray_buffer_set_release_queue(first, queue, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_buffer_set_release_queue(second, queue, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy_deferred(first, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_release_queue_destroy(&queue), HURRAY_OK);
    EXPECT_EQ(waiting.calls, 1);
    EXPECT_EQ(hurray_buffer_destroy_deferred(second, nullptr), HURRAY_OK);
    EXPECT_EQ(later.calls, 0);
    std::uint64_t count = 0;
    EXPECT_EQ(hurray_release_queue_drain(nullptr, UINT64_MAX, &count, nullptr), HURRAY_OK);
    EXPECT_EQ(later.calls, 1);
}

TEST_F(BufferDeferred, PolicyIsFixedOnceShared) {
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    HurrayBuffer* buffer = buffer_over(memory.bytes, 64, counter);
    HurrayBuffer* share = nullptr;
    ASSERT_EQ(hurray_buffer_share(buffer, &share, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_set_release_any_thread(buffer, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(share), HURRAY_OK);
}

// A release that asks the queue on which it waited, while that is being destroyed, and destroys it again.
struct QueueUser {
    HurrayReleaseQueue* queue = nullptr;
    int calls = 0;
    HurrayStatus pending_status = HURRAY_ERR_IO;
    HurrayStatus destroy_status = HURRAY_OK;

    static void release(void*, void* context) {
        auto* self = static_cast<QueueUser*>(context);
        ++self->calls;
        std::uint64_t count = 0;
        self->pending_status = hurray_release_queue_pending(self->queue, &count, nullptr);
        HurrayReleaseQueue* copy = self->queue;
        self->destroy_status = hurray_release_queue_destroy(&copy);
    }
};

TEST_F(BufferDeferred, ReleaseMayUseTheQueueThatIsBeingDestroyed) {
    AlignedBytes<64> memory;
    QueueUser user;
    ASSERT_EQ(hurray_release_queue_new(&user.queue, nullptr), HURRAY_OK);
    HurrayReleaseQueue* queue = user.queue;
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(hurray_buffer_from_ptr(memory.bytes, 64, 64, 0, &QueueUser::release, &user, &buffer), HURRAY_OK);
    ASSERT_EQ(hurray_buffer_set_release_queue(buffer, queue, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_buffer_destroy_deferred(buffer, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_release_queue_destroy(&queue), HURRAY_OK);
    EXPECT_EQ(user.calls, 1);
    EXPECT_EQ(user.pending_status, HURRAY_OK);
    EXPECT_EQ(user.destroy_status, HURRAY_ERR_INVALID_HANDLE);
}

// The seed: double-free and use-after-free MUST be detected in debug builds; the runtime switch does the same.
TEST(HandleChecks, DoubleDestroyAndUseAfterDestroyAreInvalidHandle) {
    HurrayRuntimeInfo before{};
    before.struct_size = sizeof before;
    ASSERT_EQ(hurray_runtime_info(&before, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_handle_checks_set(1, nullptr), HURRAY_OK);
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    HurrayBuffer* buffer = buffer_over(memory.bytes, 64, counter);
    ASSERT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_ERR_INVALID_HANDLE);
    HurrayBuffer* share = nullptr;
    EXPECT_EQ(hurray_buffer_share(buffer, &share, nullptr), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(counter.calls, 1);
    ASSERT_EQ(hurray_handle_checks_set(static_cast<std::uint8_t>(before.handle_checks), nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_handle_checks_set(2, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
}

TEST(HandleChecks, HandleOfAnotherKindIsInvalidHandle) {
    HurrayBufferList* list = nullptr;
    ASSERT_EQ(hurray_buffer_list_new(0, &list), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(reinterpret_cast<HurrayBuffer*>(list)), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_OK);
}

}  // namespace

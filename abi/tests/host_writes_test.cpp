// PRODUCER_SYNCED in host memory: other threads of the producer write until shortly before the handoff, and the consumer,
// on a thread of its own, reads what they wrote. The producer's acquire of their release is the fence that the contract asks
// for; the thread sanitizer says so when one is missing on the way through the library. (seed: SYNC_PRODUCER_SYNCED)
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "abi/tests/support.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::ReleaseCounter;

class HostWrites : public hurray_test::BaseLineTest {};

constexpr int writers = 4;
constexpr int numbers_each = 16;
constexpr int rounds = 200;
constexpr int byte_size = writers * numbers_each * 4;

// What stands at an index. No two are equal: GCC would write equal ones with a call that it expands where the thread
// sanitizer does not see it.
std::int32_t number(int round, int index) { return round * 1000 + index; }

// What crosses from the producer's thread to the consumer's: a handle, and nothing that orders the bytes behind it but the
// store of the handle itself.
struct Mailbox {
    std::atomic<HurrayBuffer*> buffer{nullptr};
    std::atomic<int> round{-1};
};

HurrayBuffer* hand_off(void* memory, ReleaseCounter& releases) {
    HurrayBufferHandleBytes handle{};
    handle.bytes[0] = static_cast<std::uint8_t>(byte_size & 0xFF);
    handle.bytes[1] = static_cast<std::uint8_t>(byte_size >> 8);
    handle.bytes[8] = 64;
    handle.bytes[12] = HURRAY_DEVICE_CPU;
    handle.bytes[13] = HURRAY_SYNC_PRODUCER_SYNCED;
    HurrayBuffer* buffer = nullptr;
    EXPECT_EQ(hurray_buffer_handoff(&handle, memory, &ReleaseCounter::release, &releases, nullptr, nullptr, &buffer, nullptr),
              HURRAY_OK);
    return buffer;
}

TEST_F(HostWrites, OfOtherThreadsAreThereBehindTheHandoff) {
    AlignedBytes<byte_size> memory;
    auto* const numbers = reinterpret_cast<std::int32_t*>(memory.bytes);
    ReleaseCounter releases;
    Mailbox mailbox;
    std::array<std::atomic<int>, writers> written{};
    for (auto& w : written) w = -1;
    std::atomic<int> begun{-1};

    std::vector<std::thread> threads;
    for (int writer = 0; writer < writers; ++writer) {
        threads.emplace_back([&, writer] {
            for (int round = 0; round < rounds; ++round) {
                while (begun.load(std::memory_order_acquire) < round) std::this_thread::yield();
                for (int i = writer * numbers_each; i < (writer + 1) * numbers_each; ++i) numbers[i] = number(round, i);
                written[static_cast<std::size_t>(writer)].store(round, std::memory_order_release);
            }
        });
    }
    threads.emplace_back([&] {
        for (int round = 0; round < rounds; ++round) {
            HurrayBuffer* buffer = nullptr;
            while ((buffer = mailbox.buffer.exchange(nullptr, std::memory_order_acquire)) == nullptr) std::this_thread::yield();
            HurrayBufferHandleBytes handle{};
            EXPECT_EQ(hurray_buffer_handle_bytes(buffer, &handle, nullptr), HURRAY_OK);
            EXPECT_EQ(handle.bytes[13], HURRAY_SYNC_PRODUCER_SYNCED);
            HurrayBufferInfo info{};
            info.struct_size = sizeof info;
            EXPECT_EQ(hurray_buffer_info(buffer, &info, nullptr), HURRAY_OK);
            // No wait of any kind: that is what the mode promises.
            const auto* read = static_cast<const std::int32_t*>(info.data);
            int wrong = 0;
            for (int i = 0; i < writers * numbers_each; ++i) wrong += read[i] != number(round, i);
            EXPECT_EQ(wrong, 0) << "numbers of round " << round;
            EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
            mailbox.round.store(round, std::memory_order_release);
        }
    });

    for (int round = 0; round < rounds; ++round) {
        begun.store(round, std::memory_order_release);
        for (auto& w : written) {
            while (w.load(std::memory_order_acquire) < round) std::this_thread::yield();
        }
        mailbox.buffer.store(hand_off(memory.bytes, releases), std::memory_order_release);
        // The memory is the consumer's until its release has run.
        while (mailbox.round.load(std::memory_order_acquire) < round) std::this_thread::yield();
        EXPECT_EQ(releases.calls, round + 1);
    }
    for (auto& thread : threads) thread.join();
}

}  // namespace

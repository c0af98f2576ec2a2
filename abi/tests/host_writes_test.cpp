// PRODUCER_SYNCED in host memory: other threads of the producer write until shortly before the handoff, and the consumer,
// on a thread of its own, reads what they wrote. The producer's acquire of their release is the fence that the contract asks
// for; the thread sanitizer says so when one is missing on the way through the library. (seed: SYNC_PRODUCER_SYNCED)
#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "abi/tests/support.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::ReleaseCounter;

class HostWrites : public hurray_test::BaseLineTest {};

constexpr int writers = 4;
constexpr int bytes_each = 64;
constexpr int rounds = 200;

// What crosses from the producer's thread to the consumer's: a handle, and nothing that orders the bytes behind it but the
// store of the handle itself.
struct Mailbox {
    std::atomic<HurrayBuffer*> buffer{nullptr};
    std::atomic<int> round{-1};
};

HurrayBuffer* hand_off(void* memory, ReleaseCounter& releases) {
    HurrayBufferHandleBytes handle{};
    handle.bytes[0] = static_cast<std::uint8_t>(writers * bytes_each);
    handle.bytes[1] = static_cast<std::uint8_t>(writers * bytes_each >> 8);
    handle.bytes[8] = 64;
    handle.bytes[12] = HURRAY_DEVICE_CPU;
    handle.bytes[13] = HURRAY_SYNC_PRODUCER_SYNCED;
    HurrayBuffer* buffer = nullptr;
    EXPECT_EQ(hurray_buffer_handoff(&handle, memory, &ReleaseCounter::release, &releases, nullptr, nullptr, &buffer, nullptr), HURRAY_OK);
    return buffer;
}

TEST_F(HostWrites, OfOtherThreadsAreThereBehindTheHandoff) {
    AlignedBytes<writers * bytes_each> memory;
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
                std::memset(memory.bytes + writer * bytes_each, round + writer, bytes_each);
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
            const auto* bytes = static_cast<const unsigned char*>(info.data);
            int wrong = 0;
            for (int i = 0; i < writers * bytes_each; ++i) wrong += bytes[i] != static_cast<unsigned char>(round + i / bytes_each);
            EXPECT_EQ(wrong, 0) << "bytes of round " << round;
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

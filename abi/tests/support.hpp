// What the tests of the C ABI share: counting release callbacks, base lines of live handles, small descriptors.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "hurray.h"

namespace hurray_test {

/// Counts calls of release callbacks and remembers what the last one was given.
struct ReleaseCounter {
    std::atomic<int> calls{0};
    std::atomic<void*> last_data{nullptr};

    static void release(void* data, void* context) {
        auto* counter = static_cast<ReleaseCounter*>(context);
        counter->last_data = data;
        ++counter->calls;
    }
    static void release_owner(void* owner) { ++static_cast<ReleaseCounter*>(owner)->calls; }
};

inline std::uint64_t live_handles() {
    std::uint64_t handles = 0;
    std::uint64_t bytes = 0;
    EXPECT_EQ(hurray_live_handles(HURRAY_HANDLE_ANY, &handles, &bytes, nullptr), HURRAY_OK);
    return handles;
}

inline std::uint64_t live_bytes() {
    std::uint64_t handles = 0;
    std::uint64_t bytes = 0;
    EXPECT_EQ(hurray_live_handles(HURRAY_HANDLE_ANY, &handles, &bytes, nullptr), HURRAY_OK);
    return bytes;
}

/// A test whose handles must all be gone at its end.
class BaseLineTest : public ::testing::Test {
protected:
    void SetUp() override {
        handles_ = live_handles();
        bytes_ = live_bytes();
    }
    void TearDown() override {
        EXPECT_EQ(live_handles(), handles_) << "handles leaked";
        EXPECT_EQ(live_bytes(), bytes_) << "bytes leaked";
    }

private:
    std::uint64_t handles_ = 0;
    std::uint64_t bytes_ = 0;
};

/// Zeroed 64-aligned memory in a test. Aligned by hand: GCC's AddressSanitizer puts variables on a stack of its own that
/// does not keep alignas.
template <std::size_t Size>
class AlignedBytes {
    unsigned char storage_[Size + 63] = {};

public:
    AlignedBytes() = default;
    AlignedBytes(const AlignedBytes&) = delete;
    AlignedBytes& operator=(const AlignedBytes&) = delete;

    unsigned char* const bytes = storage_ + (64 - reinterpret_cast<std::uintptr_t>(storage_) % 64) % 64;
};

/// Encoded descriptor of a row-major tensor with one CPU buffer, written by hand from the format's text.
inline std::vector<std::uint8_t> row_major_descriptor(std::uint8_t type, const std::vector<std::uint64_t>& shape,
                                                      std::uint64_t byte_size, std::uint64_t byte_offset = 0) {
    std::vector<std::uint8_t> bytes;
    const auto put = [&bytes](std::uint64_t value, int width) {
        for (int i = 0; i < width; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    };
    for (const char c : std::string("HRRY")) bytes.push_back(static_cast<std::uint8_t>(c));
    put(1, 1);
    put(0, 1);
    put(20 + 8 * shape.size() + 8 + 1 + 16, 4);
    put(0, 4);
    put(type, 1);
    put(HURRAY_LAYOUT_ROW_MAJOR, 1);
    put(shape.size(), 4);
    for (const std::uint64_t size : shape) put(size, 8);
    put(byte_offset, 8);
    put(1, 1);
    put(byte_size, 8);
    put(64, 4);
    put(0, 4);
    return bytes;
}

inline HurrayBuffer* buffer_over(void* data, std::uint64_t size, ReleaseCounter& counter) {
    HurrayBuffer* buffer = nullptr;
    EXPECT_EQ(hurray_buffer_from_ptr(data, size, 64, HURRAY_DEVICE_CPU, &ReleaseCounter::release, &counter, &buffer), HURRAY_OK);
    return buffer;
}

/// A (list, context) pair over 48 bytes of float32 [3, 4].
struct Pair {
    AlignedBytes<64> memory;
    ReleaseCounter releases;
    ReleaseCounter owner_releases;
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* context = nullptr;

    explicit Pair(std::uint32_t version = HURRAY_C_ABI_VERSION, std::uint64_t described_size = 48) {
        EXPECT_EQ(hurray_buffer_list_new(1, &list), HURRAY_OK);
        EXPECT_EQ(hurray_buffer_list_push(list, buffer_over(memory.bytes, 48, releases)), HURRAY_OK);
        const auto descriptor = row_major_descriptor(HURRAY_TYPE_FLOAT32, {3, 4}, described_size);
        EXPECT_EQ(hurray_tensor_context_new(version, descriptor.data(), descriptor.size(), &owner_releases,
                                            &ReleaseCounter::release_owner, &context),
                  HURRAY_OK);
    }
    ~Pair() {
        EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_OK);
        EXPECT_EQ(hurray_tensor_context_destroy(&context), HURRAY_OK);
    }
};

}  // namespace hurray_test

#include "core/hurray/io/growing_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace hurray {
namespace {

std::byte value_at(std::uint64_t i) { return static_cast<std::byte>(i * 7 + (i >> 13)); }

TEST(GrowingBuffer, KeepsDataAndAlignmentThroughEveryStep) {
    for (const std::uint32_t alignment : {64U, 4096U, 65'536U, 2U << 20}) {
        for (const std::uint64_t size : {std::uint64_t{1}, GrowingBuffer::first_step, GrowingBuffer::first_step + 1,
                                         5 * GrowingBuffer::first_step + 3}) {
            GrowingBuffer memory(size, alignment);
            std::uint64_t filled = 0;
            while (!memory.full()) {
                const auto space = memory.space();
                ASSERT_TRUE(space.has_value());
                ASSERT_FALSE(space->empty());
                EXPECT_LE(filled + space->size(), std::max(GrowingBuffer::first_step, 2 * filled)) << "no more than twice";
                const std::size_t count = std::min<std::size_t>(space->size(), 100'003);
                for (std::size_t i = 0; i < count; ++i) (*space)[i] = value_at(filled + i);
                memory.fill(count);
                filled += count;
            }
            const auto buffer = memory.finish();
            ASSERT_TRUE(buffer.has_value());
            EXPECT_EQ(buffer->handle.byte_size, size);
            EXPECT_EQ(buffer->handle.alignment, alignment);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data) % alignment, 0U);
            for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(buffer->data[i], value_at(i)) << i;
        }
    }
}

TEST(GrowingBuffer, WhatIsKnownToComeIsAllocatedAtOnce) {
    GrowingBuffer memory(3 * GrowingBuffer::first_step, 64, 2 * GrowingBuffer::first_step);
    EXPECT_EQ(memory.space()->size(), 2 * GrowingBuffer::first_step);
    GrowingBuffer all(3 * GrowingBuffer::first_step, 64, ~std::uint64_t{0});
    EXPECT_EQ(all.space()->size(), 3 * GrowingBuffer::first_step);
}

TEST(GrowingBuffer, NothingNeedsNoMemory) {
    GrowingBuffer memory(0, 64);
    EXPECT_TRUE(memory.full());
    const auto buffer = memory.finish();
    ASSERT_TRUE(buffer.has_value());
    EXPECT_EQ(buffer->data, nullptr);
    EXPECT_FALSE(buffer->storage);
}

TEST(GrowingBuffer, WhatCannotBeAllocatedIsAnError) {
    GrowingBuffer impossible(~std::uint64_t{0}, 64, ~std::uint64_t{0});
    const auto space = impossible.space();
    ASSERT_FALSE(space.has_value());
    EXPECT_EQ(space.error().code, Status::out_of_memory);
    GrowingBuffer huge(std::uint64_t{1} << 62, 64, std::uint64_t{1} << 62);
    EXPECT_EQ(huge.space().error().code, Status::out_of_memory);
}

}  // namespace
}  // namespace hurray

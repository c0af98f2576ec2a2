// Shared memory: seals, addresses, and what is left of it.
#include "core/hurray/channel/shared_object.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace hurray {
namespace {

constexpr int expected_seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

TEST(SharedObject, IsSealedInPlace) {
    const auto object = SharedObject::create(10'000, 64).value();
    std::memset(object->base(), 7, 10'000);
    std::byte* const base = object->base();
    EXPECT_FALSE(object->sealed());
    EXPECT_TRUE(object->backing().writable);
    EXPECT_EQ(fcntl(object->backing().fd, F_GET_SEALS), 0);
    ASSERT_TRUE(object->seal().value());
    EXPECT_TRUE(object->sealed());
    EXPECT_FALSE(object->backing().writable);
    EXPECT_EQ(object->base(), base);
    EXPECT_EQ(object->backing().base, base);
    EXPECT_EQ(base[9'999], std::byte{7});
    EXPECT_EQ(fcntl(object->backing().fd, F_GET_SEALS), expected_seals);
    EXPECT_EQ(pwrite(object->backing().fd, "x", 1, 0), -1);
    EXPECT_EQ(ftruncate(object->backing().fd, 0), -1);
    EXPECT_EQ(mmap(nullptr, 10'000, PROT_READ | PROT_WRITE, MAP_SHARED, object->backing().fd, 0), MAP_FAILED);
    ASSERT_TRUE(object->seal().value()) << "again";
}

TEST(SharedObject, IsNotSealedWhileSomebodyCanWriteToIt) {
    const auto object = SharedObject::create(4096, 64).value();
    void* const other = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, object->backing().fd, 0);
    ASSERT_NE(other, MAP_FAILED);
    EXPECT_FALSE(object->seal().value());
    EXPECT_FALSE(object->sealed());
    object->base()[5] = std::byte{1};
    EXPECT_EQ(static_cast<std::byte*>(other)[5], std::byte{1}) << "all is as it was";
    munmap(other, 4096);
    EXPECT_TRUE(object->seal().value());
    EXPECT_EQ(object->base()[5], std::byte{1});
}

TEST(SharedObject, CopiesArePlacedAndSealed) {
    const std::byte first[] = {std::byte{1}, std::byte{2}};
    const std::byte second[] = {std::byte{3}};
    const SharedObject::Piece pieces[] = {{0, first}, {64, second}};
    auto file = SharedObject::sealed_copy(65, pieces).value();
    EXPECT_EQ(fcntl(file.get(), F_GET_SEALS), expected_seals);
    const auto object = SharedObject::map(std::move(file), 64, 0).value();
    EXPECT_TRUE(object->sealed());
    EXPECT_EQ(object->size(), 65u);
    EXPECT_EQ(object->base()[1], std::byte{2});
    EXPECT_EQ(object->base()[2], std::byte{0});
    EXPECT_EQ(object->base()[64], std::byte{3});
}

TEST(SharedObject, LargeAlignmentsHoldAtAnyPhase) {
    for (const std::uint32_t alignment : {64U, 4096U, 1U << 16, 1U << 21}) {
        for (const std::uint64_t phase : {std::uint64_t{0}, std::uint64_t{4096}, std::uint64_t{5} * 4096}) {
            const std::byte one[] = {std::byte{9}};
            const SharedObject::Piece pieces[] = {{phase + 100, one}};
            const auto object = SharedObject::map(SharedObject::sealed_copy(phase + 101, pieces).value(), alignment, phase).value();
            const std::uint64_t step = std::min<std::uint64_t>(alignment, alignment > 4096 ? alignment : 4096);
            EXPECT_EQ((reinterpret_cast<std::uintptr_t>(object->base()) + phase) % (alignment > 4096 ? step : 64), 0u);
            EXPECT_EQ(object->base()[phase + 100], std::byte{9});
        }
    }
}

TEST(SharedObject, MemoryThatCannotBeIsRefused) {
    EXPECT_EQ(SharedObject::create(~std::uint64_t{0}, 64).error().code, Status::out_of_memory);
    EXPECT_EQ(SharedObject::create(std::uint64_t{1} << 61, 64).error().code, Status::out_of_memory);
    EXPECT_EQ(allocate_shared_buffer(1, 3).error().code, Status::invalid_layout);
    EXPECT_EQ(allocate_shared_buffer(0).value().data, nullptr);
}

}  // namespace
}  // namespace hurray

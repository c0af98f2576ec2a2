// The account of work: when it reports, how it stops, and what memory it refuses.
#include "core/hurray/transcode/options.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hurray {
namespace {

struct Listener {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> reports;
    std::size_t stop_at = ~std::size_t{0};
    static bool hear(void* context, std::uint64_t done, std::uint64_t total) {
        auto& self = *static_cast<Listener*>(context);
        self.reports.emplace_back(done, total);
        return self.reports.size() <= self.stop_at;
    }
    WorkOptions options(std::uint64_t memory_limit = 0) { return {memory_limit, hear, this}; }
};

TEST(Work, ReportsEachIntervalAndTheEndOnce) {
    Listener listener;
    const WorkOptions options = listener.options();
    const std::uint64_t total = Work::interval * 3;
    Work work(options, total);
    for (std::uint64_t done = 0; done < total; done += 1024) ASSERT_TRUE(work.advance(1024));
    ASSERT_TRUE(work.finish());
    const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected = {
        {Work::interval, total}, {2 * Work::interval, total}, {total, total}};
    EXPECT_EQ(listener.reports, expected);
}

TEST(Work, NeverReportsMoreThanTheTotal) {
    Listener listener;
    const WorkOptions options = listener.options();
    Work work(options, 10);
    ASSERT_TRUE(work.advance(~std::uint64_t{0} - 5));
    ASSERT_TRUE(work.finish());
    const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected = {{10, 10}};
    EXPECT_EQ(listener.reports, expected);
}

TEST(Work, StopsWhereAskedTo) {
    for (std::size_t stop = 0; stop < 3; ++stop) {
        Listener listener;
        listener.stop_at = stop;
        const WorkOptions options = listener.options();
        Work work(options, Work::interval * 3);
        std::size_t advanced = 0;
        while (advanced < 3 && work.advance(Work::interval)) ++advanced;
        if (stop < 2) {
            EXPECT_EQ(advanced, stop);
            const auto stopped = Result<void>(work.cancelled());
            EXPECT_EQ(stopped.error().code, Status::cancelled);
        } else {
            const auto finished = work.finish();
            ASSERT_FALSE(finished);
            EXPECT_EQ(finished.error().code, Status::cancelled);
        }
    }
}

TEST(Work, NobodyToReportTo) {
    const WorkOptions options;
    Work work(options, Work::interval);
    EXPECT_TRUE(work.advance(~std::uint64_t{0} - 1));
    EXPECT_TRUE(work.finish());
}

TEST(Work, MemoryIsRefusedBeforeItIsTaken) {
    const WorkOptions options{.memory_limit = 1000};
    Work work(options, 0);
    ASSERT_TRUE(work.allocate(600));
    // No machine could give these: what refuses them is the limit.
    for (const std::uint64_t bytes : {std::uint64_t{401}, std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
        const auto refused = work.allocate(bytes);
        ASSERT_FALSE(refused) << bytes;
        EXPECT_EQ(refused.error().code, Status::limit_exceeded) << bytes;
    }
    ASSERT_TRUE(work.allocate(400));
    EXPECT_FALSE(work.reserve(1));
    work.release(400);
    EXPECT_TRUE(work.reserve(400));
}

TEST(Work, WhatCannotBeAllocatedIsNotHeld) {
    const WorkOptions options{.memory_limit = ~std::uint64_t{0}};
    Work work(options, 0);
    const auto refused = work.allocate(~std::uint64_t{0});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Status::out_of_memory);
    EXPECT_TRUE(work.reserve(~std::uint64_t{0}));
}

TEST(Work, WithoutALimitEverythingIsCounted) {
    const WorkOptions options;
    Work work(options, 0);
    EXPECT_TRUE(work.reserve(~std::uint64_t{0}));
    EXPECT_TRUE(work.reserve(~std::uint64_t{0}));
    const auto buffer = work.allocate(100, 256, Contents::undefined);
    ASSERT_TRUE(buffer);
    EXPECT_EQ(buffer->handle.alignment, 256U);
    EXPECT_EQ(buffer->handle.byte_size, 100U);
}

}  // namespace
}  // namespace hurray

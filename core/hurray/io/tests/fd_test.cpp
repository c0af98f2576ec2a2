// File descriptors as sources and sinks: short, interrupted, non-blocking and failing calls.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "core/hurray/io/byte_sink.hpp"
#include "core/hurray/io/byte_source.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"

namespace hurray {
namespace {

std::vector<std::byte> pattern(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 131 + (i >> 8));
    return bytes;
}

struct Pipe {
    Pipe() { EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0); }
    ~Pipe() {
        close_reader();
        close_writer();
    }
    void close_reader() { close_end(0); }
    void close_writer() { close_end(1); }
    void close_end(std::size_t i) {
        if (ends[i] >= 0) ::close(ends[i]);
        ends[i] = -1;
    }
    std::array<int, 2> ends{-1, -1};
};

void set_nonblocking(int fd) { ASSERT_EQ(::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK), 0); }

bool is_pending(int number) {
    sigset_t pending;
    ::sigemptyset(&pending);
    ::sigpending(&pending);
    return ::sigismember(&pending, number) == 1;
}

bool is_blocked(int number) {
    sigset_t mask;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    return ::sigismember(&mask, number) == 1;
}

TEST(FdSource, ReadsAcrossShortReadsToTheEnd) {
    Pipe pipe;
    const auto sent = pattern(100'000);
    std::thread writer([&] {
        for (std::size_t at = 0; at < sent.size(); at += 777) {
            const std::size_t count = std::min<std::size_t>(777, sent.size() - at);
            ASSERT_EQ(::write(pipe.ends[1], sent.data() + at, count), static_cast<ssize_t>(count));
        }
        pipe.close_writer();
    });
    FdSource source(pipe.ends[0]);
    std::vector<std::byte> got(sent.size() + 10);
    const auto count = read_fully(source, got);
    writer.join();
    ASSERT_TRUE(count.has_value());
    EXPECT_EQ(*count, sent.size());
    got.resize(*count);
    EXPECT_EQ(got, sent);
    EXPECT_EQ(source.read_some(got).value(), 0U);
}

TEST(FdSource, NeverReadsBeyondWhatWasAskedFor) {
    Pipe pipe;
    ASSERT_EQ(::write(pipe.ends[1], "abcdef", 6), 6);
    FdSource source(pipe.ends[0]);
    std::array<std::byte, 4> got{};
    ASSERT_EQ(read_fully(source, got).value(), 4U);
    std::array<char, 4> rest{};
    EXPECT_EQ(::read(pipe.ends[0], rest.data(), rest.size()), 2);
    EXPECT_EQ(std::string(rest.data(), 2), "ef");
}

TEST(FdSource, WaitsWhereANonBlockingDescriptorHasNothingYet) {
    Pipe pipe;
    set_nonblocking(pipe.ends[0]);
    std::thread writer([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        ASSERT_EQ(::write(pipe.ends[1], "x", 1), 1);
    });
    FdSource source(pipe.ends[0]);
    std::array<std::byte, 1> got{};
    EXPECT_EQ(source.read_some(got).value(), 1U);
    writer.join();
    EXPECT_EQ(got[0], std::byte{'x'});
}

TEST(FdSource, KnowsHowMuchOfAFileIsLeft) {
    const TemporaryFolder folder;
    const std::string path = folder.file("f", "0123456789");
    FdSource source(::open(path.c_str(), O_RDONLY | O_CLOEXEC), FdOwnership::close);
    EXPECT_EQ(source.remaining(), 10U);
    std::array<std::byte, 4> got{};
    ASSERT_TRUE(source.read_some(got).has_value());
    EXPECT_EQ(source.remaining(), 6U);
    Pipe pipe;
    EXPECT_FALSE(FdSource(pipe.ends[0]).remaining().has_value());
}

TEST(FdSource, ReportsTheSystemsReason) {
    const TemporaryFolder folder;
    FdSource directory(::open(folder.path().c_str(), O_RDONLY | O_CLOEXEC), FdOwnership::close);
    std::array<std::byte, 4> got{};
    const auto result = directory.read_some(got);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Status::io);
    EXPECT_NE(std::strstr(result.error().message, "directory"), nullptr) << result.error().message;
    const auto closed = FdSource(-1).read_some(got);
    ASSERT_FALSE(closed.has_value());
    EXPECT_EQ(closed.error().code, Status::io);
}

TEST(FdSource, ClosesOnlyWhatItOwns) {
    Pipe pipe;
    { FdSource borrowed(pipe.ends[0]); }
    EXPECT_NE(::fcntl(pipe.ends[0], F_GETFD), -1);
    { FdSource owned(pipe.ends[0], FdOwnership::close); }
    EXPECT_EQ(::fcntl(pipe.ends[0], F_GETFD), -1);
    pipe.ends[0] = -1;
}

TEST(MemorySource, GivesItsBytesOnce) {
    const auto bytes = pattern(10);
    MemorySource source(bytes);
    std::vector<std::byte> got(7);
    EXPECT_EQ(source.read_some(got).value(), 7U);
    EXPECT_EQ(source.remaining(), 3U);
    EXPECT_EQ(read_fully(source, got).value(), 3U);
    EXPECT_EQ(got[0], bytes[7]);
    EXPECT_EQ(source.read_some(got).value(), 0U);
}

TEST(FdSink, WritesManyPiecesThroughANonBlockingPipe) {
    Pipe pipe;
    set_nonblocking(pipe.ends[1]);
    const auto sent = pattern(1'000'003);
    std::vector<std::span<const std::byte>> pieces;  // more of them than one call takes, empty ones among them
    for (std::size_t at = 0; at < sent.size(); at += 20'011) {
        pieces.push_back(std::span(sent).subspan(at, std::min<std::size_t>(20'011, sent.size() - at)));
        pieces.emplace_back();
    }
    std::vector<std::byte> got;
    std::thread reader([&] {
        std::array<std::byte, 3001> some;
        ssize_t count = 0;
        while ((count = ::read(pipe.ends[0], some.data(), some.size())) > 0) {
            got.insert(got.end(), some.begin(), some.begin() + count);
        }
    });
    FdSink sink(pipe.ends[1]);
    EXPECT_TRUE(sink.write(pieces).has_value());
    pipe.close_writer();
    reader.join();
    EXPECT_EQ(got, sent);
}

TEST(FdSink, ClosedPipeIsAnErrorAndNoSignal) {
    Pipe pipe;
    pipe.close_reader();
    FdSink sink(pipe.ends[1]);
    const auto result = sink.write(pattern(10));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Status::io);
    EXPECT_NE(std::strstr(result.error().message, "pipe"), nullptr) << result.error().message;
    EXPECT_FALSE(is_pending(SIGPIPE));
    EXPECT_FALSE(is_blocked(SIGPIPE));
}

TEST(FdSink, LeavesAPendingSignalOfTheHostPending) {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGPIPE);
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &set, nullptr), 0);
    ::pthread_kill(::pthread_self(), SIGPIPE);
    Pipe pipe;
    pipe.close_reader();
    FdSink sink(pipe.ends[1]);
    EXPECT_FALSE(sink.write(pattern(10)).has_value());
    EXPECT_TRUE(is_pending(SIGPIPE));
    EXPECT_TRUE(is_blocked(SIGPIPE));
    int taken = 0;
    ::sigwait(&set, &taken);
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

TEST(FdSink, ClosedSocketIsAnErrorAndNoSignal) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    ::close(ends[1]);
    FdSink sink(ends[0], FdOwnership::close);
    const auto result = sink.write(pattern(10));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Status::io);
    EXPECT_FALSE(is_pending(SIGPIPE));
}

TEST(FdSink, FullDeviceIsAnError) {
    const int fd = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (fd < 0) GTEST_SKIP() << "this system has no /dev/full";
    FdSink sink(fd, FdOwnership::close);
    const auto result = sink.write(pattern(10));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Status::io);
}

TEST(FdSink, FileSizeLimitIsAnErrorAndNoSignal) {
    const TemporaryFolder folder;
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit small = before;
    small.rlim_cur = 4096;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string path = folder.path() + "/f";
    FdSink sink(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600), FdOwnership::close);
    const auto result = sink.write(pattern(10'000));
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Status::io);
    EXPECT_FALSE(is_pending(SIGXFSZ));
}

// A signal whose handler does not restart system calls arrives over and over while a large write is under way.
TEST(FdSink, ResumesInterruptedWrites) {
    struct sigaction action {};
    struct sigaction before {};
    action.sa_handler = [](int) {};
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
    Pipe pipe;
    const auto sent = pattern(4'000'000);
    std::vector<std::byte> got;
    std::atomic<bool> writing{true};
    const pthread_t self = ::pthread_self();
    std::thread reader([&] {
        std::vector<std::byte> some(50'000);
        ssize_t count = 0;
        while ((count = ::read(pipe.ends[0], some.data(), some.size())) > 0) {
            got.insert(got.end(), some.begin(), some.begin() + count);
            if (writing) ::pthread_kill(self, SIGUSR1);
        }
    });
    FdSink sink(pipe.ends[1]);
    const auto result = sink.write(sent);
    writing = false;
    pipe.close_writer();
    reader.join();
    ::sigaction(SIGUSR1, &before, nullptr);
    EXPECT_TRUE(result.has_value());
    EXPECT_EQ(got, sent);
}

TEST(MemorySink, CollectsAndHandsOver) {
    MemorySink sink;
    const auto bytes = pattern(5);
    ASSERT_TRUE(sink.write(bytes).has_value());
    ASSERT_TRUE(sink.write(std::span(bytes).first(2)).has_value());
    EXPECT_EQ(sink.bytes().size(), 7U);
    EXPECT_EQ(sink.take().size(), 7U);
    EXPECT_TRUE(sink.bytes().empty());
}

}  // namespace
}  // namespace hurray

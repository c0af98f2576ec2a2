// Channels in C++: between two ends of one process, and between a process and its fork.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "bindings/cpp/tests/live_handles.hpp"

namespace {

using hurray::Channel;
using hurray_test::numbers;

constexpr std::int32_t patience_ms = 60000;
const std::uint64_t last[] = {1, 2};

class Channels : public hurray_test::LiveHandles {
  protected:
    void SetUp() override {
        hurray_test::LiveHandles::SetUp();
        ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
        path_ = folder_ + "/socket";
    }
    void TearDown() override {
        std::filesystem::remove_all(folder_);
        hurray_test::LiveHandles::TearDown();
    }
    // A socket's path is short; a test's folder may not be.
    std::string folder_ = "/tmp/hurray_XXXXXX";
    std::string path_;
};

struct Ends {
    Channel one;
    Channel other;
};

Ends pair_of_ends(const hurray::ChannelOptions& options = {}) {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    auto taking = options;
    taking.flags |= HURRAY_CHANNEL_CLOSE_FD;
    auto one = Channel::from_fd(fds[0], taking);
    auto other = Channel::from_fd(fds[1], taking);
    EXPECT_TRUE(one && other);
    return {std::move(*one), std::move(*other)};
}

TEST_F(Channels, SharedMemoryIsPassedAndOtherMemoryCopied) {
    auto ends = pair_of_ends();
    auto buffer = hurray::Buffer::allocate_shared(24);
    ASSERT_TRUE(buffer) << buffer.error().message();
    const float values[] = {0, 1, 2, 3, 4, 5};
    std::memcpy(buffer->mutable_bytes()->data(), values, sizeof values);
    auto list = hurray::BufferList::create();
    ASSERT_TRUE(list);
    ASSERT_TRUE(list->push(std::move(*buffer)));
    auto builder =
        hurray::DescriptorBuilder::create(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_ROW_MAJOR, hurray_test::shape_2_3);
    ASSERT_TRUE(builder);
    const auto descriptor = builder->add_buffer(24).build();
    ASSERT_TRUE(descriptor) << descriptor.error().message();
    const auto shared = hurray::Tensor::create(*descriptor, *list);
    ASSERT_TRUE(shared) << shared.error().message();

    ASSERT_TRUE(ends.one.send(*shared));
    ASSERT_TRUE(ends.one.send(numbers(10)));
    ASSERT_TRUE(ends.one.finish());
    {
        const auto first = ends.other.receive(patience_ms);
        ASSERT_TRUE(first) << first.error().message();
        EXPECT_EQ(first->element(last).value_or(0.0), 5.0);
        EXPECT_NE(first->buffer(0)->info()->flags & HURRAY_BUFFER_SEALED, 0U);
        const auto second = ends.other.receive(patience_ms);
        ASSERT_TRUE(second);
        EXPECT_EQ(second->element(last).value_or(0.0), 15.0);
        const auto info = ends.one.info();
        ASSERT_TRUE(info);
        EXPECT_EQ(info->passed_bytes, 24U);
        EXPECT_EQ(info->copied_bytes, 24U);
        EXPECT_EQ(info->outstanding, 2U);
        EXPECT_EQ(ends.other.info()->held, 2U);
    }
    const auto end = ends.other.receive(patience_ms);
    ASSERT_TRUE(end) << end.error().message();
    EXPECT_FALSE(*end);
    ASSERT_TRUE(ends.one.process());
    EXPECT_EQ(ends.one.info()->outstanding, 0U);
    EXPECT_GE(ends.one.fd().value_or(-1), 0);
}

TEST_F(Channels, OptionsLimitWhatIsReceived) {
    hurray::ChannelOptions options;
    options.max_tensor_bytes = 8;
    options.send_timeout_ms = patience_ms;
    auto ends = pair_of_ends(options);
    ASSERT_TRUE(ends.one.send(numbers()));
    EXPECT_EQ(ends.other.receive(patience_ms).error().code(), HURRAY_ERR_LIMIT_EXCEEDED);
    EXPECT_EQ(ends.other.receive(0).error().code(), HURRAY_ERR_TIMED_OUT);
    EXPECT_TRUE(ends.other.reset_deferred());
    EXPECT_FALSE(ends.other);
}

TEST_F(Channels, AForkConnectsByPathAndWhatItSentOutlivesIt) {
    auto listener = hurray::ChannelListener::listen(path_.c_str());
    ASSERT_TRUE(listener) << listener.error().message();
    EXPECT_EQ(listener->accept(0).error().code(), HURRAY_ERR_TIMED_OUT);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        auto channel = Channel::connect(path_.c_str(), patience_ms);
        if (!channel || !channel->send(numbers(20)) || !channel->finish()) ::_exit(1);
        const auto end = channel->receive(patience_ms);
        ::_exit(end && !*end ? 0 : 2);
    }
    hurray::Tensor tensor;
    {
        auto channel = listener->accept(patience_ms);
        ASSERT_TRUE(channel) << channel.error().message();
        auto received = channel->receive(patience_ms);
        ASSERT_TRUE(received) << received.error().message();
        tensor = std::move(*received);
        EXPECT_FALSE(*channel->receive(patience_ms));
        ASSERT_TRUE(channel->finish());
        int status = -1;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(tensor.element(last).value_or(0.0), 25.0);
    listener->reset();
    EXPECT_NE(::access(path_.c_str(), F_OK), 0);
    EXPECT_EQ(Channel::connect(path_.c_str(), 0).error().code(), HURRAY_ERR_TIMED_OUT);
}

}  // namespace

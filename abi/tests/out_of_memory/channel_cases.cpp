// Channels: see out_of_memory_test.cpp.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "abi/tests/out_of_memory/fixtures.hpp"

namespace {

using namespace hurray_test;

using Channel = Scoped<HurrayChannel, hurray_channel_destroy>;
using Listener = Scoped<HurrayChannelListener, hurray_channel_listener_destroy>;

std::string socket_path() { return "/tmp/hurray_memory_" + std::to_string(getpid()); }

/// Two ends that are connected.
struct Ends {
    Channel first;
    Channel second;

    Ends() { connect(); }
    void connect() {
        first.end();
        second.end();
        int ends[2];
        ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
        HurrayChannelOptions options{};
        options.struct_size = sizeof options;
        options.flags = HURRAY_CHANNEL_CLOSE_FD;
        EXPECT_EQ(hurray_channel_from_fd(ends[0], &options, first.out(), nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_channel_from_fd(ends[1], &options, second.out(), nullptr), HURRAY_OK);
    }
    HurrayChannelInfo info() const {
        HurrayChannelInfo info{};
        info.struct_size = sizeof info;
        EXPECT_EQ(hurray_channel_info(first.handle, &info, nullptr), HURRAY_OK);
        return info;
    }
};

NEEDS_MEMORY(hurray_buffer_allocate_shared) {
    Buffer buffer;
    each_allocation_fails([&] { return subject(64, 64, buffer.out(), &report); }, [&] { EXPECT_EQ(buffer.handle, nullptr); });
}
NEEDS_MEMORY(hurray_channel_listen) {
    Listener listener;
    const std::string path = socket_path();
    each_allocation_fails([&] { return subject(path.c_str(), nullptr, listener.out(), &report); },
                          [&] { EXPECT_EQ(listener.handle, nullptr); });
}
NEEDS_MEMORY(hurray_channel_accept) {
    Listener listener;
    const std::string path = socket_path();
    ASSERT_EQ(hurray_channel_listen(path.c_str(), nullptr, listener.out(), nullptr), HURRAY_OK);
    Channel accepted;
    Channel connected;
    each_allocation_fails([&] { return subject(listener.handle, 0, accepted.out(), &report); },
                          [&] { EXPECT_EQ(accepted.handle, nullptr); },
                          [&] {
                              connected.end();
                              EXPECT_EQ(hurray_channel_connect(path.c_str(), nullptr, 0, connected.out(), nullptr), HURRAY_OK);
                          });
}
NEEDS_NO_MEMORY(hurray_channel_listener_destroy, "ends only") {
    HurrayChannelListener* listener = nullptr;
    ASSERT_EQ(hurray_channel_listen(socket_path().c_str(), nullptr, &listener, nullptr), HURRAY_OK);
    EXPECT_EQ(without_memory([&] { return subject(&listener); }), HURRAY_OK);
}
NEEDS_MEMORY(hurray_channel_connect) {
    Listener listener;
    const std::string path = socket_path();
    ASSERT_EQ(hurray_channel_listen(path.c_str(), nullptr, listener.out(), nullptr), HURRAY_OK);
    Channel connected;
    each_allocation_fails([&] { return subject(path.c_str(), nullptr, 0, connected.out(), &report); },
                          [&] { EXPECT_EQ(connected.handle, nullptr); });
}
NEEDS_MEMORY(hurray_channel_from_fd) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    HurrayChannelOptions options{};
    options.struct_size = sizeof options;
    options.flags = HURRAY_CHANNEL_CLOSE_FD;
    Channel channel;
    each_allocation_fails([&] { return subject(ends[0], &options, channel.out(), &report); },
                          [&] {
                              EXPECT_EQ(channel.handle, nullptr);
                              EXPECT_NE(fcntl(ends[0], F_GETFD), -1) << "the descriptor stays the caller's";
                              char byte = 0;
                              EXPECT_EQ(recv(ends[1], &byte, 1, MSG_DONTWAIT), -1) << "and nothing was said to the peer";
                          });
    EXPECT_EQ(fcntl(ends[0], F_GETFD), -1);
    close(ends[1]);
}
NEEDS_MEMORY(hurray_channel_send) {
    Ends ends;
    Imported imported;
    each_allocation_fails([&] { return subject(ends.first.handle, imported.tensor.handle, &report); },
                          [&] {
                              EXPECT_EQ(imported.releases(), 0);
                              EXPECT_EQ(ends.info().sent, 0u);
                              EXPECT_EQ(ends.info().outstanding, 0u);
                          });
    Tensor received;
    ASSERT_EQ(hurray_channel_receive(ends.second.handle, 0, received.out(), nullptr), HURRAY_OK);
    EXPECT_NE(received.handle, nullptr) << "attempts that failed left nothing torn";
}
NEEDS_MEMORY(hurray_channel_receive) {
    Ends ends;
    Imported imported;
    Tensor received;
    // What could not be received comes with the next call, or was given back, or the channel has ended.
    each_allocation_fails([&] { return subject(ends.second.handle, 0, received.out(), &report); },
                          [&] {
                              EXPECT_EQ(received.handle, nullptr);
                              Tensor second;
                              (void)hurray_channel_receive(ends.second.handle, 0, second.out(), nullptr);
                              second.end();
                              EXPECT_TRUE(hurray_channel_process(ends.first.handle, nullptr) == HURRAY_OK ||
                                          (ends.info().state & HURRAY_CHANNEL_PEER_GONE) != 0);
                              EXPECT_EQ(ends.info().outstanding, 0u);
                          },
                          [&] {
                              ends.connect();
                              EXPECT_EQ(hurray_channel_send(ends.first.handle, imported.tensor.handle, nullptr), HURRAY_OK);
                          });
}
NEEDS_MEMORY(hurray_channel_process) {
    Ends ends;
    Imported imported;
    each_allocation_fails([&] { return subject(ends.first.handle, &report); },
                          [&] { EXPECT_EQ(ends.info().outstanding, 0u) << "a channel that lost a packet gives everything up"; },
                          [&] {
                              ends.connect();
                              Tensor received;
                              EXPECT_EQ(hurray_channel_send(ends.first.handle, imported.tensor.handle, nullptr), HURRAY_OK);
                              EXPECT_EQ(hurray_channel_receive(ends.second.handle, 0, received.out(), nullptr), HURRAY_OK);
                          });
    EXPECT_EQ(ends.info().outstanding, 0u);
}
NEEDS_NO_MEMORY(hurray_channel_finish, "the packet is on the stack") {
    Ends ends;
    EXPECT_EQ(without_memory([&] { return subject(ends.first.handle, nullptr); }), HURRAY_OK);
    Tensor received;
    EXPECT_EQ(hurray_channel_receive(ends.second.handle, 0, received.out(), nullptr), HURRAY_OK);
    EXPECT_EQ(received.handle, nullptr);
}
NEEDS_NO_MEMORY(hurray_channel_info, "copies numbers") {
    Ends ends;
    HurrayChannelInfo info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(without_memory([&] { return subject(ends.first.handle, &info, nullptr); }), HURRAY_OK);
}
NEEDS_NO_MEMORY(hurray_channel_fd, "copies a number") {
    Ends ends;
    std::int32_t fd = -1;
    EXPECT_EQ(without_memory([&] { return subject(ends.first.handle, &fd, nullptr); }), HURRAY_OK);
    EXPECT_GE(fd, 0);
}
NEEDS_NO_MEMORY(hurray_channel_destroy, "ends only") {
    Ends ends;
    EXPECT_EQ(without_memory([&] { return subject(&ends.first.handle); }), HURRAY_OK);
}
NEEDS_NO_MEMORY(hurray_channel_destroy_deferred, "as hurray_channel_destroy") {
    Ends ends;
    EXPECT_EQ(without_memory([&] { return subject(&ends.first.handle, nullptr); }), HURRAY_OK);
}

}  // namespace

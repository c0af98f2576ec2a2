// What the tests of channels share: two ends, tensors in every kind of memory, and where their memory really is.
#pragma once

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "abi/tests/support.hpp"

namespace hurray_test {

inline HurrayChannelOptions channel_options(std::uint32_t flags = 0) {
    HurrayChannelOptions options{};
    options.struct_size = sizeof options;
    options.flags = flags;
    return options;
}

inline HurrayChannelInfo info_of(const HurrayChannel* channel) {
    HurrayChannelInfo info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(hurray_channel_info(channel, &info, nullptr), HURRAY_OK);
    return info;
}

/// The two ends of a channel in one process.
struct Ends {
    HurrayChannel* first = nullptr;
    HurrayChannel* second = nullptr;
    int fds[2] = {-1, -1};

    explicit Ends(HurrayChannelOptions options = channel_options()) {
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        options.flags |= HURRAY_CHANNEL_CLOSE_FD;
        EXPECT_EQ(hurray_channel_from_fd(fds[0], &options, &first, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_channel_from_fd(fds[1], &options, &second, nullptr), HURRAY_OK);
    }
    Ends(const Ends&) = delete;
    Ends& operator=(const Ends&) = delete;
    ~Ends() {
        EXPECT_EQ(hurray_channel_destroy(&first), HURRAY_OK);
        EXPECT_EQ(hurray_channel_destroy(&second), HURRAY_OK);
    }
};

/// One end as a channel, the other one a bare socket.
struct BarePeer {
    HurrayChannel* channel = nullptr;
    int fd = -1;

    explicit BarePeer(HurrayChannelOptions options = channel_options(), int type = SOCK_SEQPACKET) {
        int fds[2];
        EXPECT_EQ(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds), 0);
        options.flags |= HURRAY_CHANNEL_CLOSE_FD;
        EXPECT_EQ(hurray_channel_from_fd(fds[0], &options, &channel, nullptr), HURRAY_OK);
        fd = fds[1];
    }
    BarePeer(const BarePeer&) = delete;
    BarePeer& operator=(const BarePeer&) = delete;
    ~BarePeer() {
        EXPECT_EQ(hurray_channel_destroy(&channel), HURRAY_OK);
        if (fd >= 0) close(fd);
    }
};

/// uint8 [length] in a buffer, of which it takes ownership.
inline HurrayTensor* bytes_tensor(HurrayBuffer* buffer, std::uint64_t length) {
    const auto encoded = row_major_descriptor(HURRAY_TYPE_UINT8, {length}, length);
    HurrayDescriptor* descriptor = nullptr;
    EXPECT_EQ(hurray_descriptor_decode(encoded.data(), encoded.size(), &descriptor, nullptr), HURRAY_OK);
    HurrayBufferList* list = nullptr;
    EXPECT_EQ(hurray_buffer_list_new(1, &list), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_list_push(list, buffer), HURRAY_OK);
    HurrayTensor* tensor = nullptr;
    HurrayError error{};
    EXPECT_EQ(hurray_tensor_new(descriptor, &list, &tensor, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
    return tensor;
}

inline HurrayBufferInfo buffer_info(const HurrayBuffer* buffer) {
    HurrayBufferInfo info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(hurray_buffer_info(buffer, &info, nullptr), HURRAY_OK);
    return info;
}

inline HurrayBufferInfo first_buffer(const HurrayTensor* tensor) {
    HurrayBuffer* buffer = nullptr;
    EXPECT_EQ(hurray_tensor_buffer(tensor, 0, &buffer, nullptr), HURRAY_OK);
    return buffer_info(buffer);
}

inline HurrayView view_of(const HurrayTensor* tensor) {
    HurrayView view{};
    view.struct_size = sizeof view;
    EXPECT_EQ(hurray_tensor_view(tensor, &view, nullptr), HURRAY_OK);
    return view;
}

/// uint8 [length] in shared memory, filled with 0, 1, 2, ...
inline HurrayTensor* shared_tensor(std::uint64_t length) {
    HurrayBuffer* buffer = nullptr;
    EXPECT_EQ(hurray_buffer_allocate_shared(length, 0, &buffer, nullptr), HURRAY_OK);
    auto* bytes = static_cast<unsigned char*>(buffer_info(buffer).data);
    for (std::uint64_t i = 0; i < length; ++i) bytes[i] = static_cast<unsigned char>(i);
    return bytes_tensor(buffer, length);
}

/// As above in memory of the caller, which release() counts.
inline HurrayTensor* lent_tensor(unsigned char* memory, std::uint64_t length, ReleaseCounter& releases) {
    for (std::uint64_t i = 0; i < length; ++i) memory[i] = static_cast<unsigned char>(i);
    return bytes_tensor(buffer_over(memory, length, releases), length);
}

inline HurrayTensor* received(HurrayChannel* channel, std::int32_t timeout_ms = 5000) {
    HurrayTensor* tensor = nullptr;
    HurrayError error{};
    EXPECT_EQ(hurray_channel_receive(channel, timeout_ms, &tensor, &error), HURRAY_OK) << error.message;
    return tensor;
}

inline void expect_counting(const HurrayTensor* tensor, std::uint64_t length) {
    const HurrayView view = view_of(tensor);
    ASSERT_EQ(view.byte_size, length);
    for (std::uint64_t i = 0; i < length; ++i) {
        ASSERT_EQ(static_cast<const unsigned char*>(view.data)[i], static_cast<unsigned char>(i)) << i;
    }
}

/// Where an address of this process is mapped from, as the kernel says in /proc/self/maps: "device:inode", its permissions, and
/// the offset in the file of that very byte.
struct Mapping {
    std::string file;
    std::string permissions;
    std::uint64_t offset = 0;
};
inline Mapping mapping_of(const void* address) {
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t start = 0;
        std::uintptr_t end = 0;
        std::uint64_t offset = 0;
        char permissions[8];
        char device[16];
        unsigned long long inode = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx %7s %lx %15s %llu", &start, &end, permissions, &offset, device, &inode) != 6) continue;
        if (wanted >= start && wanted < end) {
            return {std::string(device) + ":" + std::to_string(inode), permissions, offset + (wanted - start)};
        }
    }
    ADD_FAILURE() << "the address is not mapped";
    return {};
}

inline std::size_t open_files() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
    return count;
}

inline std::size_t mappings() {
    std::ifstream maps("/proc/self/maps");
    std::size_t count = 0;
    for (std::string line; std::getline(maps, line);) ++count;
    return count;
}

/// Runs `body` in a child of fork, which may not come back: it returns an exit code. The child must not touch what gtest counts.
template <typename Body>
pid_t start_child(Body&& body) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(30);
        _exit(body());
    }
    return child;
}
inline int wait_status(pid_t child) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
}
template <typename Body>
int in_child(Body&& body) {
    const int status = wait_status(start_child(std::forward<Body>(body)));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/// A short path, as that of a socket must be, removed at the end.
class SocketPath {
public:
    SocketPath() {
        static int number = 0;
        path_ = "/tmp/hurray_channel_" + std::to_string(getpid()) + "_" + std::to_string(number++);
        unlink(path_.c_str());
    }
    ~SocketPath() { unlink(path_.c_str()); }
    const char* c_str() const { return path_.c_str(); }

private:
    std::string path_;
};

}  // namespace hurray_test

// Channels within one process and its children: what is copied and what is not, releases, limits, ends. (docs/channel.md)
#include "abi/tests/channels.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/un.h>

namespace {

using namespace hurray_test;

class Channel : public BaseLineTest {
protected:
    static void destroy(HurrayTensor*& tensor) { EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK); }
    static void send(HurrayChannel* channel, const HurrayTensor* tensor) {
        HurrayError error{};
        ASSERT_EQ(hurray_channel_send(channel, tensor, &error), HURRAY_OK) << error.message;
    }
};

TEST_F(Channel, HeapMemoryIsCopiedOnceIntoSealedMemoryAndCounted) {
    Ends ends;
    AlignedBytes<64> memory;
    ReleaseCounter releases;
    HurrayTensor* tensor = lent_tensor(memory.bytes, 48, releases);
    send(ends.first, tensor);
    EXPECT_EQ(info_of(ends.first).copied_bytes, 48u);
    EXPECT_EQ(info_of(ends.first).passed_bytes, 0u);
    HurrayTensor* other = received(ends.second);
    expect_counting(other, 48);
    const HurrayBufferInfo buffer = first_buffer(other);
    EXPECT_EQ(buffer.flags & (HURRAY_BUFFER_READ_ONLY | HURRAY_BUFFER_SHARED | HURRAY_BUFFER_SEALED),
              HURRAY_BUFFER_READ_ONLY | HURRAY_BUFFER_SHARED | HURRAY_BUFFER_SEALED);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data) % 64, 0u);
    EXPECT_EQ(view_of(other).flags & HURRAY_VIEW_READ_ONLY, HURRAY_VIEW_READ_ONLY);
    destroy(tensor);
    EXPECT_EQ(releases.calls, 1) << "nobody needs the original any more";
    EXPECT_EQ(info_of(ends.first).outstanding, 1u);
    EXPECT_EQ(info_of(ends.second).held, 1u);
    destroy(other);
    EXPECT_EQ(info_of(ends.second).held, 0u);
    EXPECT_EQ(hurray_channel_process(ends.first, nullptr), HURRAY_OK);
    EXPECT_EQ(info_of(ends.first).outstanding, 0u);
}

TEST_F(Channel, SharedMemoryTravelsWithoutACopyAndIsTheSameInBothProcesses) {
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    int answer[2];
    ASSERT_EQ(pipe(answer), 0);
    // The child is there before the memory: it shares nothing but what comes through the channel.
    const pid_t child = start_child([&] {
        HurrayChannelOptions options = channel_options(HURRAY_CHANNEL_CLOSE_FD);
        HurrayChannel* channel = nullptr;
        close(fds[0]);
        if (hurray_channel_from_fd(fds[1], &options, &channel, nullptr) != HURRAY_OK) return 1;
        HurrayTensor* tensor = received(channel);
        if (tensor == nullptr) return 2;
        const HurrayView view = view_of(tensor);
        for (unsigned i = 0; i < 5000; ++i) {
            if (static_cast<const unsigned char*>(view.data)[i] != static_cast<unsigned char>(i)) return 3;
        }
        const Mapping mapping = mapping_of(view.data);
        const std::string text = mapping.file + " " + mapping.permissions + " " + std::to_string(mapping.offset);
        if (write(answer[1], text.data(), text.size()) != static_cast<ssize_t>(text.size())) return 4;
        if (info_of(channel).copied_bytes != 0) return 5;
        return hurray_tensor_destroy(&tensor) == HURRAY_OK && hurray_channel_destroy(&channel) == HURRAY_OK ? 0 : 6;
    });
    close(fds[1]);
    close(answer[1]);
    HurrayChannelOptions options = channel_options(HURRAY_CHANNEL_CLOSE_FD);
    HurrayChannel* channel = nullptr;
    ASSERT_EQ(hurray_channel_from_fd(fds[0], &options, &channel, nullptr), HURRAY_OK);
    HurrayTensor* tensor = shared_tensor(5000);
    const void* base = view_of(tensor).data;
    EXPECT_EQ(mapping_of(base).permissions, "rw-s");
    send(channel, tensor);
    EXPECT_EQ(view_of(tensor).data, base) << "the base does not move";
    EXPECT_EQ(mapping_of(base).permissions.substr(0, 3), "r--");
    EXPECT_EQ(view_of(tensor).flags & HURRAY_VIEW_READ_ONLY, HURRAY_VIEW_READ_ONLY);
    expect_counting(tensor, 5000);
    char text[128] = {};
    ASSERT_GT(read(answer[0], text, sizeof text - 1), 0);
    close(answer[0]);
    char file[64] = {};
    char permissions[8] = {};
    unsigned long long offset = 1;
    ASSERT_EQ(std::sscanf(text, "%63s %7s %llu", file, permissions, &offset), 3) << text;
    EXPECT_EQ(mapping_of(base).file, file) << "the same inode in both processes";
    EXPECT_EQ(std::string(permissions).substr(0, 3), "r--");
    EXPECT_EQ(offset, 0u);
    EXPECT_EQ(wait_status(child), 0);
    EXPECT_EQ(info_of(channel).copied_bytes, 0u);
    EXPECT_EQ(info_of(channel).passed_bytes, 5000u);
    EXPECT_EQ(hurray_channel_process(channel, nullptr), HURRAY_OK) << "the peer has finished";
    EXPECT_EQ(info_of(channel).outstanding, 0u);
    destroy(tensor);
    EXPECT_EQ(hurray_channel_destroy(&channel), HURRAY_OK);
}

TEST_F(Channel, AWriteToWhatWasSentFaults) {
    Ends ends;
    HurrayTensor* tensor = shared_tensor(100);
    auto* base = static_cast<volatile unsigned char*>(view_of(tensor).data);
    base[0] = 0;
    send(ends.first, tensor);
    HurrayTensor* other = received(ends.second);
    EXPECT_NE(view_of(other).data, view_of(tensor).data);
    for (volatile unsigned char* at : {base, static_cast<volatile unsigned char*>(view_of(other).data)}) {
        EXPECT_EQ(in_child([&] {
                      signal(SIGSEGV, SIG_DFL);
                      at[0] = 1;
                      return 0;
                  }),
                  1000 + SIGSEGV);
    }
    destroy(tensor);
    destroy(other);
}

TEST_F(Channel, MemoryThatSomebodyElseMayWriteIsCopiedUnlessItIsMarkedReadOnly) {
    Ends ends;
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(hurray_buffer_allocate_shared(64, 0, &buffer, nullptr), HURRAY_OK);
    HurrayBuffer* share = nullptr;
    ASSERT_EQ(hurray_buffer_share(buffer, &share, nullptr), HURRAY_OK);
    HurrayTensor* tensor = bytes_tensor(share, 64);
    send(ends.first, tensor);
    EXPECT_EQ(info_of(ends.first).copied_bytes, 64u);
    static_cast<unsigned char*>(buffer_info(buffer).data)[0] = 9;
    HurrayTensor* other = received(ends.second);
    EXPECT_EQ(static_cast<unsigned char*>(view_of(other).data)[0], 0) << "as it was when it was sent";
    destroy(other);
    destroy(tensor);
    // The same memory, by promise.
    ASSERT_EQ(hurray_buffer_share(buffer, &share, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_buffer_set_read_only(share, nullptr), HURRAY_OK);
    tensor = bytes_tensor(share, 64);
    send(ends.first, tensor);
    EXPECT_EQ(info_of(ends.first).copied_bytes, 64u);
    EXPECT_EQ(info_of(ends.first).passed_bytes, 64u);
    other = received(ends.second);
    EXPECT_EQ(mapping_of(view_of(other).data).file, mapping_of(buffer_info(buffer).data).file);
    EXPECT_EQ(static_cast<unsigned char*>(view_of(other).data)[0], 9);
    EXPECT_EQ(buffer_info(buffer).flags & HURRAY_BUFFER_SEALED, HURRAY_BUFFER_SEALED);
    destroy(other);
    destroy(tensor);
    EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
}

TEST_F(Channel, MemoryThatAForkHasMappedForWritingIsCopied) {
    Ends ends;
    HurrayTensor* tensor = shared_tensor(64);
    int hold[2];
    ASSERT_EQ(pipe(hold), 0);
    const pid_t child = start_child([&] {
        char byte = 0;
        close(hold[1]);
        return read(hold[0], &byte, 1) == 0 ? 0 : 1;
    });
    send(ends.first, tensor);
    EXPECT_EQ(info_of(ends.first).copied_bytes, 64u);
    EXPECT_EQ(mapping_of(view_of(tensor).data).permissions, "rw-s") << "as it was";
    static_cast<unsigned char*>(view_of(tensor).data)[1] = 1;
    close(hold[0]);
    close(hold[1]);
    EXPECT_EQ(wait_status(child), 0);
    send(ends.first, tensor);
    EXPECT_EQ(info_of(ends.first).passed_bytes, 64u) << "the fork is gone";
    for (int i = 0; i < 2; ++i) {
        HurrayTensor* other = received(ends.second);
        expect_counting(other, 64);
        destroy(other);
    }
    destroy(tensor);
}

TEST_F(Channel, TensorsOfFilesTravelAsTheFile) {
    const std::string path = ::testing::TempDir() + "/hurray_channel_model.safetensors";
    HurrayFileWriter* writer = nullptr;
    ASSERT_EQ(hurray_file_writer_create(path.c_str(), HURRAY_FORMAT_SAFETENSORS, &writer, nullptr), HURRAY_OK);
    AlignedBytes<128> memory;
    ReleaseCounter releases;
    const char* names[] = {"a", "b"};
    for (int i = 0; i < 2; ++i) {
        HurrayTensor* tensor = lent_tensor(memory.bytes, 77, releases);
        ASSERT_EQ(hurray_file_writer_add(writer, names[i], 1, tensor, nullptr), HURRAY_OK);
        destroy(tensor);
    }
    ASSERT_EQ(hurray_file_writer_finish(writer, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_file_writer_destroy(&writer), HURRAY_OK);
    HurrayFile* file = nullptr;
    ASSERT_EQ(hurray_file_open(path.c_str(), nullptr, &file, nullptr), HURRAY_OK);
    std::uint64_t index = 0;
    ASSERT_EQ(hurray_file_find(file, "b", 1, &index, nullptr), HURRAY_OK);
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(hurray_file_tensor(file, index, &tensor, nullptr), HURRAY_OK);
    const HurrayBufferInfo original = first_buffer(tensor);
    ASSERT_NE(original.prefix, 0u) << "the second one is not aligned";
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);

    Ends ends;
    send(ends.first, tensor);
    send(ends.first, tensor);
    EXPECT_EQ(info_of(ends.first).copied_bytes, 0u);
    HurrayTensor* other = received(ends.second);
    expect_counting(other, 77);
    const HurrayBufferInfo buffer = first_buffer(other);
    EXPECT_EQ(buffer.prefix, original.prefix) << "byte_offset and mark are kept";
    EXPECT_EQ(static_cast<const unsigned char*>(view_of(other).data) - static_cast<const unsigned char*>(buffer.data),
              static_cast<std::ptrdiff_t>(original.prefix));
    EXPECT_EQ(buffer.flags & (HURRAY_BUFFER_SHARED | HURRAY_BUFFER_SEALED), HURRAY_BUFFER_SHARED) << "a file cannot be sealed";
    const Mapping here = mapping_of(view_of(other).data);
    EXPECT_TRUE(here.file.ends_with(std::string(":").append(std::to_string(status.st_ino)))) << here.file;
    EXPECT_EQ(here.file, mapping_of(view_of(tensor).data).file);
    EXPECT_EQ(here.offset, mapping_of(view_of(tensor).data).offset);
    HurrayTensor* again = received(ends.second);
    EXPECT_EQ(view_of(again).data, view_of(other).data) << "a file is mapped once";
    destroy(again);

    // Without the file: its bytes alone.
    Ends copying(channel_options(HURRAY_CHANNEL_COPY_FILES));
    send(copying.first, tensor);
    EXPECT_EQ(info_of(copying.first).copied_bytes, 77u);
    again = received(copying.second);
    expect_counting(again, 77);
    EXPECT_EQ(first_buffer(again).prefix, 0u);
    EXPECT_NE(mapping_of(view_of(again).data).file, here.file);
    destroy(again);

    // Who accepts sealed memory only gets no file, and the next tensor.
    Ends strict(channel_options(HURRAY_CHANNEL_SEALED_ONLY));
    send(strict.first, tensor);
    HurrayTensor* sealed = shared_tensor(10);
    send(strict.first, sealed);
    EXPECT_EQ(hurray_channel_receive(strict.second, 1000, &again, nullptr), HURRAY_ERR_UNSUPPORTED);
    again = received(strict.second);
    expect_counting(again, 10);
    EXPECT_EQ(hurray_channel_process(strict.first, nullptr), HURRAY_OK);
    EXPECT_EQ(info_of(strict.first).outstanding, 1u) << "what was refused was given back";
    destroy(again);
    destroy(sealed);
    EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
    destroy(tensor);
    expect_counting(other, 77);
    destroy(other);
}

TEST_F(Channel, WhatWasReceivedIsSentOnWithoutACopyAndGivenBackInTurn) {
    Ends first;
    Ends second;
    HurrayTensor* tensor = shared_tensor(300);
    const std::string file = mapping_of(view_of(tensor).data).file;
    send(first.first, tensor);
    HurrayTensor* middle = received(first.second);
    // Through the exchange form on the way, as between two runtimes.
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* context = nullptr;
    ASSERT_EQ(hurray_tensor_export(middle, &list, &context, nullptr), HURRAY_OK);
    destroy(middle);
    ASSERT_EQ(hurray_tensor_import(&list, &context, &middle, nullptr), HURRAY_OK);
    send(second.first, middle);
    EXPECT_EQ(info_of(second.first).copied_bytes, 0u);
    HurrayTensor* last = received(second.second);
    EXPECT_EQ(mapping_of(view_of(last).data).file, file);
    expect_counting(last, 300);
    destroy(middle);
    EXPECT_EQ(hurray_channel_process(first.first, nullptr), HURRAY_OK);
    EXPECT_EQ(info_of(first.first).outstanding, 1u) << "the last one has it";
    destroy(last);
    EXPECT_EQ(hurray_channel_process(second.first, nullptr), HURRAY_OK);
    EXPECT_EQ(info_of(second.first).outstanding, 0u);
    EXPECT_EQ(hurray_channel_process(first.first, nullptr), HURRAY_OK);
    EXPECT_EQ(info_of(first.first).outstanding, 0u);
    destroy(tensor);
}

TEST_F(Channel, ShapesThatBreakReaders) {
    Ends ends;
    const auto round = [&](const std::vector<std::uint64_t>& shape, std::uint64_t size, std::uint8_t type) {
        const auto encoded = row_major_descriptor(type, shape, size);
        HurrayDescriptor* descriptor = nullptr;
        ASSERT_EQ(hurray_descriptor_decode(encoded.data(), encoded.size(), &descriptor, nullptr), HURRAY_OK);
        HurrayBufferList* list = nullptr;
        HurrayBuffer* buffer = nullptr;
        ASSERT_EQ(hurray_buffer_allocate(size, 64, &buffer, nullptr), HURRAY_OK);
        ASSERT_EQ(hurray_buffer_list_new(1, &list), HURRAY_OK);
        ASSERT_EQ(hurray_buffer_list_push(list, buffer), HURRAY_OK);
        HurrayTensor* tensor = nullptr;
        ASSERT_EQ(hurray_tensor_new(descriptor, &list, &tensor, nullptr), HURRAY_OK);
        send(ends.first, tensor);
        HurrayTensor* other = received(ends.second);
        ASSERT_NE(other, nullptr);
        const HurrayView view = view_of(other);
        EXPECT_EQ(view.rank, shape.size());
        EXPECT_EQ(view.element_count, view_of(tensor).element_count);
        destroy(other);
        destroy(tensor);
        ASSERT_EQ(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
    };
    round({}, 4, HURRAY_TYPE_FLOAT32);
    round({4, 0, 2}, 0, HURRAY_TYPE_INT16);
    round({13}, 2, HURRAY_TYPE_BOOL);
    round(std::vector<std::uint64_t>(HURRAY_MAX_RANK, 1), 1, HURRAY_TYPE_UINT8);
    EXPECT_EQ(hurray_channel_process(ends.first, nullptr), HURRAY_OK);
    EXPECT_EQ(info_of(ends.first).outstanding, 0u);
}

TEST_F(Channel, EndsAreCleanOrSaid) {
    Ends ends;
    HurrayTensor* tensor = shared_tensor(10);
    HurrayTensor* other = nullptr;
    EXPECT_EQ(hurray_channel_receive(ends.second, 0, &other, nullptr), HURRAY_ERR_TIMED_OUT);
    EXPECT_EQ(hurray_channel_receive(ends.second, 20, &other, nullptr), HURRAY_ERR_TIMED_OUT);
    send(ends.first, tensor);
    ASSERT_EQ(hurray_channel_finish(ends.first, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_channel_finish(ends.first, nullptr), HURRAY_OK) << "again";
    EXPECT_EQ(hurray_channel_send(ends.first, tensor, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    other = received(ends.second);
    expect_counting(other, 10);
    HurrayTensor* none = received(ends.second);
    EXPECT_EQ(none, nullptr);
    none = received(ends.second);
    EXPECT_EQ(none, nullptr) << "the end stays the end";
    EXPECT_EQ(info_of(ends.second).state, HURRAY_CHANNEL_PEER_FINISHED);
    // The other direction goes on.
    send(ends.second, other);
    HurrayTensor* back = received(ends.first);
    expect_counting(back, 10);
    destroy(back);
    EXPECT_EQ(hurray_channel_destroy(&ends.second), HURRAY_OK);
    EXPECT_EQ(hurray_channel_process(ends.first, nullptr), HURRAY_OK) << "it said that nothing more comes";
    EXPECT_EQ(info_of(ends.first).outstanding, 1u) << "a tensor outlives the channel that it came through";
    destroy(other);
    EXPECT_EQ(hurray_channel_process(ends.first, nullptr), HURRAY_OK);
    EXPECT_EQ(info_of(ends.first).outstanding, 0u);
    destroy(tensor);
}

TEST_F(Channel, SendingToOneThatHasClosedIsAnErrorAndNoSignal) {
    Ends ends;
    HurrayTensor* tensor = shared_tensor(10);
    EXPECT_EQ(hurray_channel_destroy(&ends.second), HURRAY_OK);
    EXPECT_EQ(hurray_channel_send(ends.first, tensor, nullptr), HURRAY_ERR_DISCONNECTED);
    EXPECT_EQ(hurray_channel_send(ends.first, tensor, nullptr), HURRAY_ERR_DISCONNECTED);
    EXPECT_EQ(info_of(ends.first).outstanding, 0u);
    destroy(tensor);
}

TEST_F(Channel, WhatCameAndWasNotReceivedIsGivenBackAtTheEnd) {
    Ends ends;
    HurrayTensor* tensor = shared_tensor(10);
    for (int i = 0; i < 30; ++i) send(ends.first, tensor);
    HurrayTensor* held = received(ends.second);
    EXPECT_EQ(hurray_channel_destroy(&ends.second), HURRAY_OK);
    EXPECT_EQ(hurray_channel_process(ends.first, nullptr), HURRAY_OK);
    EXPECT_EQ(info_of(ends.first).outstanding, 1u) << "the one that is held";
    destroy(held);
    EXPECT_EQ(hurray_channel_process(ends.first, nullptr), HURRAY_OK);
    EXPECT_EQ(info_of(ends.first).outstanding, 0u);
    destroy(tensor);
}

TEST_F(Channel, AConsumerThatIsKilledGivesEverythingBack) {
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = start_child([&] {
        close(fds[0]);
        HurrayChannelOptions options = channel_options(HURRAY_CHANNEL_CLOSE_FD);
        HurrayChannel* channel = nullptr;
        if (hurray_channel_from_fd(fds[1], &options, &channel, nullptr) != HURRAY_OK) return 1;
        for (int i = 0; i < 2; ++i) {
            if (received(channel) == nullptr) return 2;
        }
        if (write(ready[1], "x", 1) != 1) return 3;
        pause();
        return 4;
    });
    close(fds[1]);
    HurrayChannelOptions options = channel_options(HURRAY_CHANNEL_CLOSE_FD);
    HurrayChannel* channel = nullptr;
    ASSERT_EQ(hurray_channel_from_fd(fds[0], &options, &channel, nullptr), HURRAY_OK);
    HurrayTensor* tensor = shared_tensor(100);
    // Three: one of them is on its way.
    for (int i = 0; i < 3; ++i) send(channel, tensor);
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    EXPECT_EQ(info_of(channel).outstanding, 3u);
    std::uint64_t shares = first_buffer(tensor).share_count;
    EXPECT_EQ(shares, 4u);
    kill(child, SIGKILL);
    EXPECT_TRUE(WIFSIGNALED(wait_status(child)));
    EXPECT_EQ(hurray_channel_process(channel, nullptr), HURRAY_ERR_DISCONNECTED);
    EXPECT_EQ(info_of(channel).outstanding, 0u);
    EXPECT_EQ(info_of(channel).state & HURRAY_CHANNEL_PEER_GONE, HURRAY_CHANNEL_PEER_GONE);
    EXPECT_EQ(first_buffer(tensor).share_count, 1u);
    HurrayTensor* none = nullptr;
    EXPECT_EQ(hurray_channel_receive(channel, 0, &none, nullptr), HURRAY_ERR_DISCONNECTED);
    EXPECT_EQ(hurray_channel_send(channel, tensor, nullptr), HURRAY_ERR_DISCONNECTED);
    destroy(tensor);
    EXPECT_EQ(hurray_channel_destroy(&channel), HURRAY_OK);
    close(ready[0]);
    close(ready[1]);
}

TEST_F(Channel, WhatAKilledProducerSentLivesOn) {
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    const pid_t child = start_child([&] {
        close(fds[0]);
        HurrayChannelOptions options = channel_options(HURRAY_CHANNEL_CLOSE_FD);
        HurrayChannel* channel = nullptr;
        if (hurray_channel_from_fd(fds[1], &options, &channel, nullptr) != HURRAY_OK) return 1;
        HurrayTensor* tensor = shared_tensor(200);
        if (hurray_channel_send(channel, tensor, nullptr) != HURRAY_OK) return 2;
        raise(SIGKILL);
        return 3;
    });
    close(fds[1]);
    HurrayChannelOptions options = channel_options(HURRAY_CHANNEL_CLOSE_FD);
    HurrayChannel* channel = nullptr;
    ASSERT_EQ(hurray_channel_from_fd(fds[0], &options, &channel, nullptr), HURRAY_OK);
    EXPECT_TRUE(WIFSIGNALED(wait_status(child)));
    HurrayTensor* tensor = received(channel);
    HurrayTensor* none = nullptr;
    EXPECT_EQ(hurray_channel_receive(channel, -1, &none, nullptr), HURRAY_ERR_DISCONNECTED) << "not a clean end";
    expect_counting(tensor, 200);
    destroy(tensor);
    EXPECT_EQ(hurray_channel_destroy(&channel), HURRAY_OK);
}

TEST_F(Channel, AThousandTensorsLeaveNothingBehind) {
    Ends ends;
    const auto round = [&] {
        HurrayTensor* tensor = shared_tensor(4096);
        send(ends.first, tensor);
        destroy(tensor);
        HurrayTensor* other = received(ends.second);
        destroy(other);
    };
    for (int i = 0; i < 10; ++i) round();
    ASSERT_EQ(hurray_channel_process(ends.first, nullptr), HURRAY_OK);
    const std::size_t files = open_files();
    const std::size_t maps = mappings();
    for (int i = 0; i < 1000; ++i) {
        round();
        ASSERT_LE(open_files(), files + 4) << i;
    }
    ASSERT_EQ(hurray_channel_process(ends.first, nullptr), HURRAY_OK);
    EXPECT_EQ(open_files(), files);
    EXPECT_LE(mappings(), maps + 2);
    EXPECT_EQ(info_of(ends.first).sent, 1010u);
    EXPECT_EQ(info_of(ends.first).copied_bytes, 0u);
    EXPECT_EQ(info_of(ends.first).outstanding, 0u);
}

TEST_F(Channel, ReleasesNeverBlock) {
    Ends ends;
    HurrayTensor* tensor = shared_tensor(10);
    // So many that their releases do not fit the socket, whose other end reads none.
    const int small = 1;
    std::int32_t fd = -1;
    ASSERT_EQ(hurray_channel_fd(ends.second, &fd, nullptr), HURRAY_OK);
    ASSERT_EQ(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
    std::vector<HurrayTensor*> held;
    for (int i = 0; i < 200; ++i) {
        send(ends.first, tensor);
        held.push_back(received(ends.second));
    }
    for (HurrayTensor*& one : held) destroy(one);
    ASSERT_EQ(hurray_channel_process(ends.first, nullptr), HURRAY_OK);
    EXPECT_GT(info_of(ends.first).outstanding, 0u) << "some did not fit: the case proves nothing otherwise";
    for (int i = 0; i < 200 && info_of(ends.first).outstanding != 0; ++i) {
        HurrayTensor* none = nullptr;
        EXPECT_EQ(hurray_channel_receive(ends.second, 0, &none, nullptr), HURRAY_ERR_TIMED_OUT);
        ASSERT_EQ(hurray_channel_process(ends.first, nullptr), HURRAY_OK);
    }
    EXPECT_EQ(info_of(ends.first).outstanding, 0u);
    destroy(tensor);
}

TEST_F(Channel, TwoEndsThatBothSendDoNotWaitForOneAnother) {
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    const auto both = [&](int fd) {
        HurrayChannelOptions options = channel_options(HURRAY_CHANNEL_CLOSE_FD);
        const int small = 1;
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
        HurrayChannel* channel = nullptr;
        if (hurray_channel_from_fd(fd, &options, &channel, nullptr) != HURRAY_OK) return 1;
        HurrayTensor* tensor = shared_tensor(10);
        for (int i = 0; i < 15; ++i) {
            if (hurray_channel_send(channel, tensor, nullptr) != HURRAY_OK) return 2;
        }
        for (int i = 0; i < 15; ++i) {
            HurrayTensor* other = received(channel);
            if (other == nullptr || hurray_tensor_destroy(&other) != HURRAY_OK) return 3;
        }
        if (hurray_tensor_destroy(&tensor) != HURRAY_OK) return 4;
        return hurray_channel_destroy(&channel) == HURRAY_OK ? 0 : 5;
    };
    const pid_t child = start_child([&] {
        close(fds[0]);
        return both(fds[1]);
    });
    close(fds[1]);
    EXPECT_EQ(both(fds[0]), 0);
    EXPECT_EQ(wait_status(child), 0);
}

TEST_F(Channel, Limits) {
    HurrayChannelOptions options = channel_options();
    options.max_outstanding = 3;
    options.send_timeout_ms = 20;
    options.max_tensor_bytes = 100;
    options.max_descriptor_length = 100;
    Ends ends(options);
    HurrayTensor* tensor = shared_tensor(100);
    for (int i = 0; i < 3; ++i) send(ends.first, tensor);
    EXPECT_EQ(hurray_channel_send(ends.first, tensor, nullptr), HURRAY_ERR_LIMIT_EXCEEDED);
    EXPECT_EQ(info_of(ends.first).outstanding, 3u);
    for (int i = 0; i < 3; ++i) {
        HurrayTensor* other = received(ends.second);
        destroy(other);
    }
    HurrayTensor* large = shared_tensor(101);
    send(ends.first, large);
    send(ends.first, tensor);
    HurrayTensor* other = nullptr;
    EXPECT_EQ(hurray_channel_receive(ends.second, 0, &other, nullptr), HURRAY_ERR_LIMIT_EXCEEDED);
    other = received(ends.second);
    expect_counting(other, 100);
    destroy(other);
    destroy(large);
    destroy(tensor);
    // A descriptor that is too long breaks the channel off: what follows it is not known.
    AlignedBytes<64> memory;
    const std::uint64_t shape[20] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    HurrayDenseSpec spec{};
    spec.struct_size = sizeof spec;
    spec.element_type = HURRAY_TYPE_UINT8;
    spec.layout = HURRAY_LAYOUT_ROW_MAJOR;
    spec.rank = 20;
    spec.shape = shape;
    ASSERT_EQ(hurray_tensor_from_host(&spec, memory.bytes, 1, nullptr, nullptr, nullptr, &tensor, nullptr), HURRAY_OK);
    send(ends.first, tensor);
    EXPECT_EQ(hurray_channel_receive(ends.second, 0, &other, nullptr), HURRAY_ERR_LIMIT_EXCEEDED);
    EXPECT_EQ(hurray_channel_receive(ends.second, 0, &other, nullptr), HURRAY_ERR_LIMIT_EXCEEDED) << "and again";
    EXPECT_EQ(hurray_channel_send(ends.first, tensor, nullptr), HURRAY_ERR_DISCONNECTED);
    destroy(tensor);
}

TEST_F(Channel, OnlyConnectedUnixSocketsOfTheRightTypeAreTaken) {
    HurrayChannel* channel = nullptr;
    const auto expect_refused = [&](int fd) {
        HurrayError error{};
        const HurrayChannelOptions options = channel_options(HURRAY_CHANNEL_CLOSE_FD);
        EXPECT_EQ(hurray_channel_from_fd(fd, &options, &channel, &error), HURRAY_ERR_INVALID_ARGUMENT) << error.message;
        EXPECT_EQ(channel, nullptr);
        if (fd >= 0 && fd < 1000) {
            EXPECT_NE(fcntl(fd, F_GETFD), -1) << "stays the caller's";
            close(fd);
        }
    };
    for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
        int fds[2];
        ASSERT_EQ(socketpair(AF_UNIX, type, 0, fds), 0);
        expect_refused(fds[0]);
        close(fds[1]);
    }
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    expect_refused(ends[0]);
    close(ends[1]);
    expect_refused(socket(AF_UNIX, SOCK_SEQPACKET, 0));
    expect_refused(socket(AF_INET, SOCK_STREAM, 0));
    expect_refused(-1);
    expect_refused(100000);
    HurrayChannelOptions options = channel_options(64);
    EXPECT_EQ(hurray_channel_from_fd(0, &options, &channel, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    options = channel_options(HURRAY_CHANNEL_CLOSE_FD);
    HurrayChannelListener* listener = nullptr;
    EXPECT_EQ(hurray_channel_listen("/tmp/x", &options, &listener, nullptr), HURRAY_ERR_INVALID_ARGUMENT) << "there is no fd";
    options = channel_options();
    options.reserved = 1;
    EXPECT_EQ(hurray_channel_listen("/tmp/x", &options, &listener, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
}

TEST_F(Channel, TheCallersDescriptorStaysUnlessItIsGivenAway) {
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    HurrayChannel* channel = nullptr;
    ASSERT_EQ(hurray_channel_from_fd(fds[0], nullptr, &channel, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_channel_destroy(&channel), HURRAY_OK);
    EXPECT_NE(fcntl(fds[0], F_GETFD), -1);
    close(fds[0]);
    close(fds[1]);
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    const HurrayChannelOptions options = channel_options(HURRAY_CHANNEL_CLOSE_FD);
    ASSERT_EQ(hurray_channel_from_fd(fds[0], &options, &channel, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_channel_destroy(&channel), HURRAY_OK);
    EXPECT_EQ(fcntl(fds[0], F_GETFD), -1);
    close(fds[1]);
}

TEST_F(Channel, AForkHasNoChannel) {
    Ends ends;
    SocketPath path;
    HurrayChannelListener* listener = nullptr;
    ASSERT_EQ(hurray_channel_listen(path.c_str(), nullptr, &listener, nullptr), HURRAY_OK);
    HurrayTensor* tensor = shared_tensor(10);
    send(ends.first, tensor);
    HurrayTensor* other = received(ends.second);
    EXPECT_EQ(in_child([&] {
                  HurrayTensor* none = nullptr;
                  HurrayChannel* accepted = nullptr;
                  HurrayChannelInfo info{};
                  info.struct_size = sizeof info;
                  std::int32_t fd = -1;
                  if (hurray_channel_send(ends.first, tensor, nullptr) != HURRAY_ERR_FORKED) return 1;
                  if (hurray_channel_receive(ends.first, 0, &none, nullptr) != HURRAY_ERR_FORKED) return 2;
                  if (hurray_channel_process(ends.first, nullptr) != HURRAY_ERR_FORKED) return 3;
                  if (hurray_channel_finish(ends.first, nullptr) != HURRAY_ERR_FORKED) return 4;
                  if (hurray_channel_info(ends.first, &info, nullptr) != HURRAY_ERR_FORKED) return 5;
                  if (hurray_channel_fd(ends.first, &fd, nullptr) != HURRAY_ERR_FORKED) return 6;
                  if (hurray_channel_accept(listener, 0, &accepted, nullptr) != HURRAY_ERR_FORKED) return 7;
                  // The child ends all that it inherited; the parent's stays.
                  if (hurray_tensor_destroy(&other) != HURRAY_OK) return 8;
                  if (hurray_channel_destroy(&ends.first) != HURRAY_OK) return 9;
                  if (hurray_channel_destroy(&ends.second) != HURRAY_OK) return 10;
                  if (hurray_channel_listener_destroy(&listener) != HURRAY_OK) return 11;
                  return hurray_tensor_destroy(&tensor) == HURRAY_OK ? 0 : 12;
              }),
              0);
    EXPECT_EQ(hurray_channel_process(ends.first, nullptr), HURRAY_OK);
    EXPECT_EQ(info_of(ends.first).outstanding, 1u) << "the child released nothing";
    EXPECT_EQ(access(path.c_str(), F_OK), 0) << "and the socket file is still there";
    expect_counting(other, 10);
    send(ends.second, other);
    HurrayTensor* back = received(ends.first);
    destroy(back);
    destroy(other);
    EXPECT_EQ(hurray_channel_process(ends.second, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_channel_process(ends.first, nullptr), HURRAY_OK);
    EXPECT_EQ(info_of(ends.first).outstanding, 0u);
    destroy(tensor);
    EXPECT_EQ(hurray_channel_listener_destroy(&listener), HURRAY_OK);
}

TEST_F(Channel, ThroughAListener) {
    SocketPath path;
    HurrayChannelListener* listener = nullptr;
    HurrayChannel* server = nullptr;
    HurrayChannel* client = nullptr;
    EXPECT_EQ(hurray_channel_connect(path.c_str(), nullptr, 0, &client, nullptr), HURRAY_ERR_TIMED_OUT);
    EXPECT_EQ(hurray_channel_connect(path.c_str(), nullptr, 30, &client, nullptr), HURRAY_ERR_TIMED_OUT);
    const mode_t before = umask(0);
    ASSERT_EQ(hurray_channel_listen(path.c_str(), nullptr, &listener, nullptr), HURRAY_OK);
    umask(before);
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u) << "the same user only";
    EXPECT_EQ(hurray_channel_accept(listener, 20, &server, nullptr), HURRAY_ERR_TIMED_OUT);
    ASSERT_EQ(hurray_channel_connect(path.c_str(), nullptr, 1000, &client, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_channel_accept(listener, 1000, &server, nullptr), HURRAY_OK);
    EXPECT_EQ(info_of(server).peer_pid, getpid());
    EXPECT_EQ(info_of(server).peer_uid, geteuid());
    HurrayTensor* tensor = shared_tensor(10);
    send(client, tensor);
    HurrayTensor* other = received(server);
    expect_counting(other, 10);
    destroy(other);
    // It can be waited for with poll.
    std::int32_t fd = -1;
    ASSERT_EQ(hurray_channel_fd(server, &fd, nullptr), HURRAY_OK);
    pollfd entry{fd, POLLIN, 0};
    EXPECT_EQ(poll(&entry, 1, 0), 0);
    send(client, tensor);
    EXPECT_EQ(poll(&entry, 1, 1000), 1);
    destroy(tensor);

    HurrayChannelListener* second = nullptr;
    EXPECT_EQ(hurray_channel_listen(path.c_str(), nullptr, &second, nullptr), HURRAY_ERR_IO) << "somebody listens";
    EXPECT_EQ(hurray_channel_listener_destroy(&listener), HURRAY_OK);
    EXPECT_EQ(access(path.c_str(), F_OK), -1) << "removed";
    EXPECT_EQ(hurray_channel_destroy(&client), HURRAY_OK);
    EXPECT_EQ(hurray_channel_destroy(&server), HURRAY_OK);
}

TEST_F(Channel, OldSocketFilesAreReplacedAndOthersLeft) {
    SocketPath path;
    HurrayChannelListener* listener = nullptr;
    // Left behind by a process that was killed.
    EXPECT_EQ(in_child([&] { return hurray_channel_listen(path.c_str(), nullptr, &listener, nullptr) == HURRAY_OK ? 0 : 1; }), 0);
    ASSERT_EQ(access(path.c_str(), F_OK), 0);
    ASSERT_EQ(hurray_channel_listen(path.c_str(), nullptr, &listener, nullptr), HURRAY_OK);
    // Somebody replaced it: theirs is left.
    ASSERT_EQ(unlink(path.c_str()), 0);
    std::ofstream(path.c_str()) << "not a socket";
    EXPECT_EQ(hurray_channel_listener_destroy(&listener), HURRAY_OK);
    EXPECT_EQ(access(path.c_str(), F_OK), 0);
    EXPECT_EQ(hurray_channel_listen(path.c_str(), nullptr, &listener, nullptr), HURRAY_ERR_INVALID_ARGUMENT) << "a file is in the way";
    EXPECT_EQ(access(path.c_str(), F_OK), 0);
    const std::string longest(108, 'x');
    EXPECT_EQ(hurray_channel_listen(longest.c_str(), nullptr, &listener, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hurray_channel_listen("", nullptr, &listener, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hurray_channel_listen("/no-such-folder/x", nullptr, &listener, nullptr), HURRAY_ERR_NOT_FOUND);
    HurrayChannel* channel = nullptr;
    EXPECT_EQ(hurray_channel_connect(longest.c_str(), nullptr, 0, &channel, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    const HurrayChannelOptions open_to_all = channel_options(HURRAY_CHANNEL_OTHER_USERS);
    SocketPath other;
    ASSERT_EQ(hurray_channel_listen(other.c_str(), &open_to_all, &listener, nullptr), HURRAY_OK);
    struct stat status {};
    ASSERT_EQ(stat(other.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0666u);
    EXPECT_EQ(hurray_channel_listener_destroy(&listener), HURRAY_OK);
}

TEST_F(Channel, OtherUsersAreTurnedAway) {
    if (in_child([] { return setuid(65534) == 0 ? 0 : 1; }) != 0) GTEST_SKIP() << "this test must be able to become another user";
    SocketPath path;
    HurrayChannelListener* listener = nullptr;
    ASSERT_EQ(hurray_channel_listen(path.c_str(), nullptr, &listener, nullptr), HURRAY_OK);
    ASSERT_EQ(chmod(path.c_str(), 0666), 0) << "as if the file alone did not keep them away";
    const auto as_stranger = [&](std::uint32_t flags) {
        return in_child([&] {
            if (setuid(65534) != 0) return 10;
            const HurrayChannelOptions options = channel_options(flags);
            HurrayChannel* channel = nullptr;
            return hurray_channel_connect(path.c_str(), &options, 0, &channel, nullptr) == HURRAY_OK ? 0 : 1;
        });
    };
    EXPECT_EQ(as_stranger(0), 1) << "a client does not talk to another user's listener";
    EXPECT_EQ(as_stranger(HURRAY_CHANNEL_OTHER_USERS), 0);
    HurrayChannel* channel = nullptr;
    EXPECT_EQ(hurray_channel_accept(listener, 20, &channel, nullptr), HURRAY_ERR_TIMED_OUT) << "and is not reported";
    EXPECT_EQ(hurray_channel_listener_destroy(&listener), HURRAY_OK);
}

TEST_F(Channel, ADeferredDestroyRunsNoCallback) {
    HurrayReleaseQueue* queue = nullptr;
    ASSERT_EQ(hurray_release_queue_new(&queue, nullptr), HURRAY_OK);
    Ends ends;
    HurrayTensor* tensor = shared_tensor(64);
    // Its memory is passed, and an owner that must be told goes with it.
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* context = nullptr;
    ASSERT_EQ(hurray_tensor_export(tensor, &list, &context, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_tensor_context_destroy(&context), HURRAY_OK);
    destroy(tensor);
    ReleaseCounter releases;
    const auto descriptor = row_major_descriptor(HURRAY_TYPE_UINT8, {64}, 64);
    ASSERT_EQ(hurray_tensor_context_new(HURRAY_C_ABI_VERSION, descriptor.data(), descriptor.size(), &releases,
                                        &ReleaseCounter::release_owner, &context),
              HURRAY_OK);
    ASSERT_EQ(hurray_tensor_context_set_release_queue(context, queue, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_tensor_import(&list, &context, &tensor, nullptr), HURRAY_OK);
    send(ends.first, tensor);
    EXPECT_EQ(info_of(ends.first).copied_bytes, 0u);
    destroy(tensor);
    EXPECT_EQ(releases.calls, 0) << "it is out";
    EXPECT_EQ(hurray_channel_destroy_deferred(&ends.first, nullptr), HURRAY_OK);
    EXPECT_EQ(ends.first, nullptr);
    EXPECT_EQ(releases.calls, 0) << "waits for its queue";
    std::uint64_t count = 0;
    EXPECT_EQ(hurray_release_queue_drain(queue, UINT64_MAX, &count, nullptr), HURRAY_OK);
    EXPECT_EQ(releases.calls, 1);
    EXPECT_EQ(hurray_release_queue_destroy(&queue), HURRAY_OK);
}

TEST_F(Channel, SharedMemoryIsAlignedAsAsked) {
    for (const std::uint32_t alignment : {0U, 1U, 64U, 4096U, 1U << 21}) {
        HurrayBuffer* buffer = nullptr;
        ASSERT_EQ(hurray_buffer_allocate_shared(100, alignment, &buffer, nullptr), HURRAY_OK);
        const HurrayBufferInfo info = buffer_info(buffer);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(info.data) % std::max(alignment, 64U), 0u);
        EXPECT_EQ(info.flags, HURRAY_BUFFER_SHARED);
        EXPECT_EQ(static_cast<unsigned char*>(info.data)[99], 0);
        EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
    }
    HurrayBuffer* buffer = nullptr;
    EXPECT_EQ(hurray_buffer_allocate_shared(1, 3, &buffer, nullptr), HURRAY_ERR_INVALID_LAYOUT);
    EXPECT_EQ(hurray_buffer_allocate_shared(UINT64_MAX, 64, &buffer, nullptr), HURRAY_ERR_OUT_OF_MEMORY);
    EXPECT_EQ(hurray_buffer_allocate_shared(0, 64, &buffer, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
}

TEST_F(Channel, LargeAlignmentsHoldAtTheOtherEnd) {
    Ends ends;
    for (const bool shared : {false, true}) {
        HurrayBuffer* buffer = nullptr;
        ASSERT_EQ(shared ? hurray_buffer_allocate_shared(100, 1 << 21, &buffer, nullptr)
                         : hurray_buffer_allocate(100, 1 << 21, &buffer, nullptr),
                  HURRAY_OK);
        auto encoded = row_major_descriptor(HURRAY_TYPE_UINT8, {100}, 100);
        encoded[20 + 8 + 8 + 1 + 8] = 0;
        encoded[20 + 8 + 8 + 1 + 8 + 2] = 0x20;  // 1 << 21
        HurrayDescriptor* descriptor = nullptr;
        ASSERT_EQ(hurray_descriptor_decode(encoded.data(), encoded.size(), &descriptor, nullptr), HURRAY_OK);
        HurrayBufferList* list = nullptr;
        ASSERT_EQ(hurray_buffer_list_new(1, &list), HURRAY_OK);
        ASSERT_EQ(hurray_buffer_list_push(list, buffer), HURRAY_OK);
        HurrayTensor* tensor = nullptr;
        ASSERT_EQ(hurray_tensor_new(descriptor, &list, &tensor, nullptr), HURRAY_OK);
        ASSERT_EQ(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
        send(ends.first, tensor);
        HurrayTensor* other = received(ends.second);
        ASSERT_NE(other, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first_buffer(other).data) % (1 << 21), 0u) << shared;
        destroy(other);
        destroy(tensor);
    }
}

}  // namespace

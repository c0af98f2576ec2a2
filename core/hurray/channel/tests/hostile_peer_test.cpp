// A peer that knows the protocol and lies: whatever it sends is refused with a reason, its file descriptors are closed, and what it
// was given is taken back. (docs/channel.md)
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/channel/channel.hpp"
#include "core/hurray/channel/shared_object.hpp"
#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/io/tests/tensors.hpp"
#include "core/hurray/layout/private_layout.hpp"

namespace hurray {
namespace {

std::size_t open_files() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
    return count;
}

class HostilePeer : public ::testing::Test {
protected:
    void SetUp() override { start(); }

    void start(const ChannelOptions& options = {}) {
        channel_.reset();
        peer_ = FdHolder();
        int fds[2];
        ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        peer_ = FdHolder(fds[1], FdOwnership::close);
        channel_ = Channel::adopt(FdHolder(fds[0], FdOwnership::close), options).value();
        say(hello_packet());
    }

    void say(std::span<const std::byte> packet, std::span<const int> files = {}) {
        iovec piece{const_cast<std::byte*>(packet.data()), packet.size()};
        msghdr message{};
        message.msg_iov = &piece;
        message.msg_iovlen = 1;
        std::vector<char> control(CMSG_SPACE(files.size_bytes()));
        if (!files.empty()) {
            message.msg_control = control.data();
            message.msg_controllen = control.size();
            cmsghdr* part = CMSG_FIRSTHDR(&message);
            part->cmsg_level = SOL_SOCKET;
            part->cmsg_type = SCM_RIGHTS;
            part->cmsg_len = CMSG_LEN(files.size_bytes());
            std::memcpy(CMSG_DATA(part), files.data(), files.size_bytes());
        }
        ASSERT_EQ(sendmsg(peer_.get(), &message, MSG_NOSIGNAL), static_cast<ssize_t>(packet.size()));
    }

    // A message about 100 bytes of uint8 in one object, for a test to spoil.
    static TensorMessage message(std::uint64_t id = 1) {
        const Tensor tensor = make_tensor({.type = 0x11, .shape = {100}});
        TensorMessage message;
        message.id = id;
        message.object_count = 1;
        message.descriptor.resize(tensor.descriptor.encoded_length());
        EXPECT_TRUE(encode(tensor.descriptor, message.descriptor).has_value());
        message.buffers.push_back({.object = 0, .prefix = 0, .offset = 0, .size = 100});
        return message;
    }

    static FdHolder memory(std::size_t size, bool sealed = true) {
        const int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        EXPECT_EQ(ftruncate(fd, static_cast<off_t>(size)), 0);
        EXPECT_EQ(fcntl(fd, F_ADD_SEALS, sealed ? F_SEAL_WRITE | F_SEAL_SHRINK : 0), 0);
        return FdHolder(fd, FdOwnership::close);
    }

    void say_tensor(const TensorMessage& message, std::span<const int> files) {
        for (const Packet& packet : tensor_packets(message)) {
            say(packet.bytes, files.subspan(packet.first_file, packet.file_count));
        }
    }

    // The tensor is refused; the channel goes on, and nothing of it stays open.
    void expect_refused(const TensorMessage& message, std::span<const int> files, Status code) {
        const std::size_t before = open_files();
        say_tensor(message, files);
        const auto received = channel_->receive(Deadline(0));
        ASSERT_FALSE(received.has_value());
        EXPECT_EQ(received.error().code, code) << received.error().message;
        EXPECT_EQ(open_files(), before);
        EXPECT_EQ(channel_->info().held, 0u);
        TensorMessage good = HostilePeer::message(message.id + 1);
        const FdHolder object = memory(100);
        const int fds[] = {object.get()};
        say_tensor(good, fds);
        EXPECT_TRUE(channel_->receive(Deadline(0)).has_value()) << "the next one is good";
        start();
    }

    // The protocol is broken: every further call fails with the same error.
    void expect_ended(Status code) {
        for (int i = 0; i < 2; ++i) {
            const auto received = channel_->receive(Deadline(0));
            ASSERT_FALSE(received.has_value());
            EXPECT_EQ(received.error().code, code) << received.error().message;
        }
        EXPECT_EQ(channel_->process().error().code, code);
        EXPECT_EQ(channel_->send(make_tensor({.shape = {2}})).error().code, code);
        EXPECT_EQ(channel_->info().outstanding, 0u);
        EXPECT_TRUE(channel_->info().peer_gone);
    }

    std::unique_ptr<Channel> channel_;
    FdHolder peer_;
};

TEST_F(HostilePeer, ObjectsThatAreTooShort) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{99}}) {
        const FdHolder object = memory(size);
        const int files[] = {object.get()};
        expect_refused(message(), files, Status::invalid_format);
    }
    const FdHolder object = memory(100);
    const int files[] = {object.get()};
    for (const std::uint64_t offset : {std::uint64_t{64}, std::uint64_t{4096}, std::uint64_t{1} << 62}) {
        TensorMessage spoilt = message();
        spoilt.buffers[0].offset = offset;
        expect_refused(spoilt, files, Status::invalid_format);
    }
}

TEST_F(HostilePeer, PlacesThatContradict) {
    const FdHolder object = memory(8192);
    const int files[] = {object.get()};
    const auto refused = [&](auto&& spoil, Status code = Status::invalid_format) {
        TensorMessage spoilt = message();
        spoil(spoilt);
        expect_refused(spoilt, std::span(files).first(spoilt.object_count), code);
    };
    refused([](TensorMessage& m) { m.buffers[0].size = 101; });
    refused([](TensorMessage& m) { m.buffers[0].size = 99; });
    refused([](TensorMessage& m) { m.buffers[0].offset = ~std::uint64_t{0} - 63; });
    refused([](TensorMessage& m) { m.buffers[0].offset = 1; });
    refused([](TensorMessage& m) { m.buffers[0].offset = 32; });
    refused([](TensorMessage& m) { m.buffers[0].object = 1; });
    refused([](TensorMessage& m) { m.buffers[0].object = BufferPlace::no_object; });
    refused([](TensorMessage& m) { m.buffers[0].prefix = 64; });
    refused([](TensorMessage& m) { m.buffers[0].prefix = 1; });  // elements lie there
    refused([](TensorMessage& m) { m.object_count = 0; });
    refused([](TensorMessage& m) { m.buffers.push_back(m.buffers[0]); });
    refused([](TensorMessage& m) { m.descriptor.push_back(std::byte{0}); });
    refused([](TensorMessage& m) { m.descriptor.pop_back(); }, Status::invalid_layout);
    refused([](TensorMessage& m) { m.descriptor[0] = std::byte{0}; }, Status::invalid_magic);
    refused([](TensorMessage& m) { m.descriptor.clear(); }, Status::invalid_layout);
}

TEST_F(HostilePeer, DescriptorsOfOtherThings) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const FdHolder reading(ends[0], FdOwnership::close);
    const FdHolder writing(ends[1], FdOwnership::close);
    const FdHolder folder(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), FdOwnership::close);
    const FdHolder device(open("/dev/zero", O_RDONLY | O_CLOEXEC), FdOwnership::close);
    for (const int fd : {reading.get(), folder.get(), device.get(), peer_.get()}) {
        const std::size_t before = open_files();
        const int files[] = {fd};
        say_tensor(message(), files);
        const auto received = channel_->receive(Deadline(0));
        ASSERT_FALSE(received.has_value());
        EXPECT_EQ(received.error().code, Status::invalid_format) << received.error().message;
        EXPECT_EQ(open_files(), before);
        start();
    }
}

TEST_F(HostilePeer, MemoryThatIsNotSealedIsMarkedSo) {
    for (const bool sealed : {false, true}) {
        const FdHolder object = memory(100, sealed);
        const int files[] = {object.get()};
        say_tensor(message(), files);
        const auto received = channel_->receive(Deadline(0));
        ASSERT_TRUE(received.has_value() && received->has_value());
        const Buffer& buffer = (**received).buffers[0];
        EXPECT_TRUE(buffer.read_only);
        ASSERT_NE(buffer.storage->shared_backing(), nullptr);
        EXPECT_EQ(buffer.storage->shared_backing()->sealed, sealed);
        EXPECT_FALSE(buffer.storage->shared_backing()->writable);
        start();
    }
    // Sealed against writing alone, it may still be cut.
    const FdHolder object = memory(100, false);
    ASSERT_EQ(fcntl(object.get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
    const int files[] = {object.get()};
    say_tensor(message(), files);
    EXPECT_FALSE((**channel_->receive(Deadline(0))).buffers[0].storage->shared_backing()->sealed);
}

TEST_F(HostilePeer, OtherNumbersOfDescriptorsThanAnnounced) {
    const FdHolder object = memory(100);
    const std::vector<int> many(253, object.get());
    const auto packet = tensor_packets(message())[0];
    for (const std::size_t count : {std::size_t{0}, std::size_t{2}, std::size_t{64}, std::size_t{253}}) {
        start();
        const std::size_t before = open_files();
        say(packet.bytes, std::span(many).first(count));
        expect_ended(Status::invalid_format);
        EXPECT_EQ(open_files(), before) << count << " descriptors: all are closed";
    }
}

TEST_F(HostilePeer, MoreDescriptorsThanTheProcessMayHave) {
    const FdHolder object = memory(100);
    const std::vector<int> many(64, object.get());
    TensorMessage large = message();
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    auto packet = tensor_packets(large)[0];
    packet.bytes[5] = std::byte{64};
    say(packet.bytes, many);
    rlimit tight = before;
    tight.rlim_cur = open_files() + 8;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
    const auto received = channel_->receive(Deadline(0));
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_FALSE(received.has_value());
    EXPECT_EQ(received.error().code, Status::limit_exceeded) << received.error().message;
    expect_ended(Status::limit_exceeded);
}

TEST_F(HostilePeer, ReleasesOfWhatIsNotOut) {
    const auto release = [](std::uint64_t id) {
        std::vector<std::byte> packet(packet_header_length + 8);
        write_release_packet(std::span(&id, 1), packet);
        return packet;
    };
    for (const std::uint64_t id : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3}, ~std::uint64_t{0}}) {
        start();
        Buffer shared = allocate_shared_buffer(64).value();
        ASSERT_TRUE(seal_shared_buffer(shared).value());
        Tensor tensor = make_tensor({.type = 0x11, .shape = {64}});
        tensor.buffers[0] = shared;
        ASSERT_TRUE(channel_->send(tensor).has_value());
        ASSERT_TRUE(channel_->send(tensor).has_value());
        ASSERT_EQ(shared.storage->references(), 4u);
        if (id == 1) {
            // Released, and released again.
            say(release(1));
            ASSERT_TRUE(channel_->process().has_value());
            EXPECT_EQ(channel_->info().outstanding, 1u);
        }
        say(release(id));
        expect_ended(Status::invalid_format);
        (void)channel_->take_released();
        EXPECT_EQ(shared.storage->references(), 2u) << "what was out is given up";
    }
}

// No lie: a descriptor that takes several packets, and objects of its own for each of many buffers.
TEST_F(HostilePeer, LargeMessagesTravelInParts) {
    ChannelOptions options;
    options.incoming.private_tags = PrivateTags::allow;
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    const auto first = Channel::adopt(FdHolder(fds[0], FdOwnership::close), options).value();
    const auto second = Channel::adopt(FdHolder(fds[1], FdOwnership::close), options).value();
    const std::vector<std::byte> data(100'000, std::byte{5});
    const std::uint64_t shape[] = {4};
    DescriptorBuilder builder(0x11, layout_tag::private_first, shape);
    builder.set_private_layout({.id = 7, .data = data});
    std::vector<Buffer> buffers;
    for (int i = 0; i < 100; ++i) {
        buffers.push_back(allocate_shared_buffer(64 + i).value());
        buffers.back().data[0] = static_cast<std::byte>(i);
        ASSERT_TRUE(seal_shared_buffer(buffers.back()).value());
        ASSERT_TRUE(builder.add_buffer(buffers.back().handle).has_value());
    }
    auto descriptor = builder.build(PrivateTags::allow);
    ASSERT_TRUE(descriptor.has_value()) << descriptor.error().message;
    const Tensor tensor{*std::move(descriptor), std::move(buffers)};
    const auto sent = first->send(tensor);
    ASSERT_TRUE(sent.has_value()) << sent.error().message;
    EXPECT_EQ(first->info().sent_copied_bytes, 0u);
    const auto received = second->receive(Deadline(1000));
    ASSERT_TRUE(received.has_value()) << received.error().message;
    ASSERT_EQ((**received).buffers.size(), 100u);
    for (int i = 0; i < 100; ++i) EXPECT_EQ((**received).buffers[i].data[0], static_cast<std::byte>(i));
    EXPECT_EQ((**received).descriptor.encoded_length(), tensor.descriptor.encoded_length());
}

TEST_F(HostilePeer, PacketsOfEveryKindOfNonsense) {
    const auto ended = [&](std::span<const std::byte> packet, Status code) {
        start();
        say(packet);
        expect_ended(code);
    };
    std::vector<std::byte> noise(100, std::byte{0xA5});
    ended(noise, Status::invalid_magic);
    noise.resize(3);
    ended(noise, Status::invalid_format);
    ended(hello_packet(), Status::invalid_format);
    std::vector<std::byte> longest(max_packet_length + 1);
    ended(longest, Status::invalid_format);
    // A packet of no bytes cannot be told from the end.
    start();
    say({});
    EXPECT_EQ(channel_->receive(Deadline(0)).error().code, Status::disconnected);
}

TEST_F(HostilePeer, OneThatGoesInTheMiddleOfATensor) {
    TensorMessage large = message();
    large.descriptor.resize(max_packet_length);
    const auto packets = tensor_packets(large);
    ASSERT_EQ(packets.size(), 2u);
    const FdHolder object = memory(100);
    const int files[] = {object.get()};
    const std::size_t before = open_files();
    say(packets[0].bytes, files);
    EXPECT_EQ(channel_->receive(Deadline(0)).error().code, Status::timed_out);
    peer_ = FdHolder();
    const auto received = channel_->receive();
    ASSERT_FALSE(received.has_value());
    EXPECT_EQ(received.error().code, Status::disconnected);
    EXPECT_NE(std::string(received.error().message).find("middle of a tensor"), std::string::npos) << received.error().message;
    channel_.reset();
    EXPECT_LE(open_files(), before - 2) << "its descriptor is closed, too";
}

TEST_F(HostilePeer, AFloodWaitsInTheSocket) {
    const FdHolder object = memory(100);
    const int files[] = {object.get()};
    const int flags = fcntl(peer_.get(), F_GETFL);
    ASSERT_EQ(fcntl(peer_.get(), F_SETFL, flags | O_NONBLOCK), 0);
    // As much as it can send while nothing is received here: what is read ahead is bounded.
    std::uint64_t id = 0;
    const std::size_t before = open_files();
    for (int round = 0; round < 40; ++round) {
        const auto packet = tensor_packets(message(id + 1))[0];
        iovec piece{const_cast<std::byte*>(packet.bytes.data()), packet.bytes.size()};
        msghdr head{};
        head.msg_iov = &piece;
        head.msg_iovlen = 1;
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
        head.msg_control = control;
        head.msg_controllen = sizeof control;
        cmsghdr* part = CMSG_FIRSTHDR(&head);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(part), files, sizeof files);
        if (sendmsg(peer_.get(), &head, MSG_NOSIGNAL) > 0) ++id;
        ASSERT_TRUE(channel_->process().has_value());
        ASSERT_LE(open_files(), before + 17);
    }
    EXPECT_GE(id, 16u);
    for (std::uint64_t i = 0; i < id; ++i) ASSERT_TRUE(channel_->receive(Deadline(0)).value().has_value());
}

}  // namespace
}  // namespace hurray

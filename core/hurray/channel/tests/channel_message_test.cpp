// What the two ends of a channel say to each other, and everything that a peer may not say.
#include "core/hurray/channel/channel_message.hpp"

#include <gtest/gtest.h>

#include "core/hurray/base/endian.hpp"

namespace hurray {
namespace {

constexpr std::size_t type_at = 4;
constexpr std::size_t files_at = 5;
constexpr std::size_t length_at = 8;

std::vector<std::byte> bytes_of(std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7);
    return bytes;
}

TensorMessage message_of(std::size_t descriptor, std::size_t buffers, std::size_t objects, std::uint64_t id = 1) {
    TensorMessage message;
    message.id = id;
    message.object_count = objects;
    message.descriptor = bytes_of(descriptor);
    for (std::size_t i = 0; i < buffers; ++i) {
        message.buffers.push_back({.object = static_cast<std::uint32_t>(i % std::max<std::size_t>(objects, 1)),
                                   .prefix = static_cast<std::uint32_t>(i),
                                   .offset = 4096 * i,
                                   .size = ~std::uint64_t{0} - i});
    }
    return message;
}

std::vector<std::byte> release_of(std::initializer_list<std::uint64_t> ids) {
    std::vector<std::byte> packet(packet_header_length + 8 * ids.size());
    EXPECT_EQ(write_release_packet(std::span(ids.begin(), ids.size()), packet), packet.size());
    return packet;
}

MessageReader greeted() {
    MessageReader reader({.max_descriptor_length = 100'000});
    EXPECT_TRUE(reader.take(hello_packet(), 0).has_value());
    return reader;
}

void expect_refused(MessageReader& reader, std::span<const std::byte> packet, std::size_t files, Status code, std::uint64_t offset) {
    const auto taken = reader.take(packet, files);
    ASSERT_FALSE(taken.has_value());
    EXPECT_EQ(taken.error().code, code) << taken.error().message;
    EXPECT_EQ(taken.error().offset, offset) << taken.error().message;
    EXPECT_NE(taken.error().message[0], '\0');
}

TEST(ChannelMessage, TensorsComeBackAsTheyWereSent) {
    std::uint64_t id = 0;
    MessageReader reader = greeted();
    for (const std::size_t descriptor : {std::size_t{0}, std::size_t{61}, std::size_t{32'000}, max_packet_length, std::size_t{100'000}}) {
        for (const auto& [buffers, objects] : {std::pair{0, 0}, {1, 0}, {1, 1}, {3, 2}, {255, 255}}) {
            const TensorMessage message = message_of(descriptor, buffers, objects, ++id);
            const auto packets = tensor_packets(message);
            std::size_t files = 0;
            for (std::size_t i = 0; i < packets.size(); ++i) {
                EXPECT_LE(packets[i].bytes.size(), max_packet_length);
                EXPECT_LE(packets[i].file_count, max_packet_files);
                EXPECT_EQ(packets[i].first_file, files);
                files += packets[i].file_count;
                auto taken = reader.take(packets[i].bytes, packets[i].file_count);
                ASSERT_TRUE(taken.has_value()) << taken.error().message;
                ASSERT_EQ(taken->has_value(), i + 1 == packets.size());
                EXPECT_EQ(reader.within_message(), i + 1 != packets.size());
                if (!*taken) continue;
                const auto& got = std::get<TensorMessage>(**taken);
                EXPECT_EQ(got.id, message.id);
                EXPECT_EQ(got.buffers, message.buffers);
                EXPECT_EQ(got.object_count, message.object_count);
                EXPECT_EQ(got.descriptor, message.descriptor);
            }
            EXPECT_EQ(files, static_cast<std::size_t>(objects));
        }
    }
}

TEST(ChannelMessage, ReleasesAndTheEnd) {
    MessageReader reader = greeted();
    const auto released = reader.take(release_of({7, ~std::uint64_t{0}}), 0);
    ASSERT_TRUE(released.has_value());
    EXPECT_EQ(std::get<ReleaseMessage>(**released).ids, (std::vector<std::uint64_t>{7, ~std::uint64_t{0}}));
    // A release may come between the parts of a tensor.
    const auto packets = tensor_packets(message_of(40'000, 1, 1));
    ASSERT_EQ(packets.size(), 2u);
    ASSERT_TRUE(reader.take(packets[0].bytes, 1).has_value());
    ASSERT_TRUE(reader.take(release_of({1}), 0).has_value());
    EXPECT_TRUE(reader.take(packets[1].bytes, 0).value().has_value());
    EXPECT_FALSE(reader.finished());
    ASSERT_TRUE(reader.take(finish_packet(), 0).has_value());
    EXPECT_TRUE(reader.finished());
    ASSERT_TRUE(reader.take(release_of({2}), 0).has_value()) << "releases still come";
    expect_refused(reader, tensor_packets(message_of(1, 0, 0, 2))[0].bytes, 0, Status::invalid_format, type_at);
}

TEST(ChannelMessage, WhatComesBeforeTheHello) {
    MessageReader reader({});
    expect_refused(reader, finish_packet(), 0, Status::invalid_format, type_at);
    MessageReader other({});
    auto hello = hello_packet();
    hello[packet_header_length] = std::byte{2};
    expect_refused(other, hello, 0, Status::version_mismatch, packet_header_length);
    MessageReader third = greeted();
    expect_refused(third, hello_packet(), 0, Status::invalid_format, type_at);
}

TEST(ChannelMessage, HeadersThatAreWrong) {
    const auto good = finish_packet();
    const auto refused = [&](std::size_t at, std::uint8_t value, Status code, std::uint64_t offset) {
        MessageReader reader = greeted();
        auto packet = good;
        packet[at] = static_cast<std::byte>(value);
        expect_refused(reader, packet, 0, code, offset);
    };
    refused(0, 'X', Status::invalid_magic, 0);
    refused(type_at, 0, Status::invalid_format, type_at);
    refused(type_at, 6, Status::invalid_format, type_at);
    refused(files_at, 1, Status::invalid_format, files_at);
    refused(6, 1, Status::invalid_format, 6);
    refused(length_at, 17, Status::invalid_format, length_at);
    refused(length_at + 3, 0xFF, Status::invalid_format, length_at);
    refused(12, 1, Status::invalid_format, 6);
    for (std::size_t length = 0; length < packet_header_length; ++length) {
        MessageReader reader = greeted();
        expect_refused(reader, std::span(good).first(length), 0, Status::invalid_format, 0);
    }
    MessageReader reader = greeted();
    expect_refused(reader, good, 1, Status::invalid_format, files_at);
    MessageReader other = greeted();
    expect_refused(other, good, 256, Status::invalid_format, files_at);
}

TEST(ChannelMessage, TensorsThatAreWrong) {
    const auto good = tensor_packets(message_of(61, 2, 1))[0];
    const auto refused = [&](std::size_t at, std::uint8_t value, Status code, std::uint64_t offset) {
        MessageReader reader = greeted();
        auto packet = good.bytes;
        packet[at] = static_cast<std::byte>(value);
        expect_refused(reader, packet, good.file_count, code, offset);
    };
    refused(16, 2, Status::invalid_format, 16);         // an id that is not the next one
    refused(16, 0, Status::invalid_format, 16);
    refused(24 + 3, 1, Status::limit_exceeded, 24);     // descriptor_length
    refused(24, 60, Status::invalid_format, 32 + 48);   // more of it than was announced
    refused(28 + 1, 1, Status::invalid_format, 28);     // 258 buffers
    refused(28, 200, Status::invalid_format, length_at);// places that are not there
    refused(30, 3, Status::invalid_format, 30);         // more objects than buffers
    refused(30, 0, Status::invalid_format, files_at);   // a descriptor too many
    MessageReader reader = greeted();
    auto cut = good.bytes;
    cut.resize(30);
    store_le(cut.data() + length_at, std::uint32_t{30});
    expect_refused(reader, cut, 1, Status::invalid_format, length_at);
}

TEST(ChannelMessage, MessagesOutOfOrder) {
    const auto packets = tensor_packets(message_of(40'000, 1, 1));
    {
        MessageReader reader = greeted();
        expect_refused(reader, packets[1].bytes, 0, Status::invalid_format, type_at);
    }
    const auto finish = finish_packet();
    for (const auto& second : {packets[0].bytes, std::vector<std::byte>(finish.begin(), finish.end())}) {
        MessageReader reader = greeted();
        ASSERT_TRUE(reader.take(packets[0].bytes, 1).has_value());
        auto packet = second;
        packet[files_at] = std::byte{0};
        expect_refused(reader, packet, 0, Status::invalid_format, type_at);
    }
    {
        // A part that brings nothing would let a peer go on for ever.
        MessageReader reader = greeted();
        ASSERT_TRUE(reader.take(packets[0].bytes, 1).has_value());
        auto nothing = finish_packet();
        nothing[type_at] = static_cast<std::byte>(PacketType::more);
        expect_refused(reader, nothing, 0, Status::invalid_format, length_at);
    }
    {
        // The same tensor again.
        MessageReader reader = greeted();
        const auto small = tensor_packets(message_of(1, 0, 0));
        ASSERT_TRUE(reader.take(small[0].bytes, 0).has_value());
        expect_refused(reader, small[0].bytes, 0, Status::invalid_format, 16);
    }
    {
        MessageReader reader = greeted();
        auto empty = release_of({});
        expect_refused(reader, empty, 0, Status::invalid_format, length_at);
    }
    {
        MessageReader reader = greeted();
        auto odd = release_of({1});
        odd.push_back(std::byte{0});
        store_le(odd.data() + length_at, static_cast<std::uint32_t>(odd.size()));
        expect_refused(reader, odd, 0, Status::invalid_format, length_at);
    }
}

}  // namespace
}  // namespace hurray

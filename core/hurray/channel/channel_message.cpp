#include "core/hurray/channel/channel_message.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/hurray/base/endian.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

constexpr std::array<char, 4> magic = {'H', 'R', 'C', 'H'};
constexpr std::size_t type_at = 4;
constexpr std::size_t files_at = 5;
constexpr std::size_t reserved_at = 6;
constexpr std::size_t length_at = 8;
constexpr std::size_t reserved_word_at = 12;

constexpr std::size_t hello_length = packet_header_length + 8;

// A tensor packet: header | id u64 | descriptor_length u32 | buffer_count u16 | object_count u16 | places | descriptor bytes
constexpr std::size_t id_at = packet_header_length;
constexpr std::size_t descriptor_length_at = id_at + 8;
constexpr std::size_t buffer_count_at = descriptor_length_at + 4;
constexpr std::size_t object_count_at = buffer_count_at + 2;
constexpr std::size_t places_at = object_count_at + 2;
constexpr std::size_t place_length = 24;
// The buffer count of a descriptor is one byte.
constexpr std::size_t most_buffers = 255;
static_assert(places_at + most_buffers * place_length < max_packet_length);

void write_header(std::span<std::byte> packet, PacketType type, std::size_t files) noexcept {
    std::memcpy(packet.data(), magic.data(), magic.size());
    packet[type_at] = static_cast<std::byte>(type);
    packet[files_at] = static_cast<std::byte>(files);
    store_le<std::uint16_t>(packet.data() + reserved_at, 0);
    store_le(packet.data() + length_at, static_cast<std::uint32_t>(packet.size()));
    store_le<std::uint32_t>(packet.data() + reserved_word_at, 0);
}

void write_place(std::byte* at, const BufferPlace& place) {
    store_le(at, place.object);
    store_le(at + 4, place.prefix);
    store_le(at + 8, place.offset);
    store_le(at + 16, place.size);
}

BufferPlace read_place(const std::byte* at) {
    return {.object = load_le<std::uint32_t>(at),
            .prefix = load_le<std::uint32_t>(at + 4),
            .offset = load_le<std::uint64_t>(at + 8),
            .size = load_le<std::uint64_t>(at + 16)};
}

std::unexpected<Error> wrong_length(std::size_t got, const char* expected) {
    return fail(Status::invalid_format, length_at, "packet: length: expected %s, got %zu", expected, got);
}

Result<void> check_no_files(std::size_t files) {
    if (files == 0) return {};
    return fail(Status::invalid_format, files_at, "packet: expected no file descriptors in one of this type, got %zu", files);
}

}  // namespace

std::array<std::byte, hello_length> hello_packet() noexcept {
    std::array<std::byte, hello_length> packet;
    write_header(packet, PacketType::hello, 0);
    store_le(packet.data() + packet_header_length, channel_protocol_version);
    store_le<std::uint32_t>(packet.data() + packet_header_length + 4, 0);
    return packet;
}

std::array<std::byte, packet_header_length> finish_packet() noexcept {
    std::array<std::byte, packet_header_length> packet;
    write_header(packet, PacketType::finish, 0);
    return packet;
}

std::size_t write_release_packet(std::span<const std::uint64_t> ids, std::span<std::byte> into) noexcept {
    const std::size_t length = packet_header_length + 8 * ids.size();
    write_header(into.first(length), PacketType::release, 0);
    for (std::size_t i = 0; i < ids.size(); ++i) store_le(into.data() + packet_header_length + 8 * i, ids[i]);
    return length;
}

std::vector<Packet> tensor_packets(const TensorMessage& message) {
    std::vector<Packet> packets;
    std::span<const std::byte> rest = message.descriptor;
    std::size_t files = 0;
    do {
        const std::size_t start = packets.empty() ? places_at + place_length * message.buffers.size() : packet_header_length;
        const std::size_t part = std::min(rest.size(), max_packet_length - start);
        Packet packet;
        packet.bytes.resize(start + part);
        packet.first_file = files;
        packet.file_count = std::min(message.object_count - files, max_packet_files);
        write_header(packet.bytes, packets.empty() ? PacketType::tensor : PacketType::more, packet.file_count);
        if (packets.empty()) {
            store_le(packet.bytes.data() + id_at, message.id);
            store_le(packet.bytes.data() + descriptor_length_at, static_cast<std::uint32_t>(message.descriptor.size()));
            store_le(packet.bytes.data() + buffer_count_at, static_cast<std::uint16_t>(message.buffers.size()));
            store_le(packet.bytes.data() + object_count_at, static_cast<std::uint16_t>(message.object_count));
            for (std::size_t i = 0; i < message.buffers.size(); ++i) {
                write_place(packet.bytes.data() + places_at + place_length * i, message.buffers[i]);
            }
        }
        if (part != 0) std::memcpy(packet.bytes.data() + start, rest.data(), part);
        rest = rest.subspan(part);
        files += packet.file_count;
        packets.push_back(std::move(packet));
    } while (!rest.empty() || files < message.object_count);
    return packets;
}

Result<std::optional<Message>> MessageReader::take(std::span<const std::byte> packet, std::size_t files) {
    if (packet.size() < packet_header_length) {
        return fail(Status::invalid_format, 0, "packet: expected at least the %zu bytes of a header, got %zu",
                    packet_header_length, packet.size());
    }
    if (std::memcmp(packet.data(), magic.data(), magic.size()) != 0) {
        return fail(Status::invalid_magic, 0, "packet: expected the magic HRCH of a channel");
    }
    if (const auto length = load_le<std::uint32_t>(packet.data() + length_at); length != packet.size()) {
        return fail(Status::invalid_format, length_at, "packet: length: it says %u bytes, it has %zu", length, packet.size());
    }
    if (packet.size() > max_packet_length) {
        return fail(Status::invalid_format, length_at, "packet: length: expected at most %zu bytes, got %zu", max_packet_length,
                    packet.size());
    }
    if (load_le<std::uint16_t>(packet.data() + reserved_at) != 0 || load_le<std::uint32_t>(packet.data() + reserved_word_at) != 0) {
        return fail(Status::invalid_format, reserved_at, "packet: expected 0 in what is reserved");
    }
    const auto announced = static_cast<std::size_t>(packet[files_at]);
    if (announced != files || files > max_packet_files) {
        return fail(Status::invalid_format, files_at, "packet: it announces %zu file descriptors (at most %zu), %zu came",
                    announced, max_packet_files, files);
    }
    const auto type = static_cast<PacketType>(packet[type_at]);
    if (!greeted_) {
        if (type == PacketType::hello) return take_hello(packet, files);
        return fail(Status::invalid_format, type_at, "packet: type: expected a hello first, got %u", static_cast<unsigned>(type));
    }
    switch (type) {
        case PacketType::tensor: return take_tensor(packet, files);
        case PacketType::more: return take_more(packet, files);
        case PacketType::release: return take_release(packet, files);
        case PacketType::finish: return take_finish(packet, files);
        case PacketType::hello: break;
    }
    return fail(Status::invalid_format, type_at, "packet: type: expected 2 to 5, got %u", static_cast<unsigned>(type));
}

Result<std::optional<Message>> MessageReader::take_hello(std::span<const std::byte> packet, std::size_t files) {
    if (auto checked = check_no_files(files); !checked) return std::unexpected(checked.error());
    // A later version may say more; what it is comes first.
    if (packet.size() < hello_length) return wrong_length(packet.size(), "24 bytes of a hello");
    const auto version = load_le<std::uint32_t>(packet.data() + packet_header_length);
    if (version != channel_protocol_version) {
        return fail(Status::version_mismatch, packet_header_length, "hello: the peer speaks version %u of the protocol, this library %u",
                    version, channel_protocol_version);
    }
    if (packet.size() != hello_length) return wrong_length(packet.size(), "24 bytes of a hello");
    if (load_le<std::uint32_t>(packet.data() + packet_header_length + 4) != 0) {
        return fail(Status::invalid_format, packet_header_length + 4, "hello: expected 0 in what is reserved");
    }
    greeted_ = true;
    return std::nullopt;
}

Result<std::optional<Message>> MessageReader::take_tensor(std::span<const std::byte> packet, std::size_t files) {
    if (begun_) return fail(Status::invalid_format, type_at, "packet: type: a tensor begins before the one before it is complete");
    if (finished_) return fail(Status::invalid_format, type_at, "packet: type: a tensor after the end");
    if (packet.size() < places_at) return wrong_length(packet.size(), "at least 32 bytes of a tensor");
    Begun begun;
    begun.message.id = load_le<std::uint64_t>(packet.data() + id_at);
    if (begun.message.id != last_id_ + 1) {
        return fail(Status::invalid_format, id_at, "tensor: id: expected %llu, got %llu", static_cast<ull>(last_id_ + 1),
                    static_cast<ull>(begun.message.id));
    }
    begun.descriptor_length = load_le<std::uint32_t>(packet.data() + descriptor_length_at);
    if (begun.descriptor_length > limits_.max_descriptor_length) {
        return fail(Status::limit_exceeded, descriptor_length_at, "tensor: descriptor_length: %zu bytes, the limit is %llu",
                    begun.descriptor_length, static_cast<ull>(limits_.max_descriptor_length));
    }
    const std::size_t buffer_count = load_le<std::uint16_t>(packet.data() + buffer_count_at);
    if (buffer_count > most_buffers) {
        return fail(Status::invalid_format, buffer_count_at, "tensor: buffer_count: expected at most %zu, got %zu", most_buffers,
                    buffer_count);
    }
    begun.message.object_count = load_le<std::uint16_t>(packet.data() + object_count_at);
    if (begun.message.object_count > buffer_count) {
        return fail(Status::invalid_format, object_count_at, "tensor: object_count: expected at most one a buffer, got %zu for %zu",
                    begun.message.object_count, buffer_count);
    }
    const std::size_t start = places_at + place_length * buffer_count;
    if (packet.size() < start) return wrong_length(packet.size(), "room for the places of all buffers");
    begun.message.buffers.reserve(buffer_count);
    for (std::size_t i = 0; i < buffer_count; ++i) {
        begun.message.buffers.push_back(read_place(packet.data() + places_at + place_length * i));
    }
    last_id_ = begun.message.id;
    begun_ = std::move(begun);
    return add_part(packet, start, files);
}

Result<std::optional<Message>> MessageReader::take_more(std::span<const std::byte> packet, std::size_t files) {
    if (!begun_) return fail(Status::invalid_format, type_at, "packet: type: more of a tensor, but none is begun");
    if (packet.size() == packet_header_length && files == 0) return wrong_length(packet.size(), "more than a header");
    return add_part(packet, packet_header_length, files);
}

Result<std::optional<Message>> MessageReader::add_part(std::span<const std::byte> packet, std::size_t start, std::size_t files) {
    TensorMessage& message = begun_->message;
    const std::size_t part = packet.size() - start;
    if (part > begun_->descriptor_length - message.descriptor.size()) {
        return fail(Status::invalid_format, start, "tensor: descriptor: %zu bytes more than the %zu that were announced",
                    part - (begun_->descriptor_length - message.descriptor.size()), begun_->descriptor_length);
    }
    if (files > message.object_count - begun_->files) {
        return fail(Status::invalid_format, files_at, "tensor: %zu file descriptors more than the %zu that were announced",
                    files - (message.object_count - begun_->files), message.object_count);
    }
    message.descriptor.insert(message.descriptor.end(), packet.begin() + static_cast<std::ptrdiff_t>(start), packet.end());
    begun_->files += files;
    if (message.descriptor.size() < begun_->descriptor_length || begun_->files < message.object_count) return std::nullopt;
    std::optional<Message> complete(std::move(message));
    begun_.reset();
    return complete;
}

Result<std::optional<Message>> MessageReader::take_release(std::span<const std::byte> packet, std::size_t files) {
    if (auto checked = check_no_files(files); !checked) return std::unexpected(checked.error());
    const std::size_t length = packet.size() - packet_header_length;
    if (length == 0 || length % 8 != 0 || length / 8 > max_released) {
        return wrong_length(packet.size(), "a header and 1 to 512 ids of 8 bytes");
    }
    ReleaseMessage message;
    message.ids.reserve(length / 8);
    for (std::size_t at = packet_header_length; at < packet.size(); at += 8) {
        message.ids.push_back(load_le<std::uint64_t>(packet.data() + at));
    }
    return std::optional<Message>(std::move(message));
}

Result<std::optional<Message>> MessageReader::take_finish(std::span<const std::byte> packet, std::size_t files) {
    if (auto checked = check_no_files(files); !checked) return std::unexpected(checked.error());
    if (packet.size() != packet_header_length) return wrong_length(packet.size(), "a header alone");
    if (begun_) return fail(Status::invalid_format, type_at, "packet: type: the end before a tensor is complete");
    if (finished_) return fail(Status::invalid_format, type_at, "packet: type: a second end");
    finished_ = true;
    return std::optional<Message>(FinishMessage{});
}

}  // namespace hurray

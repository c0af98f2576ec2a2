// What the two ends of a channel say to each other: packets, and the messages that they make up. (docs/channel.md)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "core/hurray/base/error.hpp"

namespace hurray {

/// Every packet fits one of these: less than what a socket takes at once on any system.
inline constexpr std::size_t max_packet_length = 32 * 1024;
inline constexpr std::size_t packet_header_length = 16;
/// File descriptors in one packet.
inline constexpr std::size_t max_packet_files = 64;
inline constexpr std::uint32_t channel_protocol_version = 1;

enum class PacketType : std::uint8_t {
    hello = 1,
    tensor = 2,
    more = 3,
    release = 4,
    finish = 5,
};

/// Where the bytes of a buffer are.
struct BufferPlace {
    static constexpr std::uint32_t no_object = ~std::uint32_t{0};

    /// Number of a file descriptor of the message; no_object for a buffer without bytes.
    std::uint32_t object = no_object;
    /// How many of its first bytes belong to somebody else.
    std::uint32_t prefix = 0;
    /// In the object, in bytes.
    std::uint64_t offset = 0;
    std::uint64_t size = 0;

    friend bool operator==(const BufferPlace&, const BufferPlace&) = default;
};

/// A tensor on its way: everything but the file descriptors themselves.
struct TensorMessage {
    /// The sender's number for it, with which it is released: 1, 2, 3, ...
    std::uint64_t id = 0;
    std::vector<BufferPlace> buffers;
    /// How many file descriptors belong to it.
    std::size_t object_count = 0;
    std::vector<std::byte> descriptor;
};

struct ReleaseMessage {
    std::vector<std::uint64_t> ids;
};
struct FinishMessage {};

using Message = std::variant<TensorMessage, ReleaseMessage, FinishMessage>;

/// A packet that is ready to be sent, with those of the message's file descriptors that travel with it.
struct Packet {
    std::vector<std::byte> bytes;
    std::size_t first_file = 0;
    std::size_t file_count = 0;
};

[[nodiscard]] std::array<std::byte, packet_header_length + 8> hello_packet() noexcept;
[[nodiscard]] std::array<std::byte, packet_header_length> finish_packet() noexcept;
/// @param ids at least one, at most max_released
inline constexpr std::size_t max_released = 512;
/// Writes the packet to `into`, which has room for packet_header_length + 8 bytes an id, and returns its length. Needs no memory.
std::size_t write_release_packet(std::span<const std::uint64_t> ids, std::span<std::byte> into) noexcept;
/// The packets of a tensor, in order.
[[nodiscard]] std::vector<Packet> tensor_packets(const TensorMessage& message);

/// Takes the packets of a peer, who is not trusted, in their order, and gives out messages when they are complete. Memory grows
/// with what has come, and is bounded by the limits.
///
/// Thread rule: one thread at a time.
class MessageReader {
public:
    struct Limits {
        std::uint64_t max_descriptor_length = std::uint64_t{16} << 20;
    };
    explicit MessageReader(const Limits& limits) noexcept : limits_(limits) {}

    /// Takes a packet that came with so many file descriptors.
    /// @returns a message, or nothing when more packets belong to it. After an error nothing more may be taken
    /// @errors invalid_magic, version_mismatch: not a channel, or one of another version; invalid_format: anything else that the
    ///     protocol does not allow, at a byte of the packet; limit_exceeded: the descriptor is too long
    Result<std::optional<Message>> take(std::span<const std::byte> packet, std::size_t files);

    /// Whether a tensor is begun and not complete.
    [[nodiscard]] bool within_message() const noexcept { return begun_.has_value(); }
    /// Whether the peer has said that it sends no more tensors.
    [[nodiscard]] bool finished() const noexcept { return finished_; }

private:
    struct Begun {
        TensorMessage message;
        std::size_t descriptor_length = 0;
        std::size_t files = 0;
    };

    Result<std::optional<Message>> take_hello(std::span<const std::byte> packet, std::size_t files);
    Result<std::optional<Message>> take_tensor(std::span<const std::byte> packet, std::size_t files);
    Result<std::optional<Message>> take_more(std::span<const std::byte> packet, std::size_t files);
    Result<std::optional<Message>> take_release(std::span<const std::byte> packet, std::size_t files);
    Result<std::optional<Message>> take_finish(std::span<const std::byte> packet, std::size_t files);
    Result<std::optional<Message>> add_part(std::span<const std::byte> packet, std::size_t start, std::size_t files);

    Limits limits_;
    std::optional<Begun> begun_;
    std::uint64_t last_id_ = 0;
    bool greeted_ = false;
    bool finished_ = false;
};

}  // namespace hurray

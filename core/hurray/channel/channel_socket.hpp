// A connected Unix socket that carries packets and file descriptors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/channel/deadline.hpp"
#include "core/hurray/io/fd.hpp"

namespace hurray {

/// Who connected, as the kernel says: for a socketpair, the process that made it.
struct PeerCredentials {
    std::int64_t pid = 0;
    std::uint32_t uid = 0;
};

/// No call of it blocks, whatever flags the descriptor has, none raises SIGPIPE, and interrupted calls are resumed.
///
/// Thread rule: send() may be called by any number of threads at once; all else by one at a time.
class ChannelSocket {
public:
    /// @param fd a connected Unix socket of type SOCK_SEQPACKET
    /// @errors invalid_argument: anything else
    static Result<ChannelSocket> adopt(FdHolder fd);

    /// A packet, with file descriptors.
    /// @returns false: there is no room now
    /// @errors disconnected: the peer is gone; limit_exceeded: too many file descriptors are on their way; io
    Result<bool> send(std::span<const std::byte> packet, std::span<const int> files) const;

    /// The most file descriptors that come with one packet: more than a peer may send.
    static constexpr std::size_t most_files = 253;

    /// The next packet; nothing when there is none now. Needs no memory.
    /// @param into where the packet goes; one that is longer is refused
    /// @param files empty, with room for most_files: where the descriptors go that came with it
    /// @returns the length of the packet
    /// @errors disconnected: the peer is gone, and all that it sent was received; invalid_format: longer than `into`;
    ///     limit_exceeded: this process may not open as many file descriptors as came; io
    Result<std::optional<std::size_t>> receive(std::span<std::byte> into, std::vector<FdHolder>& files) const;

    /// Waits until there is something to receive or room to send, as asked for, or the peer is gone; neither: the time is over.
    /// @errors io
    struct Ready {
        bool receive = false;
        bool send = false;
    };
    Result<Ready> wait(bool receive, bool send, const Deadline& deadline) const;

    /// Says to the peer that nothing more is received here.
    void stop_receiving() const noexcept;

    [[nodiscard]] int get() const noexcept { return fd_.get(); }
    [[nodiscard]] Result<PeerCredentials> peer() const;

private:
    explicit ChannelSocket(FdHolder fd) noexcept : fd_(std::move(fd)) {}

    FdHolder fd_;
};

/// A duplicate of a descriptor of the caller. Errors: invalid_argument: it is none; limit_exceeded
Result<FdHolder> duplicate_fd(int fd);

}  // namespace hurray

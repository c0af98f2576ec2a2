// Waits for the other ends of channels at a path of the file system.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/channel/channel.hpp"
#include "core/hurray/channel/deadline.hpp"
#include "core/hurray/io/fd.hpp"

namespace hurray {

/// A socket file of mode 0600 (0666 where other users are accepted). It is removed at the end, if it is still the same one.
///
/// Thread rule: one thread at a time. In a fork of the process every call fails with `forked`, and the file stays.
class ChannelListener {
public:
    /// A socket file that is there and at which nobody listens is replaced.
    /// @errors invalid_argument: a path that is empty, holds a NUL or is too long for a socket, or something that is no socket is
    ///     in the way; io: somebody listens there; not_found: no such folder
    static Result<std::unique_ptr<ChannelListener>> listen(std::string_view path, const ChannelOptions& options = {});

    ChannelListener(const ChannelListener&) = delete;
    ChannelListener& operator=(const ChannelListener&) = delete;
    ~ChannelListener();

    /// The next peer. Peers of other users, where these are not accepted, are turned away and not reported.
    /// @errors timed_out, forked, io, limit_exceeded: no further file descriptor may be opened
    Result<std::unique_ptr<Channel>> accept(const Deadline& deadline = {});

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    [[nodiscard]] bool inherited() const noexcept;

private:
    ChannelListener(FdHolder fd, std::string path, dev_t device, ino_t inode, const ChannelOptions& options) noexcept;

    FdHolder fd_;
    std::string path_;
    dev_t device_;
    ino_t inode_;
    ChannelOptions options_;
    const pid_t pid_;
};

/// Connects to a listener. Waits until there is one, and until it has room for a further peer.
/// @errors timed_out: nobody listened in time; invalid_argument: the path, or what is there is no socket of a channel; io: it
///     belongs to another user
Result<std::unique_ptr<Channel>> connect_channel(std::string_view path, const ChannelOptions& options = {}, const Deadline& deadline = {});

}  // namespace hurray

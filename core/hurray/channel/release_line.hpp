// How a process says to its peer that it needs a tensor no more, from whatever thread ends it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/hurray/channel/channel_socket.hpp"

namespace hurray {

/// The socket of a channel, which lives as long as a tensor that came through it does.
///
/// Thread rule: any number of threads may use it. In a fork of the process it does nothing: what is released there is still the
/// parent's.
class ReleaseLine {
public:
    explicit ReleaseLine(ChannelSocket socket) noexcept;

    [[nodiscard]] const ChannelSocket& socket() const noexcept { return socket_; }
    /// Whether this process is a fork of the one that made the line.
    [[nodiscard]] bool inherited() const noexcept;

    /// Makes room for the release of one more tensor, so that it cannot fail. May throw std::bad_alloc.
    void hold_one_more();
    /// Says that a tensor is released. Never blocks: where the socket is full the release waits for the next call that has to do
    /// with the channel. A peer that is gone is not told.
    void release(std::uint64_t id) noexcept;
    /// Sends what waits; false when some still does.
    bool flush() noexcept;

    /// Tensors that are held here.
    [[nodiscard]] std::uint64_t held() const noexcept;

private:
    bool flush_locked() noexcept;

    ChannelSocket socket_;
    const pid_t pid_;
    mutable std::mutex mutex_;
    std::vector<std::uint64_t> waiting_;
    std::uint64_t held_ = 0;
};

/// One tensor that is held; releases it at its end.
class Lease {
public:
    /// After hold_one_more() of the line.
    Lease(std::shared_ptr<ReleaseLine> line, std::uint64_t id) noexcept : line_(std::move(line)), id_(id) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { line_->release(id_); }

private:
    std::shared_ptr<ReleaseLine> line_;
    std::uint64_t id_;
};

}  // namespace hurray

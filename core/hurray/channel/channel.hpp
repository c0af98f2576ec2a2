// A channel between two processes of one machine, over which tensors pass without their bytes being copied. (docs/channel.md)
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/channel/channel_message.hpp"
#include "core/hurray/channel/channel_socket.hpp"
#include "core/hurray/channel/deadline.hpp"
#include "core/hurray/channel/incoming_tensor.hpp"
#include "core/hurray/channel/outgoing_tensor_message.hpp"
#include "core/hurray/channel/release_line.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

struct ChannelOptions {
    IncomingLimits incoming;
    /// Tensors that were sent and not released yet.
    std::uint32_t max_outstanding = 65536;
    /// How long a call waits for room in the socket, or for a release where max_outstanding are out; negative: for ever.
    std::int64_t send_timeout_ms = -1;
    /// A peer of another user is accepted.
    bool other_users = false;
    /// Mapped files are copied instead of being passed: a peer that has a file's descriptor can read all of the file.
    bool copy_files = false;
};

/// What a channel has done so far.
struct ChannelInfo {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t sent_passed_bytes = 0;
    std::uint64_t sent_copied_bytes = 0;
    std::uint64_t received_bytes = 0;
    /// Sent, and not released by the peer.
    std::uint64_t outstanding = 0;
    /// Received, and not ended here.
    std::uint64_t held = 0;
    PeerCredentials peer;
    bool peer_finished = false;
    bool peer_gone = false;
};

/// One end of a channel. Either end sends and receives.
///
/// A tensor that was sent is kept (what of it is mapped by the peer) until the peer releases it or is gone. Releases, and the
/// end of the peer, are taken notice of by send(), receive() and process(). What is given up then is in take_released(), so that
/// its owner decides where it ends; otherwise it ends with the next call.
///
/// Thread rule: one thread at a time; tensors that were received live on their own, and end on any thread. In a fork of the process
/// every call fails with `forked`, and the end of the channel there is of no consequence to the parent.
class Channel {
public:
    /// @param fd a connected Unix socket of type SOCK_SEQPACKET
    /// @errors invalid_argument: another kind of descriptor; io: the peer is another user
    static Result<std::unique_ptr<Channel>> adopt(FdHolder fd, const ChannelOptions& options = {});

    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;
    /// As close().
    ~Channel();

    /// Sends a tensor. Memory that must be copied is; see outgoing_tensor_message.
    /// @errors those of outgoing_tensor_message, upon which nothing was sent; limit_exceeded: max_outstanding are out, and none
    ///     came back in time; timed_out: no room in time, and nothing was sent; disconnected; forked; invalid_argument: finished.
    ///     A failure in the middle of a tensor is repeated by every further send
    Result<void> send(const Tensor& tensor);

    /// The next tensor; nothing when the peer has said that no more come.
    /// @errors timed_out; disconnected: the peer is gone and did not say so; forked. A tensor that is refused (those of
    ///     incoming_tensor) is released, and the next one may be received. What breaks the protocol (those of MessageReader) ends
    ///     the channel: every further call fails with it
    Result<std::optional<Tensor>> receive(const Deadline& deadline = {});

    /// Takes notice of what has come, without waiting.
    /// @errors disconnected: the peer is gone and did not say so; forked; what broke the protocol
    Result<void> process();

    /// Says to the peer that no more tensors come. @errors as send
    Result<void> finish();

    /// What the peer has given back since the last call. Never throws.
    struct Released {
        std::uint64_t id = 0;
        std::vector<Buffer> buffers;
    };
    std::list<Released> take_released() noexcept;
    /// Says to the peer that nothing more comes from here and nothing more is received; what came and was not received is
    /// released. Gives back everything that is out. Only for the end: nothing may be called afterwards.
    std::list<Released> close() noexcept;

    [[nodiscard]] ChannelInfo info() const;
    /// For event loops: readable when there is something for receive() or process(). It stays the channel's.
    [[nodiscard]] int fd() const noexcept { return line_->socket().get(); }
    [[nodiscard]] bool inherited() const noexcept { return line_->inherited(); }

private:
    struct Arrived {
        TensorMessage message;
        std::vector<FdHolder> files;
    };

    Channel(ChannelSocket socket, const ChannelOptions& options, PeerCredentials peer);

    Result<void> begin_call();
    [[nodiscard]] Result<void> check_peer() const;
    [[nodiscard]] bool inbox_full() const noexcept;
    void take_in();
    bool take_packet();
    Result<void> take_message(Message&& message);
    Result<void> take_release(const ReleaseMessage& message);
    void lose_peer() noexcept;
    void end_with(const Error& error) noexcept;
    Result<void> wait_for_a_release(const Deadline& deadline);
    Result<bool> send_packet(std::span<const std::byte> packet, std::span<const int> files, const Deadline& deadline);
    Result<void> send_message(const OutgoingTensorMessage& outgoing, const Deadline& deadline);
    Result<Tensor> open(Arrived&& arrived);
    void release_unread() noexcept;

    ChannelOptions options_;
    std::shared_ptr<ReleaseLine> line_;
    PeerCredentials peer_;
    MessageReader reader_;
    ObjectCache cache_;
    std::vector<std::byte> packet_;
    std::vector<FdHolder> packet_files_;
    /// The descriptors of the message that is begun.
    std::vector<FdHolder> files_;
    std::deque<Arrived> inbox_;
    std::size_t inbox_files_ = 0;
    std::list<Released> outstanding_;
    std::unordered_map<std::uint64_t, std::list<Released>::iterator> by_id_;
    std::list<Released> released_;
    std::uint64_t next_id_ = 1;
    ChannelInfo counts_;
    bool finished_ = false;
    /// Until the peer was greeted there is nothing to say to it.
    bool closed_ = true;
    bool peer_gone_ = false;
    bool torn_by_peer_ = false;
    std::optional<Error> failure_;
    std::optional<Error> send_failure_;
};

}  // namespace hurray

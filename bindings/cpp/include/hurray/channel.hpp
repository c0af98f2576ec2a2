// Channels: tensors go from one process to another on the same machine, and their bytes stay where they are.
#ifndef HURRAY_CHANNEL_HPP_
#define HURRAY_CHANNEL_HPP_

#include <cstdint>

#include "hurray/tensor.hpp"

namespace hurray {

/// Limits of a channel, and what it accepts.
struct ChannelOptions {
    /// HURRAY_CHANNEL_ bits.
    std::uint32_t flags = 0;
    /// Longest descriptor accepted, in bytes; 0 means 16 MiB.
    std::uint64_t max_descriptor_length = 0;
    /// Largest tensor accepted, in bytes over all its buffers; 0 means no limit.
    std::uint64_t max_tensor_bytes = 0;
    /// Largest alignment of a buffer accepted, in bytes; 0 means 2 MiB.
    std::uint32_t max_alignment = 0;
    /// Tensors that may be sent and not yet released by the peer; 0 means 65536.
    std::uint32_t max_outstanding = 0;
    /// How many milliseconds a send waits for room; 0 means without an end.
    std::uint32_t send_timeout_ms = 0;
};

/// A wait without an end, where a timeout in milliseconds is asked for.
inline constexpr std::int32_t without_end = -1;

namespace detail {
inline HurrayChannelOptions raw_of(const ChannelOptions& options) noexcept {
    auto raw = sized<HurrayChannelOptions>();
    raw.flags = options.flags;
    raw.max_descriptor_length = options.max_descriptor_length;
    raw.max_tensor_bytes = options.max_tensor_bytes;
    raw.max_alignment = options.max_alignment;
    raw.max_outstanding = options.max_outstanding;
    raw.send_timeout_ms = options.send_timeout_ms;
    return raw;
}
}  // namespace detail

/// One end of a channel. Tensors that were received live on after it. Releases of what the peer has given back run on the thread
/// that calls send, receive, process or ends the channel.
class Channel : public UniqueHandle<HurrayChannel, hurray_channel_destroy, hurray_channel_destroy_deferred> {
  public:
    using UniqueHandle::UniqueHandle;

    /// Waits until somebody listens at the path. A negative timeout waits without an end.
    static Result<Channel> connect(const char* path, std::int32_t timeout_ms, const ChannelOptions& options = {}) noexcept {
        const auto raw = detail::raw_of(options);
        return detail::make<Channel>(hurray_channel_connect, path, &raw, timeout_ms);
    }
    /// Of a connected Unix socket of type SOCK_SEQPACKET, which stays the caller's unless the flags say HURRAY_CHANNEL_CLOSE_FD.
    static Result<Channel> from_fd(std::int32_t fd, const ChannelOptions& options = {}) noexcept {
        const auto raw = detail::raw_of(options);
        return detail::make<Channel>(hurray_channel_from_fd, fd, &raw);
    }
    /// Tensors in shared memory and of mapped files are passed, the bytes of others are copied once.
    Result<void> send(const Tensor& tensor) noexcept {
        return detail::call(hurray_channel_send, get(), static_cast<const HurrayTensor*>(tensor.get()));
    }
    /// The next tensor; an empty one when the peer has finished. HURRAY_ERR_TIMED_OUT; a negative timeout waits without an end.
    Result<Tensor> receive(std::int32_t timeout_ms) noexcept {
        return detail::make<Tensor>(hurray_channel_receive, get(), timeout_ms);
    }
    /// Takes in what has come, without waiting.
    Result<void> process() noexcept { return detail::call(hurray_channel_process, get()); }
    /// Says to the peer that no more tensors come from here.
    Result<void> finish() noexcept { return detail::call(hurray_channel_finish, get()); }
    /// What the channel has done so far, and who the peer is.
    Result<HurrayChannelInfo> info() const noexcept {
        return detail::fill<HurrayChannelInfo>(hurray_channel_info, static_cast<const HurrayChannel*>(get()));
    }
    /// For event loops: becomes readable when something has come. Stays the channel's.
    Result<std::int32_t> fd() const noexcept {
        return detail::get<std::int32_t>(hurray_channel_fd, static_cast<const HurrayChannel*>(get()));
    }
};

/// Listens at a path for the other ends of channels; its socket file goes with it.
class ChannelListener : public UniqueHandle<HurrayChannelListener, hurray_channel_listener_destroy> {
  public:
    using UniqueHandle::UniqueHandle;

    /// `path` is terminated and has at most 107 bytes. The options are those of every channel that is accepted.
    static Result<ChannelListener> listen(const char* path, const ChannelOptions& options = {}) noexcept {
        const auto raw = detail::raw_of(options);
        return detail::make<ChannelListener>(hurray_channel_listen, path, &raw);
    }
    /// Waits for a peer. HURRAY_ERR_TIMED_OUT; a negative timeout waits without an end.
    Result<Channel> accept(std::int32_t timeout_ms) noexcept {
        return detail::make<Channel>(hurray_channel_accept, get(), timeout_ms);
    }
};

}  // namespace hurray

#endif  // HURRAY_CHANNEL_HPP_

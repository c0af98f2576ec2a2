// Channels: tensors pass between processes of one machine, and their bytes stay where they are. (docs/channel.md)
#include <utility>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/channel.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/channel_objects.hpp"
#include "abi/src/internal/foreign.hpp"
#include "abi/src/internal/objects.hpp"
#include "abi/src/internal/work.hpp"
#include "core/hurray/channel/shared_object.hpp"

using namespace hurray;
using namespace hurray::abi;

namespace {

Result<void> check_not_forked(const Channel& channel) {
    if (!channel.inherited()) return {};
    return fail(Status::forked, Error::no_offset, "channel: it belongs to the parent of this process");
}

// The end of every call of a channel: what the peer gave back ends last, since a release callback may end the channel, too.
HurrayStatus end_call(HurrayChannel& channel, HurrayStatus status) noexcept {
    (void)drop_released(channel.value->take_released(), false);
    return status;
}

}  // namespace

/// Allocates memory that goes through a channel without a copy, zeroed. It is shared with forks of the process; the library
/// releases it on any thread.
/// hurray_channel_send makes it read-only, at the same address, and seals it: from then on a write to it faults, in every process.
/// That is done where the tensor that is sent alone has the memory, or where its buffer is marked read-only
/// (hurray_buffer_set_read_only), which is a promise for all others that have it. Memory that other handles share without that mark, or
/// that a fork of this process has mapped, stays writable and is copied.
/// @param byte_size length in bytes; 0 is legal
/// @param alignment a power of two; 0 means 64, and less than 64 is raised to 64
/// @owner caller
/// @errors OUT_OF_MEMORY; INVALID_LAYOUT: alignment is no power of two; LIMIT_EXCEEDED: no further file descriptor may be opened; IO
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_buffer_allocate_shared(uint64_t byte_size, uint32_t alignment,
                                                      HG_OUT_OWNED(hurray_buffer_destroy) HurrayBuffer** out_handle,
                                                      HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE(out_handle, error);
    *out_handle = nullptr;
    return guarded(error, [&]() -> Result<void> {
        auto buffer = allocate_shared_buffer(byte_size, alignment);
        if (!buffer) return std::unexpected(buffer.error());
        *out_handle = new HurrayBuffer(std::move(*buffer));
        return {};
    });
}

/// Listens at a path for the other ends of channels. The socket file has mode 0600 (0666 with HURRAY_CHANNEL_OTHER_USERS); one that
/// is there already is replaced if nobody listens at it.
/// @param path file name, as for hurray_file_open; at most 107 bytes
/// @param options null: the defaults; they are those of every channel that is accepted
/// @owner caller
/// @errors INVALID_ARGUMENT: the options, a path that no socket can have, or something that is no socket is in the way; IO: somebody
///     listens there; LIMIT_EXCEEDED: no further file descriptor may be opened
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_channel_listen(HG_IN_STRING const char* path, HG_IN_OPT const HurrayChannelOptions* options,
                                              HG_OUT_OWNED(hurray_channel_listener_destroy) HurrayChannelListener** out_listener,
                                              HG_ERROR HurrayError* error) noexcept {
    if (out_listener != nullptr) *out_listener = nullptr;
    HURRAY_REQUIRE(path, error);
    HURRAY_REQUIRE(out_listener, error);
    return guarded(error, [&]() -> Result<void> {
        const auto chosen = channel_options(options, false);
        if (!chosen) return std::unexpected(chosen.error());
        auto listener = ChannelListener::listen(path, *chosen);
        if (!listener) return std::unexpected(listener.error());
        *out_listener = new HurrayChannelListener(std::move(*listener));
        return {};
    });
}

/// Waits for a peer. Peers of other users, where these are not accepted, are turned away and not reported.
/// @param timeout_ms milliseconds; 0: does not wait; negative: waits without an end
/// @owner caller; independent of the listener
/// @errors TIMED_OUT; FORKED: the listener is the parent's; LIMIT_EXCEEDED: no further file descriptor may be opened; IO
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_channel_accept(HG_INOUT HurrayChannelListener* listener, int32_t timeout_ms,
                                              HG_OUT_OWNED(hurray_channel_destroy) HurrayChannel** out_channel,
                                              HG_ERROR HurrayError* error) noexcept {
    if (out_channel != nullptr) *out_channel = nullptr;
    HURRAY_REQUIRE_HANDLE(listener, error);
    HURRAY_REQUIRE(out_channel, error);
    return guarded(error, [&]() -> Result<void> {
        auto channel = listener->value->accept(Deadline(timeout_ms));
        if (!channel) return std::unexpected(channel.error());
        *out_channel = new HurrayChannel(std::move(*channel));
        return {};
    });
}

/// Ends a listener and removes its socket file, if that is still its own. In a fork of the process the file stays.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE: (checked builds) already destroyed
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_channel_listener_destroy(HG_DESTROYED_VAR HurrayChannelListener** listener) noexcept {
    if (listener == nullptr || *listener == nullptr) return HURRAY_OK;
    HURRAY_REQUIRE_HANDLE(*listener, nullptr);
    retire(std::exchange(*listener, nullptr));
    return HURRAY_OK;
}

/// Connects to a listener; waits until there is one, and until it has room.
/// @param path as for hurray_channel_listen
/// @param options null: the defaults
/// @param timeout_ms milliseconds; 0: does not wait; negative: waits without an end
/// @owner caller
/// @errors TIMED_OUT: nobody listened in time; INVALID_ARGUMENT: the options, the path, or a socket of another type; IO: not
///     allowed, or the listener is another user; LIMIT_EXCEEDED: no further file descriptor may be opened
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_channel_connect(HG_IN_STRING const char* path, HG_IN_OPT const HurrayChannelOptions* options,
                                               int32_t timeout_ms,
                                               HG_OUT_OWNED(hurray_channel_destroy) HurrayChannel** out_channel,
                                               HG_ERROR HurrayError* error) noexcept {
    if (out_channel != nullptr) *out_channel = nullptr;
    HURRAY_REQUIRE(path, error);
    HURRAY_REQUIRE(out_channel, error);
    return guarded(error, [&]() -> Result<void> {
        const auto chosen = channel_options(options, false);
        if (!chosen) return std::unexpected(chosen.error());
        auto channel = connect_channel(path, *chosen, Deadline(timeout_ms));
        if (!channel) return std::unexpected(channel.error());
        *out_channel = new HurrayChannel(std::move(*channel));
        return {};
    });
}

/// Makes a channel of a connected Unix socket of type SOCK_SEQPACKET: one of a socketpair, or inherited.
/// @param fd stays the caller's, and the channel uses a duplicate of it, unless the options say HURRAY_CHANNEL_CLOSE_FD. The peer
///     does not notice the end of the channel as long as another duplicate is open
/// @param options null: the defaults
/// @owner caller
/// @errors INVALID_ARGUMENT: another kind of descriptor, or the options; IO: the peer is another user; LIMIT_EXCEEDED: no further
///     file descriptor may be opened
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_channel_from_fd(int32_t fd, HG_IN_OPT const HurrayChannelOptions* options,
                                               HG_OUT_OWNED(hurray_channel_destroy) HurrayChannel** out_channel,
                                               HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE(out_channel, error);
    *out_channel = nullptr;
    return guarded(error, [&]() -> Result<void> {
        auto channel = channel_from_fd(fd, options);
        if (!channel) return std::unexpected(channel.error());
        *out_channel = *channel;
        return {};
    });
}

/// Sends a tensor. Tensors of mapped files, of hurray_buffer_allocate_shared and of channels are passed: the peer maps their memory.
/// The bytes of all others are copied once, into shared memory, and counted (HurrayChannelInfo.copied_bytes). What is passed stays
/// as it is until the peer releases it; the channel keeps a share of it that long.
/// Waits for room in the socket, and for a release where max_outstanding are out: see HurrayChannelOptions.send_timeout_ms.
/// @param tensor the head of a composite is sent as a tensor without buffers
/// @owner `tensor` stays the caller's and may be destroyed at once
/// @errors UNSUPPORTED: not host memory; INVALID_SYNC_MODE: not PRODUCER_SYNCED; LIMIT_EXCEEDED: max_outstanding are out; TIMED_OUT: no
///     room; DISCONNECTED; FORKED: the channel is the parent's; INVALID_ARGUMENT: after hurray_channel_finish; OUT_OF_MEMORY; IO.
///     After a failure in the middle of a tensor every further send fails with it
/// @thread one thread at a time; releases of what the peer has given back run on it
/// @since 4
HURRAY_API HurrayStatus hurray_channel_send(HG_INOUT HurrayChannel* channel, HG_IN const HurrayTensor* tensor,
                                            HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(channel, error);
    HURRAY_REQUIRE_EXCHANGE(tensor, error);
    const HurrayStatus status = guarded(error, [&]() -> Result<void> {
        if (auto checked = check_not_forked(*channel->value); !checked) return checked;
        auto local = LocalTensor::of(tensor);
        if (!local) return std::unexpected(local.error());
        if (auto sealed = seal_what_is_ours(**local); !sealed) return sealed;
        return channel->value->send(shared_tensor(**local));
    });
    return end_call(*channel, status);
}

/// Receives the next tensor. Its memory is mapped, read-only; HURRAY_BUFFER_SEALED in the information of its buffers says that
/// nobody can change it. The peer is told when the last share of the tensor ends, on whatever thread. When the peer has finished, the
/// call succeeds and `out_tensor` is null.
/// @param timeout_ms milliseconds; 0: does not wait; negative: waits without an end
/// @owner caller; independent of the channel
/// @errors TIMED_OUT; DISCONNECTED: the peer is gone without having finished; FORKED: the channel is the parent's; those of
///     hurray_descriptor_decode, INVALID_FORMAT, LIMIT_EXCEEDED, UNSUPPORTED, OUT_OF_MEMORY, IO: a tensor is refused and given back, and
///     the next one may be received. What breaks the protocol ends the channel, and every further call fails with it
/// @thread one thread at a time; releases of what the peer has given back run on it
/// @since 4
HURRAY_API HurrayStatus hurray_channel_receive(HG_INOUT HurrayChannel* channel, int32_t timeout_ms,
                                               HG_OUT_OWNED(hurray_tensor_destroy) HurrayTensor** out_tensor,
                                               HG_ERROR HurrayError* error) noexcept {
    if (out_tensor != nullptr) *out_tensor = nullptr;
    HURRAY_REQUIRE_HANDLE(channel, error);
    HURRAY_REQUIRE(out_tensor, error);
    const HurrayStatus status = guarded(error, [&]() -> Result<void> {
        auto received = channel->value->receive(Deadline(timeout_ms));
        if (!received) return std::unexpected(received.error());
        if (!received->has_value()) return {};
        auto handle = make_tensor(std::move(**received));
        if (!handle) return std::unexpected(handle.error());
        *out_tensor = *handle;
        return {};
    });
    return end_call(*channel, status);
}

/// Takes in what has come, without waiting: what the peer has released ends here. For a process that sends and rarely receives.
/// @errors DISCONNECTED: the peer is gone without having finished; FORKED; what broke the protocol
/// @thread one thread at a time; releases of what the peer has given back run on it
/// @since 4
HURRAY_API HurrayStatus hurray_channel_process(HG_INOUT HurrayChannel* channel, HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(channel, error);
    return end_call(*channel, guarded(error, [&] { return channel->value->process(); }));
}

/// Says to the peer that no more tensors come: its hurray_channel_receive gives null once it has received all. Receiving goes on.
/// @errors as hurray_channel_send; called again it does nothing
/// @thread one thread at a time; releases of what the peer has given back run on it
/// @since 4
HURRAY_API HurrayStatus hurray_channel_finish(HG_INOUT HurrayChannel* channel, HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(channel, error);
    return end_call(*channel, guarded(error, [&] { return channel->value->finish(); }));
}

/// Fills a struct with what the channel has done so far.
/// @errors INVALID_ARGUMENT: struct_size is too small; FORKED: the channel is the parent's
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_channel_info(HG_IN const HurrayChannel* channel, HG_OUT HurrayChannelInfo* out_info,
                                            HG_ERROR HurrayError* error) noexcept {
    if (out_info != nullptr) clear_sized_struct(out_info);
    HURRAY_REQUIRE_HANDLE(channel, error);
    HURRAY_REQUIRE(out_info, error);
    return guarded(error, [&]() -> Result<void> {
        if (auto checked = check_not_forked(*channel->value); !checked) return checked;
        return fill_sized_struct(out_info, channel_info(*channel->value), sizeof(HurrayChannelInfo), "out_info");
    });
}

/// Tells the descriptor of the channel's socket, for event loops: it becomes readable when something has come for
/// hurray_channel_receive or hurray_channel_process. Receive until TIMED_OUT before waiting for it.
/// @param out_fd stays the channel's: not to be read, written or closed
/// @errors FORKED: the channel is the parent's
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_channel_fd(HG_IN const HurrayChannel* channel, HG_OUT int32_t* out_fd,
                                          HG_ERROR HurrayError* error) noexcept {
    if (out_fd != nullptr) *out_fd = 0;
    HURRAY_REQUIRE_HANDLE(channel, error);
    HURRAY_REQUIRE(out_fd, error);
    return guarded(error, [&]() -> Result<void> {
        if (auto checked = check_not_forked(*channel->value); !checked) return checked;
        *out_fd = channel->value->fd();
        return {};
    });
}

/// Ends this end of a channel: the peer is told that no more comes, and its sends fail. Everything that is out ends; tensors that
/// were received live on, and are given back when they end. In a fork of the process the parent's channel is not affected.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE: (checked builds) already destroyed; INTERNAL_PANIC: a callback threw an exception
/// @thread the thread that runs the releases of what was out
/// @since 4
HURRAY_API HurrayStatus hurray_channel_destroy(HG_DESTROYED_VAR HurrayChannel** channel) noexcept {
    if (channel == nullptr || *channel == nullptr) return HURRAY_OK;
    HURRAY_REQUIRE_HANDLE(*channel, nullptr);
    return report_end(destroy_channel(std::exchange(*channel, nullptr), false), nullptr);
}

/// Ends a channel on a thread that must not run callbacks: see hurray_buffer_destroy_deferred.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_channel_destroy_deferred(HG_DESTROYED_VAR HurrayChannel** channel,
                                                        HG_ERROR HurrayError* error) noexcept {
    if (channel == nullptr || *channel == nullptr) return succeed(error);
    HURRAY_REQUIRE_HANDLE(*channel, error);
    return report_end(destroy_channel(std::exchange(*channel, nullptr), true), error);
}

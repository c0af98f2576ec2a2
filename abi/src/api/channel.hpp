// Channels between processes: what callers see of them. Public: becomes part of hurray/io.h.
#pragma once

#include <cstdint>

/// @group HurrayChannelFlag Channel flags.
/// hurray_channel_from_fd: the descriptor becomes the channel's when the call succeeds.
constexpr uint32_t HURRAY_CHANNEL_CLOSE_FD = 1;
/// Accept private layouts and quantization schemes, see HURRAY_DECODE_PRIVATE_TAGS.
constexpr uint32_t HURRAY_CHANNEL_PRIVATE_TAGS = 2;
/// Accept element types and quantization schemes that are not known, see HURRAY_DECODE_PERMISSIVE.
constexpr uint32_t HURRAY_CHANNEL_PERMISSIVE = 4;
/// Accept peers that are other users; the listener's socket file can be reached by everybody then.
constexpr uint32_t HURRAY_CHANNEL_OTHER_USERS = 8;
/// Receive memory that is sealed and refuse all other, files included.
constexpr uint32_t HURRAY_CHANNEL_SEALED_ONLY = 16;
/// Copy tensors of mapped files instead of passing the file: a peer that has its descriptor can read all of the file.
constexpr uint32_t HURRAY_CHANNEL_COPY_FILES = 32;

/// @group HurrayChannelPeerFlag What became of the peer.
/// The peer sends no more tensors.
constexpr uint32_t HURRAY_CHANNEL_PEER_FINISHED = 1;
/// The peer is gone, or broke the protocol: nothing comes from it any more, and nothing that was sent is out.
constexpr uint32_t HURRAY_CHANNEL_PEER_GONE = 2;

/// Limits of a channel. All zero but struct_size: the defaults.
/// @since 4
struct HurrayChannelOptions {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// HURRAY_CHANNEL_ flags.
    uint32_t flags;
    /// Longest descriptor accepted, in bytes; 0 means 16 MiB.
    uint64_t max_descriptor_length;
    /// Largest tensor accepted, in bytes over all its buffers; 0 means no limit.
    uint64_t max_tensor_bytes;
    /// Largest alignment of a buffer accepted, in bytes; 0 means 2 MiB.
    uint32_t max_alignment;
    /// Tensors that may be sent and not yet released by the peer; 0 means 65536.
    uint32_t max_outstanding;
    /// How many milliseconds hurray_channel_send waits for room in the socket, or for a release where max_outstanding are out; 0
    /// means without an end.
    uint32_t send_timeout_ms;
    /// 0.
    uint32_t reserved;
};

/// What a channel has done so far.
/// @since 4
struct HurrayChannelInfo {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// HURRAY_CHANNEL_PEER_ values.
    uint32_t state;
    /// Tensors sent.
    uint64_t sent;
    /// Tensors received.
    uint64_t received;
    /// Bytes of buffers that were sent without a copy.
    uint64_t passed_bytes;
    /// Bytes of buffers that were copied into shared memory to be sent.
    uint64_t copied_bytes;
    /// Bytes of buffers received; none of them is ever copied.
    uint64_t received_bytes;
    /// Tensors sent that the peer has not released, as far as is known here.
    uint64_t outstanding;
    /// Tensors received that have not ended here.
    uint64_t held;
    /// Process of the peer, as the kernel says: for a socketpair, the one that made it.
    int64_t peer_pid;
    /// User of the peer.
    uint32_t peer_uid;
    /// 0.
    uint32_t reserved;
};

//! Channels: tensors pass to another process of this machine, and their bytes stay where they are.

const std = @import("std");
const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const library = @import("library.zig");
const Handle = @import("handle.zig").Handle;
const FdOwnership = @import("tensor_stream.zig").FdOwnership;
const Tensor = @import("tensor.zig").Tensor;
const TerminatedPath = @import("path.zig").TerminatedPath;
const millisecondsOf = @import("wait.zig").millisecondsOf;

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// One end of a channel to another process. Either end sends and receives. Linux only.
///
/// Memory of mapped files, of `Tensor.allocateShared` and `Buffer.allocateShared`, and of channels is passed: the peer maps it.
/// The bytes of all other memory are copied once, into shared memory, and counted. Receiving never copies.
///
/// Times are durations; null waits without an end. A signal that the program catches does not end the waiting.
///
/// Threads: used by one at a time, and waiting is a use: nothing wakes a `receive` that another thread is in, and a `deinit`
/// meanwhile is a fault of the program. Who must be able to stop waits with a timeout, or for `fd` together with a descriptor of
/// his own. Tensors that were received are independent of the channel, and end on any thread; the peer is told then.
///
/// What the peer has given back ends in `send`, `receive`, `process`, `finish` and `deinit`: release callbacks of such tensors run
/// there. In the child of a fork every call is HurrayForked, and the end affects neither the parent nor the peer.
pub const TensorChannel = struct {
    handle: Handle(abi.c.HurrayChannel, "channel_destroy", "channel"),

    /// Limits, and what is accepted. All defaults are safe for peers that are not trusted but for the size of tensors.
    pub const Options = struct {
        /// `fromFd`: what becomes of the file descriptor. Borrowed: the channel uses a duplicate of it, and the peer does not
        /// notice the channel's end as long as the caller's is open.
        fd: FdOwnership = .borrow,
        /// Longest descriptor accepted, in bytes; 0: 16 MiB.
        max_descriptor_length: u64 = 0,
        /// Largest tensor accepted, in bytes over all its buffers; 0: no limit.
        max_tensor_bytes: u64 = 0,
        /// Largest alignment of a buffer accepted, in bytes; 0: 2 MiB.
        max_alignment: u32 = 0,
        /// Tensors that may be sent and not yet released by the peer; 0: 65536.
        max_outstanding: u32 = 0,
        /// How long `send` waits for room in the socket, or for a release where `max_outstanding` are out; null: without an
        /// end. At least a millisecond.
        send_timeout: ?std.Io.Duration = null,
        /// Accepts private layouts and quantization schemes, upon which the two ends have agreed.
        private_tags: bool = false,
        /// Accepts element types and quantization schemes that are not known.
        permissive: bool = false,
        /// Accepts peers that are other users; the listener's socket file can be reached by everybody then.
        other_users: bool = false,
        /// Receives memory that is sealed and refuses all other, files included.
        sealed_only: bool = false,
        /// Copies tensors of mapped files instead of passing the file: a peer that has it can read all of it.
        copy_files: bool = false,

        pub fn raw(self: Options) abi.c.HurrayChannelOptions {
            const flags: abi.constants.ChannelFlags = .{
                .close_fd = self.fd == .close,
                .private_tags = self.private_tags,
                .permissive = self.permissive,
                .other_users = self.other_users,
                .sealed_only = self.sealed_only,
                .copy_files = self.copy_files,
            };
            return .{
                .struct_size = @sizeOf(abi.c.HurrayChannelOptions),
                .flags = @bitCast(flags),
                .max_descriptor_length = self.max_descriptor_length,
                .max_tensor_bytes = self.max_tensor_bytes,
                .max_alignment = self.max_alignment,
                .max_outstanding = self.max_outstanding,
                // 0 would be without an end.
                .send_timeout_ms = if (self.send_timeout) |timeout| @intCast(@max(1, millisecondsOf(timeout))) else 0,
            };
        }
    };

    /// What the channel has done so far.
    pub const Info = struct {
        /// Tensors sent.
        sent: u64,
        /// Tensors received.
        received: u64,
        /// Bytes of buffers that were sent without a copy.
        passed_bytes: u64,
        /// Bytes of buffers that were copied into shared memory to be sent.
        copied_bytes: u64,
        /// Bytes of buffers received; none of them is ever copied.
        received_bytes: u64,
        /// Tensors sent that the peer has not released, as far as is known here.
        outstanding: u64,
        /// Tensors received that have not ended here.
        held: u64,
        /// Process of the peer, as the kernel says: for a socketpair, the one that made it.
        peer_pid: i64,
        /// User of the peer.
        peer_uid: u32,
        /// The peer sends no more tensors.
        peer_finished: bool,
        /// The peer is gone, or broke the protocol: nothing comes from it any more, and nothing that was sent is out.
        peer_gone: bool,
    };

    /// Connects to a listener; waits until there is one, and until it has room. The caller owns the result.
    ///
    /// Errors: HurrayTimedOut: nobody listened in time; HurrayInvalidArgument: the options, the path, or a socket of another
    /// type; HurrayIo: not allowed, or the listener is another user; HurrayLimitExceeded: no further file descriptor may be
    /// opened.
    pub fn connect(path: []const u8, options: Options, timeout: ?std.Io.Duration, diagnostics: ?*Diagnostics) Error!TensorChannel {
        try library.ensure(diagnostics);
        var terminated: TerminatedPath = .{};
        const name = try terminated.set(path, diagnostics);
        const given = options.raw();
        var out: ?*abi.c.HurrayChannel = null;
        try diagnostics_.check(library.table.channel_connect(name, &given, millisecondsOf(timeout), &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Makes a channel of a connected Unix socket of type SOCK_SEQPACKET: one of a socketpair, or inherited. The caller owns the
    /// result.
    ///
    /// Errors: HurrayInvalidArgument: another kind of descriptor, or the options; HurrayIo: the peer is another user;
    /// HurrayLimitExceeded: no further file descriptor may be opened. On failure the descriptor stays the caller's.
    pub fn fromFd(socket: std.posix.fd_t, options: Options, diagnostics: ?*Diagnostics) Error!TensorChannel {
        try library.ensure(diagnostics);
        const given = options.raw();
        var out: ?*abi.c.HurrayChannel = null;
        try diagnostics_.check(library.table.channel_from_fd(socket, &given, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Sends a tensor, which stays the caller's and may be ended at once. What is passed stays as it is until the peer releases
    /// it.
    ///
    /// Shared memory is made read-only at its address and sealed, where the tensor alone has it or its buffer is marked
    /// `setReadOnly`; elsewhere it is copied. A slice that was given out of it to be written must not be written from then on:
    /// that faults. Views that are made afterwards know that they are read-only.
    ///
    /// Errors: HurrayUnsupported: not host memory; HurrayInvalidSyncMode: not `producer_synced`; HurrayLimitExceeded:
    /// `max_outstanding` are out; HurrayTimedOut: no room; HurrayDisconnected; HurrayInvalidArgument: after `finish`;
    /// HurrayOutOfMemory; HurrayIo. After a failure in the middle of a tensor every further send fails with it.
    pub fn send(self: *TensorChannel, tensor: *const Tensor, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        const sent = try tensor.handle.get(diagnostics);
        try diagnostics_.check(library.table.channel_send(handle, sent, diagnostics_.reportOf(diagnostics)));
    }

    /// Receives the next tensor, which the caller owns; null when the peer has finished. Its memory is mapped, read-only;
    /// `BufferInfo.sealed` says that nobody can change it. Memory that is not sealed may change while it is read.
    ///
    /// Errors: HurrayTimedOut; HurrayDisconnected: the peer is gone without having finished; those of `Descriptor.decode`,
    /// HurrayInvalidFormat, HurrayLimitExceeded, HurrayUnsupported, HurrayOutOfMemory, HurrayIo: a tensor is refused and given
    /// back, and the next one may be received. What breaks the protocol ends the channel, and every further call fails with it.
    pub fn receive(self: *TensorChannel, timeout: ?std.Io.Duration, diagnostics: ?*Diagnostics) Error!?Tensor {
        const handle = try self.handle.get(diagnostics);
        var out: ?*abi.c.HurrayTensor = null;
        try diagnostics_.check(library.table.channel_receive(handle, millisecondsOf(timeout), &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out orelse return null) };
    }

    /// Takes in what has come, without waiting: what the peer has released ends here. For a process that sends and rarely
    /// receives. Errors: HurrayDisconnected: the peer is gone without having finished; what broke the protocol.
    pub fn process(self: *TensorChannel, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        try diagnostics_.check(library.table.channel_process(handle, diagnostics_.reportOf(diagnostics)));
    }

    /// Says to the peer that no more tensors come: its `receive` gives null once it has received all. Receiving goes on. A second
    /// finish is a no-op. Errors: as `send`.
    pub fn finish(self: *TensorChannel, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        try diagnostics_.check(library.table.channel_finish(handle, diagnostics_.reportOf(diagnostics)));
    }

    pub fn info(self: *const TensorChannel, diagnostics: ?*Diagnostics) Error!Info {
        const handle = try self.handle.get(diagnostics);
        var raw: abi.c.HurrayChannelInfo = .{ .struct_size = @sizeOf(abi.c.HurrayChannelInfo) };
        try diagnostics_.check(library.table.channel_info(handle, &raw, diagnostics_.reportOf(diagnostics)));
        const state: abi.constants.ChannelPeerFlags = @bitCast(raw.state);
        return .{
            .sent = raw.sent,
            .received = raw.received,
            .passed_bytes = raw.passed_bytes,
            .copied_bytes = raw.copied_bytes,
            .received_bytes = raw.received_bytes,
            .outstanding = raw.outstanding,
            .held = raw.held,
            .peer_pid = raw.peer_pid,
            .peer_uid = raw.peer_uid,
            .peer_finished = state.peer_finished,
            .peer_gone = state.peer_gone,
        };
    }

    /// The descriptor of the channel's socket, for event loops: it becomes readable when something has come for `receive` or
    /// `process`. It stays the channel's: not to be read, written or closed. Receive with a timeout of zero until HurrayTimedOut
    /// before waiting for it.
    pub fn fd(self: *const TensorChannel, diagnostics: ?*Diagnostics) Error!std.posix.fd_t {
        const handle = try self.handle.get(diagnostics);
        var out: i32 = -1;
        try diagnostics_.check(library.table.channel_fd(handle, &out, diagnostics_.reportOf(diagnostics)));
        return out;
    }

    /// Ends this end of the channel: the peer is told that no more comes, and its sends fail. Everything that is out ends, on this
    /// thread; tensors that were received live on. A second end is a no-op.
    pub fn deinit(self: *TensorChannel) void {
        self.handle.deinit();
    }

    /// As `deinit`, and says what went wrong; the object is empty afterwards all the same.
    ///
    /// Errors: HurrayClosed: it was empty before; HurrayInvalidHandle: where handles are checked, it was destroyed before;
    /// HurrayInternalPanic: a release callback threw an exception, after which everything has ended.
    pub fn end(self: *TensorChannel, diagnostics: ?*Diagnostics) Error!void {
        return self.handle.end(diagnostics);
    }

    /// Ends the channel on a thread that must not run release callbacks: they wait on a queue.
    pub fn deinitDeferred(self: *TensorChannel) void {
        self.handle.deinitDeferred();
    }
};

/// Waits at a path for the other ends of channels. The socket file has mode 0600 (0666 with `other_users`); one that is there
/// already is replaced if nobody listens at it. Threads: used by one at a time, as a channel.
pub const TensorChannelListener = struct {
    handle: Handle(abi.c.HurrayChannelListener, "channel_listener_destroy", "channel listener"),

    /// Listens at a path, of at most 107 bytes. The options are those of every channel that is accepted. The caller owns the
    /// result.
    ///
    /// Errors: HurrayInvalidArgument: the options, a path that no socket can have, or something that is no socket is in the way;
    /// HurrayIo: somebody listens there; HurrayLimitExceeded: no further file descriptor may be opened.
    pub fn listen(path: []const u8, options: TensorChannel.Options, diagnostics: ?*Diagnostics) Error!TensorChannelListener {
        try library.ensure(diagnostics);
        var terminated: TerminatedPath = .{};
        const name = try terminated.set(path, diagnostics);
        const given = options.raw();
        var out: ?*abi.c.HurrayChannelListener = null;
        try diagnostics_.check(library.table.channel_listen(name, &given, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Waits for a peer. Peers of other users, where these are not accepted, are turned away and not reported. The caller owns the
    /// result, which is independent of the listener. Errors: HurrayTimedOut; HurrayForked; HurrayLimitExceeded; HurrayIo.
    pub fn accept(self: *TensorChannelListener, timeout: ?std.Io.Duration, diagnostics: ?*Diagnostics) Error!TensorChannel {
        const handle = try self.handle.get(diagnostics);
        var out: ?*abi.c.HurrayChannel = null;
        try diagnostics_.check(library.table.channel_accept(handle, millisecondsOf(timeout), &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Ends the listener and removes its socket file, if that is still its own. Channels live on. A second end is a no-op.
    pub fn deinit(self: *TensorChannelListener) void {
        self.handle.deinit();
    }
};

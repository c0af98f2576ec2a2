//! Buffers: memory with shared ownership.

const std = @import("std");
const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const handoff_ = @import("handoff.zig");
const lent_memory = @import("lent_memory.zig");
const library = @import("library.zig");
const Handle = @import("handle.zig").Handle;
const BufferEntry = @import("buffer_entry.zig").BufferEntry;
const ReleaseQueue = @import("release_queue.zig").ReleaseQueue;

const Allocator = std.mem.Allocator;
const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// The alignment that the format wants of memory that is not empty. Memory that is allocated with it
/// (`allocator.alignedAlloc(f32, hurray.buffer_alignment, n)`) needs no byte_offset; any other works as well.
pub const buffer_alignment: std.mem.Alignment = .@"64";

/// What a buffer stands for.
pub const BufferInfo = struct {
    /// First byte; null for an empty buffer without memory. Alive as long as any handle shares the memory.
    data: ?[*]u8,
    /// Length in bytes, the prefix included.
    byte_size: u64,
    /// Alignment of `data` that the buffer declares.
    alignment: u32,
    /// How many bytes at `data` belong to somebody else and are never read.
    prefix: u32,
    /// How many handles share the memory; 0 for memory that is borrowed for ever.
    share_count: u64,
    read_only: bool,
    /// Whether the handle belongs to a list or tensor.
    borrowed: bool,
    /// Shared memory or a mapped file: other processes may have the same memory.
    shared: bool,
    /// Shared memory that is sealed: nobody can write to it or shrink it any more.
    sealed: bool,
};

/// A buffer of the caller's.
///
/// Threads: used by one at a time; two buffers that share memory may be used by two. The memory is released by the thread
/// that ends the last of them.
pub const Buffer = struct {
    handle: Handle(abi.c.HurrayBuffer, "buffer_destroy", "buffer"),

    /// Allocates zeroed memory of the library. Alignment 0 means 64, and less is raised to 64.
    ///
    /// Errors: HurrayOutOfMemory; HurrayInvalidLayout: alignment is no power of two.
    pub fn allocate(byte_size: u64, alignment: u32, diagnostics: ?*Diagnostics) Error!Buffer {
        try library.ensure(diagnostics);
        var out: ?*abi.c.HurrayBuffer = null;
        try diagnostics_.check(library.table.buffer_allocate(byte_size, alignment, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Allocates zeroed memory that goes through a channel without a copy; see `TensorChannel.send` for what that does to it. It is
    /// shared with forks of the process. Linux only.
    ///
    /// Errors: those of `allocate`; HurrayLimitExceeded: no further file descriptor may be opened; HurrayIo.
    pub fn allocateShared(byte_size: u64, alignment: u32, diagnostics: ?*Diagnostics) Error!Buffer {
        try library.ensure(diagnostics);
        var out: ?*abi.c.HurrayBuffer = null;
        try diagnostics_.check(library.table.buffer_allocate_shared(byte_size, alignment, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// What lending memory gives: the buffer begins where the memory begins, rounded down to 64 bytes.
    pub const Lent = struct {
        buffer: Buffer,
        /// How far the memory lies behind the beginning of the buffer: belongs into the descriptor's byte_offset.
        byte_offset: u64,
    };

    /// Lends memory for ever: static memory, or memory that outlives every handle in every runtime. Nothing is copied. A
    /// slice of constants makes a read-only buffer.
    pub fn fromStatic(items: anytype, diagnostics: ?*Diagnostics) Error!Lent {
        return lend(items, null, null, diagnostics);
    }

    /// Hands memory of the allocator over: `allocator.free(items)` runs exactly once, when the last share goes. On failure
    /// the memory stays the caller's.
    ///
    /// Threads: the allocator is used by the thread that drops the last share.
    pub fn fromOwned(allocator: Allocator, items: anytype, diagnostics: ?*Diagnostics) (Error || Allocator.Error)!Lent {
        return fromBorrowed(allocator, items, allocator, lent_memory.freeSlice(@TypeOf(items)), diagnostics);
    }

    /// Lends memory until `onRelease(owner, items)`, which runs exactly once, when the last share goes. On failure nothing
    /// has moved and it does not run. What the callback needs is allocated with the allocator and freed before it runs.
    pub fn fromBorrowed(
        allocator: Allocator,
        items: anytype,
        owner: anytype,
        comptime onRelease: fn (owner: @TypeOf(owner), items: @TypeOf(items)) void,
        diagnostics: ?*Diagnostics,
    ) (Error || Allocator.Error)!Lent {
        const Lease = lent_memory.Lease(@TypeOf(items), @TypeOf(owner), onRelease);
        const lease = try Lease.create(allocator, owner, items);
        errdefer lease.abandon();
        return lend(items, Lease.release, lease, diagnostics);
    }

    fn lend(
        items: anytype,
        release: ?abi.callbacks.ReleaseCallback,
        context: ?*anyopaque,
        diagnostics: ?*Diagnostics,
    ) Error!Lent {
        const Slice = lent_memory.SliceInfo(@TypeOf(items));
        try library.ensure(diagnostics);
        // What collectors of other runtimes left is released where new memory is lent.
        if (release != null) _ = try library.drainReleases(diagnostics);
        const data, const byte_size = lent_memory.bytesOf(items);
        var out: ?*abi.c.HurrayBuffer = null;
        var byte_offset: u64 = 0;
        const report = diagnostics_.reportOf(diagnostics);
        try diagnostics_.check(library.table.buffer_from_host(data, byte_size, @intFromBool(Slice.read_only), release, context, &out, &byte_offset, report));
        // A fresh buffer that is not shared takes the queue.
        if (release != null) std.debug.assert(library.table.buffer_set_release_queue(out.?, library.releaseQueue(), null) == 0);
        return .{ .buffer = .{ .handle = .init(out.?) }, .byte_offset = byte_offset };
    }

    /// Wraps memory of any device. `release(data, context)` runs exactly once, when the last share goes; null: the memory
    /// lives for ever. On failure it does not run.
    ///
    /// Errors: HurrayInvalidLayout: alignment is no power of two or below 64; HurrayMisaligned; HurrayInvalidType: no such
    /// device; HurrayNullPointer.
    pub fn fromPointer(
        data: ?*anyopaque,
        byte_size: u64,
        alignment: u32,
        device: abi.constants.Device,
        release: ?abi.callbacks.ReleaseCallback,
        context: ?*anyopaque,
        diagnostics: ?*Diagnostics,
    ) Error!Buffer {
        try library.ensure(diagnostics);
        var out: ?*abi.c.HurrayBuffer = null;
        const status = library.table.buffer_from_ptr(data, byte_size, alignment, @intFromEnum(device), release, context, &out);
        try diagnostics_.checkSilent(status, diagnostics, "the memory cannot be wrapped as it was declared");
        return .{ .handle = .init(out.?) };
    }

    /// Hands memory over together with what tells when its bytes are there. The entry's sync mode says what that is:
    /// nothing, an event, or the consumer's stream. Both are compared before a buffer is made. On failure nothing has moved
    /// and no callback runs. (ABI: Buffer Handoff Synchronisation)
    ///
    /// Who calls it has done what the mode asks for: `producer_synced`: waited on the host for all writes; `event`: recorded
    /// the event after all writes; `consumer_stream`: made the consumer's stream wait for all writes.
    ///
    /// Errors: HurrayInvalidSyncMode: no such mode, or another than `producer_synced` for memory of the host;
    /// HurraySyncModeMismatch: the payload is not that of the mode, or of another device than the memory; HurrayInvalidType: no
    /// such device or memory class; HurrayInvalidLayout: alignment; HurrayMisaligned; HurrayNullPointer.
    pub fn handoff(
        facts: BufferEntry,
        memory: handoff_.DeviceMemory,
        payload: handoff_.SyncPayload,
        diagnostics: ?*Diagnostics,
    ) Error!Buffer {
        try library.ensure(diagnostics);
        // What collectors of other runtimes left is released where new memory is lent.
        if (memory.release != null) _ = try library.drainReleases(diagnostics);
        const handle_bytes: abi.c.HurrayBufferHandleBytes = .{ .bytes = facts.toBytes() };
        const raw: handoff_.RawPayload = .init(payload);
        var out: ?*abi.c.HurrayBuffer = null;
        try diagnostics_.check(library.table.buffer_handoff(
            &handle_bytes,
            memory.data,
            memory.release,
            memory.context,
            raw.eventPointer(),
            raw.streamPointer(),
            &out,
            diagnostics_.reportOf(diagnostics),
        ));
        // A fresh buffer that is not shared takes the queue.
        if (memory.release != null) std.debug.assert(library.table.buffer_set_release_queue(out.?, library.releaseQueue(), null) == 0);
        return .{ .handle = .init(out.?) };
    }

    /// Takes a handle over that something else made; null is an error. The counterpart of `intoRaw`.
    pub fn fromRaw(pointer: ?*abi.c.HurrayBuffer, diagnostics: ?*Diagnostics) Error!Buffer {
        try library.ensure(diagnostics);
        return .{ .handle = .init(pointer orelse return nullHandle(diagnostics)) };
    }

    /// Gives the handle away; whoever gets it ends it. This object is empty afterwards.
    pub fn intoRaw(self: *Buffer, diagnostics: ?*Diagnostics) Error!*abi.c.HurrayBuffer {
        _ = try self.handle.get(diagnostics);
        return self.handle.take().?;
    }

    /// A further handle for the same memory.
    pub fn share(self: *const Buffer, diagnostics: ?*Diagnostics) Error!Buffer {
        return shareOf(try self.handle.get(diagnostics), diagnostics);
    }

    /// A handle for a part of the memory, which it shares. Errors: HurrayIndexOutOfBounds; HurrayMisaligned: a part that is
    /// not empty begins at no multiple of 64.
    pub fn slice(self: *const Buffer, offset: u64, byte_size: u64, diagnostics: ?*Diagnostics) Error!Buffer {
        var out: ?*abi.c.HurrayBuffer = null;
        const handle = try self.handle.get(diagnostics);
        try diagnostics_.check(library.table.buffer_slice(handle, offset, byte_size, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    pub fn info(self: *const Buffer, diagnostics: ?*Diagnostics) Error!BufferInfo {
        return infoOf(try self.handle.get(diagnostics), diagnostics);
    }

    /// What a descriptor's buffer table says about it.
    pub fn entry(self: *const Buffer, diagnostics: ?*Diagnostics) Error!BufferEntry {
        return entryOf(try self.handle.get(diagnostics), diagnostics);
    }

    /// The event of a buffer of sync mode `event`: every stream that is to touch the bytes waits for it first, and then
    /// `releaseEvent` gives it back. It lives until that or the buffer's end.
    ///
    /// Errors: HurraySyncModeMismatch: of another mode, or a share or slice, which carry no event; HurrayInvalidHandle: it was
    /// released.
    pub fn event(self: *const Buffer, diagnostics: ?*Diagnostics) Error!handoff_.Event {
        return eventOf(try self.handle.get(diagnostics), diagnostics);
    }

    /// Gives the event back, once all waits for it have been issued: its release runs, exactly once. A buffer that ends before
    /// does it itself. Errors as `event`.
    pub fn releaseEvent(self: *Buffer, diagnostics: ?*Diagnostics) Error!void {
        return releaseEventOf(try self.handle.get(diagnostics), diagnostics);
    }

    /// The consumer's stream that a buffer of sync mode `consumer_stream` is ordered on: any other stream waits for it before
    /// it touches the bytes. Errors: HurraySyncModeMismatch: of another mode, or a share or slice.
    pub fn stream(self: *const Buffer, diagnostics: ?*Diagnostics) Error!handoff_.Stream {
        return streamOf(try self.handle.get(diagnostics), diagnostics);
    }

    /// The bytes of host memory, without the prefix; alive as long as this handle.
    pub fn bytes(self: *const Buffer, diagnostics: ?*Diagnostics) Error![]const u8 {
        const facts = try self.hostInfo(diagnostics);
        const data = facts.data orelse return &.{};
        return data[facts.prefix..@intCast(facts.byte_size)];
    }

    /// As `bytes`, to write. Errors also: HurrayReadOnly.
    pub fn bytesMutable(self: *const Buffer, diagnostics: ?*Diagnostics) Error![]u8 {
        const facts = try self.hostInfo(diagnostics);
        if (facts.read_only) return diagnostics_.fail(diagnostics, .invalid_argument, error.HurrayReadOnly, "buffer: its memory must not be written", .{});
        const data = facts.data orelse return &.{};
        return data[facts.prefix..@intCast(facts.byte_size)];
    }

    /// Marks the memory as not to be written through this handle and those made from it.
    pub fn setReadOnly(self: *Buffer, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        try diagnostics_.check(library.table.buffer_set_read_only(handle, diagnostics_.reportOf(diagnostics)));
    }

    /// Sets the queue on which a deferred release of the memory waits; null: the process's default queue. Only before the
    /// buffer is shared.
    pub fn setReleaseQueue(self: *Buffer, queue: ?*const ReleaseQueue, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        const raw = if (queue) |q| try q.handle.get(diagnostics) else null;
        try diagnostics_.check(library.table.buffer_set_release_queue(handle, raw, diagnostics_.reportOf(diagnostics)));
    }

    /// Agrees that the memory is released at once on whatever thread drops the last share. Only before the buffer is shared.
    pub fn setReleaseAnyThread(self: *Buffer, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        try diagnostics_.check(library.table.buffer_set_release_any_thread(handle, diagnostics_.reportOf(diagnostics)));
    }

    /// Ends the handle; the last share releases the memory on this thread. A second end is a no-op.
    pub fn deinit(self: *Buffer) void {
        self.handle.deinit();
    }

    /// As `deinit`, and says what went wrong; the object is empty afterwards all the same.
    ///
    /// Errors: HurrayClosed: it was empty before; HurrayInvalidHandle: the handle is borrowed or, where handles are checked,
    /// was destroyed before; HurrayInternalPanic: a release callback threw an exception, after which everything has ended.
    pub fn end(self: *Buffer, diagnostics: ?*Diagnostics) Error!void {
        return self.handle.end(diagnostics);
    }

    /// Ends the handle on a thread that must not run release callbacks: they wait on a queue.
    pub fn deinitDeferred(self: *Buffer) void {
        self.handle.deinitDeferred();
    }

    fn hostInfo(self: *const Buffer, diagnostics: ?*Diagnostics) Error!BufferInfo {
        const device = (try self.entry(diagnostics)).device;
        if (device != .cpu) return diagnostics_.fail(
            diagnostics,
            .unsupported,
            error.HurrayUnsupported,
            "buffer: its memory is that of device {d}, not the host's",
            .{@intFromEnum(device)},
        );
        return self.info(diagnostics);
    }
};

pub fn shareOf(handle: *const abi.c.HurrayBuffer, diagnostics: ?*Diagnostics) Error!Buffer {
    var out: ?*abi.c.HurrayBuffer = null;
    try diagnostics_.check(library.table.buffer_share(handle, &out, diagnostics_.reportOf(diagnostics)));
    return .{ .handle = .init(out.?) };
}

pub fn infoOf(handle: *const abi.c.HurrayBuffer, diagnostics: ?*Diagnostics) Error!BufferInfo {
    var raw: abi.c.HurrayBufferInfo = .{ .struct_size = @sizeOf(abi.c.HurrayBufferInfo) };
    try diagnostics_.check(library.table.buffer_info(handle, &raw, diagnostics_.reportOf(diagnostics)));
    const flags: abi.constants.BufferFlags = @bitCast(raw.flags);
    return .{
        .data = @ptrCast(raw.data),
        .byte_size = raw.byte_size,
        .alignment = raw.alignment,
        .prefix = raw.prefix,
        .share_count = raw.share_count,
        .read_only = flags.read_only,
        .borrowed = flags.borrowed,
        .shared = flags.shared,
        .sealed = flags.sealed,
    };
}

pub fn entryOf(handle: *const abi.c.HurrayBuffer, diagnostics: ?*Diagnostics) Error!BufferEntry {
    var raw: abi.c.HurrayBufferHandleBytes = .{};
    try diagnostics_.check(library.table.buffer_handle_bytes(handle, &raw, diagnostics_.reportOf(diagnostics)));
    return .fromBytes(&raw.bytes);
}

pub fn eventOf(handle: *const abi.c.HurrayBuffer, diagnostics: ?*Diagnostics) Error!handoff_.Event {
    var sync_handle: ?*anyopaque = null;
    var device: u8 = 0;
    try diagnostics_.check(library.table.buffer_event(handle, &sync_handle, &device, diagnostics_.reportOf(diagnostics)));
    return .{ .handle = sync_handle.?, .device = @enumFromInt(device) };
}

pub fn releaseEventOf(handle: *abi.c.HurrayBuffer, diagnostics: ?*Diagnostics) Error!void {
    try diagnostics_.check(library.table.buffer_event_release(handle, diagnostics_.reportOf(diagnostics)));
}

pub fn streamOf(handle: *const abi.c.HurrayBuffer, diagnostics: ?*Diagnostics) Error!handoff_.Stream {
    var consumer_stream: ?*anyopaque = null;
    var device: u8 = 0;
    try diagnostics_.check(library.table.buffer_stream(handle, &consumer_stream, &device, diagnostics_.reportOf(diagnostics)));
    return .{ .handle = consumer_stream, .device = @enumFromInt(device) };
}

pub fn nullHandle(diagnostics: ?*Diagnostics) Error {
    return diagnostics_.fail(diagnostics, .null_pointer, error.HurrayNullPointer, "the handle is null", .{});
}

//! What travels beside a buffer when a device may still be writing it: events, streams, and how memory of a device is lent.
//! (ABI: Buffer Handoff Synchronisation)
//!
//! A `BufferEntry` says in its sync_mode which of three things holds. `producer_synced`: the bytes are there. `event`: they
//! are there after an event, on which the consumer lets each of its streams wait before it touches them, and which it then
//! releases. `consumer_stream`: they are there for later work on the stream that the consumer named (see `Producer`).
//!
//! Events and streams belong to the device's own runtime. The package carries their addresses and never looks behind them.

const std = @import("std");
const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");

const Device = abi.constants.Device;
const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// A queue of work of a device.
pub const Stream = struct {
    /// The stream itself; null is no stream.
    handle: ?*anyopaque,
    device: Device,
};

/// An event of a device, for the consumer's waits: a borrow, which lives until it is released.
pub const Event = struct {
    handle: *anyopaque,
    device: Device,
};

/// The event that a producer hands off. It was recorded, before the handoff, after all writes of the buffer.
pub const EventPayload = struct {
    handle: ?*anyopaque,
    device: Device,
    /// `release(handle, context)` runs exactly once: when the consumer says that it has issued its waits, or when the buffer
    /// ends before. It runs on any thread and must be safe there.
    release: ?abi.callbacks.EventReleaseFn,
    context: ?*anyopaque = null,

    /// With a function of this language: `onRelease(owner, event)`. Both are pointers, and nothing is allocated.
    pub fn of(
        event: anytype,
        device: Device,
        owner: anytype,
        comptime onRelease: fn (owner: @TypeOf(owner), event: @TypeOf(event)) void,
    ) EventPayload {
        const Callback = PointerCallback(@TypeOf(event), @TypeOf(owner), onRelease);
        return .{ .handle = address(event), .device = device, .release = Callback.run, .context = address(owner) };
    }
};

/// What tells when the bytes of a buffer are there: what its sync mode asks for, and nothing else.
pub const SyncPayload = struct {
    /// Of sync mode `event`.
    event: ?EventPayload = null,
    /// Of sync mode `consumer_stream`: the consumer's stream, which waits for the writes already.
    stream: ?Stream = null,
};

/// Memory of a device, or of anything else that is no slice, which is lent until its release.
pub const DeviceMemory = struct {
    /// First byte, aligned as the buffer's entry declares.
    data: ?*anyopaque,
    /// `release(data, context)` runs exactly once, when the last share goes; null: the memory lives for ever.
    release: ?abi.callbacks.ReleaseCallback = null,
    context: ?*anyopaque = null,

    /// With a function of this language: `onRelease(owner, data)`. Both are pointers, and nothing is allocated.
    pub fn of(
        data: anytype,
        owner: anytype,
        comptime onRelease: fn (owner: @TypeOf(owner), data: @TypeOf(data)) void,
    ) DeviceMemory {
        const Callback = PointerCallback(@TypeOf(data), @TypeOf(owner), onRelease);
        return .{ .data = address(data), .release = Callback.run, .context = address(owner) };
    }
};

/// The payloads as the C ABI takes them, alive as long as this value.
pub const RawPayload = struct {
    event: ?abi.c.HurrayEventPayload,
    stream: ?abi.c.HurrayStreamPayload,

    pub fn init(payload: SyncPayload) RawPayload {
        return .{
            .event = if (payload.event) |event| .{
                .sync_handle = event.handle,
                .sync_handle_device_tag = @intFromEnum(event.device),
                .event_release_fn = event.release,
                .event_release_context = event.context,
            } else null,
            .stream = if (payload.stream) |stream| .{
                .consumer_stream = stream.handle,
                .consumer_stream_device_tag = @intFromEnum(stream.device),
            } else null,
        };
    }

    pub fn eventPointer(self: *const RawPayload) ?*const abi.c.HurrayEventPayload {
        return if (self.event) |*event| event else null;
    }

    pub fn streamPointer(self: *const RawPayload) ?*const abi.c.HurrayStreamPayload {
        return if (self.stream) |*stream| stream else null;
    }
};

/// A C callback with two pointers that calls a function of this language with both, the owner first.
fn PointerCallback(comptime Thing: type, comptime Owner: type, comptime function: fn (owner: Owner, thing: Thing) void) type {
    requirePointer(Thing);
    requirePointer(Owner);
    return struct {
        fn run(thing: ?*anyopaque, context: ?*anyopaque) callconv(.c) void {
            function(@ptrCast(@alignCast(context.?)), @ptrCast(@alignCast(thing.?)));
        }
    };
}

/// Refuses, when compiling, what is not a pointer to one item.
pub fn requirePointer(comptime T: type) void {
    switch (@typeInfo(T)) {
        .pointer => |pointer| if (pointer.size == .one) return,
        else => {},
    }
    @compileError("hurray: expected a pointer to one item, got " ++ @typeName(T));
}

/// A pointer as C carries it.
pub fn address(pointer: anytype) *anyopaque {
    return @ptrCast(@constCast(pointer));
}

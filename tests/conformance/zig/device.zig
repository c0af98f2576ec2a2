//! The fake device, with buffers that are handed off on it through the binding.

const std = @import("std");
const hurray = @import("hurray");

pub const c = @cImport(@cInclude("device.h"));

const gpa = std.testing.allocator;
const expectEqual = std.testing.expectEqual;

/// What the device answers when all is in order.
pub const ok: u32 = c.FAKE_OK;
pub const shape: []const u64 = &.{64};
pub const byte_size = 256;

/// One device a test, with three streams and 256 bytes of memory.
pub const Device = struct {
    raw: *c.FakeDevice,
    producer: *anyopaque,
    consumer: *anyopaque,
    other: *anyopaque,
    memory: *anyopaque,
    handles: hurray.LiveHandles,

    pub fn init() !Device {
        const raw = c.fake_device_new() orelse return error.OutOfMemory;
        return .{
            .raw = raw,
            .producer = c.fake_stream_new(raw, "producer").?,
            .consumer = c.fake_stream_new(raw, "consumer").?,
            .other = c.fake_stream_new(raw, "other").?,
            .memory = c.fake_memory_new(raw, byte_size).?,
            .handles = try hurray.liveHandles(.any, null),
        };
    }

    pub fn deinit(self: *const Device) void {
        c.fake_device_destroy(self.raw);
    }

    pub fn newEvent(self: *const Device) *anyopaque {
        return c.fake_event_new(self.raw).?;
    }

    pub fn stream(_: *const Device, handle: *anyopaque) hurray.Stream {
        return .{ .handle = handle, .device = .cuda };
    }

    // --- What the producer does ---

    pub fn write(self: *const Device) !void {
        try expectEqual(ok, c.fake_stream_write(self.raw, self.producer, self.memory));
    }

    pub fn recordedEvent(self: *const Device) !*anyopaque {
        const event = self.newEvent();
        try expectEqual(ok, c.fake_event_record(self.raw, event, self.producer));
        return event;
    }

    pub fn entry(_: *const Device, mode: hurray.SyncMode) hurray.BufferEntry {
        return .{ .byte_size = byte_size, .device = .cuda, .sync_mode = mode };
    }

    /// Hands the memory off, between the device's marks; `handle` is the event or stream that belongs to the mode.
    pub fn handOff(self: *const Device, mode: hurray.SyncMode, handle: ?*anyopaque, diagnostics: ?*hurray.Diagnostics) !hurray.Buffer {
        const payload: hurray.SyncPayload = switch (mode) {
            .event => .{ .event = .of(handle.?, .cuda, self.raw, releaseEvent) },
            .consumer_stream => .{ .stream = self.stream(handle.?) },
            else => .{},
        };
        return self.handOffWith(mode, handle, payload, diagnostics);
    }

    pub fn handOffWith(
        self: *const Device,
        mode: hurray.SyncMode,
        handle: ?*anyopaque,
        payload: hurray.SyncPayload,
        diagnostics: ?*hurray.Diagnostics,
    ) !hurray.Buffer {
        const value = @intFromEnum(mode);
        _ = c.fake_handoff_begin(self.raw, self.memory, value, handle);
        errdefer _ = c.fake_handoff_failed(self.raw, self.memory, value, handle);
        const buffer = try hurray.Buffer.handoff(self.entry(mode), self.lent(), payload, diagnostics);
        _ = c.fake_handoff_returned(self.raw, self.memory, value, handle);
        return buffer;
    }

    pub fn lent(self: *const Device) hurray.DeviceMemory {
        return .of(self.memory, self.raw, releaseMemory);
    }

    pub fn releaseEvent(raw: *c.FakeDevice, event: *anyopaque) void {
        c.fake_event_release(event, raw);
    }

    fn releaseMemory(raw: *c.FakeDevice, memory: *anyopaque) void {
        c.fake_memory_release(memory, raw);
    }

    /// The pair in which a tensor of one buffer, which moves into it, travels.
    pub fn pairOf(buffer: *hurray.Buffer, diagnostics: ?*hurray.Diagnostics) !hurray.Tensor.Exported {
        return .dense(.float32, shape, buffer, diagnostics);
    }

    // --- What the consumer does ---

    pub fn import(buffer: *hurray.Buffer) !hurray.Tensor {
        var pair = try pairOf(buffer, null);
        defer pair.deinit();
        return hurray.Tensor.import(&pair.list, &pair.context, null);
    }

    /// Lets a stream wait for the tensor's event.
    pub fn wait(self: *const Device, waiting: *anyopaque, tensor: *const hurray.Tensor) !void {
        const event = try tensor.bufferEvent(0, null);
        try expectEqual(hurray.Device.cuda, event.device);
        _ = c.fake_stream_wait_event(self.raw, waiting, event.handle);
    }

    /// Reads the tensor's elements on a stream.
    pub fn read(self: *const Device, reading: *anyopaque, tensor: *const hurray.Tensor) !void {
        _ = c.fake_stream_read(self.raw, reading, (try tensor.view(null)).address());
    }

    pub fn writeInto(self: *const Device, writing: *anyopaque, tensor: *const hurray.Tensor) !void {
        _ = c.fake_stream_write(self.raw, writing, (try tensor.view(null)).address());
    }

    // --- What the device says ---

    /// Everything was in order, everything was released, and no handle is left.
    pub fn expectClean(self: *const Device) !void {
        _ = c.fake_device_finish(self.raw);
        try self.expectViolations(&.{});
        try self.expectNoHandles();
    }

    pub fn expectNoHandles(self: *const Device) !void {
        try expectEqual(self.handles, try hurray.liveHandles(.any, null));
    }

    /// Exactly these kinds, in this order. They are forgotten then.
    pub fn expectViolations(self: *const Device, kinds: []const u32) !void {
        errdefer self.printLog();
        try expectEqual(kinds.len, c.fake_violation_count(self.raw));
        for (kinds, 0..) |kind, index| try expectEqual(kind, c.fake_violation_kind(self.raw, index));
        c.fake_violations_clear(self.raw);
    }

    pub fn expectLog(self: *const Device, expected: []const u8) !void {
        const log = try self.copyLog();
        defer gpa.free(log);
        try std.testing.expectEqualStrings(expected, log);
    }

    fn copyLog(self: *const Device) ![]u8 {
        const length: usize = @intCast(c.fake_log_copy(self.raw, null, 0));
        const text = try gpa.alloc(u8, length + 1);
        defer gpa.free(text);
        _ = c.fake_log_copy(self.raw, text.ptr, text.len);
        return gpa.dupe(u8, text[0..length]);
    }

    fn printLog(self: *const Device) void {
        const log = self.copyLog() catch return;
        defer gpa.free(log);
        std.debug.print("{s}", .{log});
    }
};

//! Handoff of buffers that a device may still be writing: what is accepted, what is refused, and what is released when.

const std = @import("std");
const hurray = @import("hurray");
const support = @import("support.zig");

const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;
const expectError = std.testing.expectError;

/// Counts what is called back. Its own address stands for an event, a stream and memory: nobody looks behind them.
const Device = struct {
    memory: [128]u8 align(64) = @splat(0),
    event: u8 = 0,
    stream: u8 = 0,
    events_released: std.atomic.Value(u32) = .init(0),
    memory_released: std.atomic.Value(u32) = .init(0),
    event_thread: std.Thread.Id = 0,
    memory_thread: std.Thread.Id = 0,

    fn releaseEvent(self: *Device, event: *u8) void {
        std.debug.assert(event == &self.event);
        self.event_thread = std.Thread.getCurrentId();
        _ = self.events_released.fetchAdd(1, .monotonic);
    }

    fn releaseMemory(self: *Device, memory: *[128]u8) void {
        std.debug.assert(memory == &self.memory);
        self.memory_thread = std.Thread.getCurrentId();
        _ = self.memory_released.fetchAdd(1, .monotonic);
    }

    fn lent(self: *Device) hurray.DeviceMemory {
        return .of(&self.memory, self, releaseMemory);
    }

    fn eventPayload(self: *Device) hurray.EventPayload {
        return .of(&self.event, .cuda, self, releaseEvent);
    }

    fn streamPayload(self: *Device) hurray.Stream {
        return .{ .handle = &self.stream, .device = .cuda };
    }

    fn handOff(self: *Device, mode: hurray.SyncMode) !hurray.Buffer {
        return hurray.Buffer.handoff(entryOf(mode), self.lent(), switch (mode) {
            .event => .{ .event = self.eventPayload() },
            .consumer_stream => .{ .stream = self.streamPayload() },
            else => .{},
        }, null);
    }

    fn expectReleased(self: *const Device, events: u32, memory: u32) !void {
        try expectEqual(events, self.events_released.load(.monotonic));
        try expectEqual(memory, self.memory_released.load(.monotonic));
    }
};

fn entryOf(mode: hurray.SyncMode) hurray.BufferEntry {
    return .{ .byte_size = 128, .device = .cuda, .sync_mode = mode, .memory_class = .unified };
}

/// A tensor of the buffer's bytes, into which it moves.
fn tensorOf(buffer: *hurray.Buffer) !hurray.Tensor {
    var pair = try hurray.Tensor.Exported.dense(.uint8, &.{128}, buffer, null);
    defer pair.deinit();
    return hurray.Tensor.import(&pair.list, &pair.context, null);
}

test "cross-check: every mode with every payload" {
    const baseline = try support.Baseline.begin();
    var device: Device = .{};
    const event = device.eventPayload();
    const stream = device.streamPayload();
    const Kind = enum { nothing, event, stream, wrong };
    const Case = struct { name: []const u8, kind: Kind, payload: hurray.SyncPayload };
    const cases = [_]Case{
        .{ .name = "no payload", .kind = .nothing, .payload = .{} },
        .{ .name = "an event of zeroes", .kind = .nothing, .payload = .{ .event = .{ .handle = null, .device = .cpu, .release = null } } },
        .{ .name = "a stream of zeroes", .kind = .nothing, .payload = .{ .stream = .{ .handle = null, .device = .cpu } } },
        .{ .name = "an event", .kind = .event, .payload = .{ .event = event } },
        .{ .name = "an event, a stream of zeroes", .kind = .event, .payload = .{ .event = event, .stream = .{ .handle = null, .device = .cpu } } },
        .{ .name = "a stream", .kind = .stream, .payload = .{ .stream = stream } },
        .{ .name = "both", .kind = .wrong, .payload = .{ .event = event, .stream = stream } },
        .{ .name = "an event without handle", .kind = .wrong, .payload = .{ .event = .{ .handle = null, .device = .cuda, .release = event.release, .context = event.context } } },
        .{ .name = "an event without release", .kind = .wrong, .payload = .{ .event = .{ .handle = event.handle, .device = .cuda, .release = null } } },
        .{ .name = "an event of the host", .kind = .wrong, .payload = .{ .event = .{ .handle = event.handle, .device = .cpu, .release = event.release, .context = event.context } } },
        .{ .name = "an event of another device", .kind = .wrong, .payload = .{ .event = .{ .handle = event.handle, .device = .metal, .release = event.release, .context = event.context } } },
        .{ .name = "a context only", .kind = .wrong, .payload = .{ .event = .{ .handle = null, .device = .cpu, .release = null, .context = event.context } } },
        .{ .name = "a stream without handle", .kind = .wrong, .payload = .{ .stream = .{ .handle = null, .device = .cuda } } },
        .{ .name = "a stream of the host", .kind = .wrong, .payload = .{ .stream = .{ .handle = stream.handle, .device = .cpu } } },
        .{ .name = "a stream of another device", .kind = .wrong, .payload = .{ .stream = .{ .handle = stream.handle, .device = .rocm } } },
    };
    var events: u32 = 0;
    var releases: u32 = 0;
    for (cases) |case| {
        for (0..256) |value| {
            const mode: hurray.SyncMode = @enumFromInt(value);
            errdefer std.debug.print("mode {d}, {s}\n", .{ value, case.name });
            const accepted = switch (mode) {
                .producer_synced => case.kind == .nothing,
                .event => case.kind == .event,
                .consumer_stream => case.kind == .stream,
                _ => false,
            };
            var diagnostics: hurray.Diagnostics = .{};
            const result = hurray.Buffer.handoff(entryOf(mode), device.lent(), case.payload, &diagnostics);
            if (accepted) {
                var buffer = try result;
                try expectEqual(entryOf(mode), try buffer.entry(null));
                try buffer.end(null);
                events += @intFromBool(mode == .event);
                releases += 1;
            } else if (value > 2) {
                try support.expectFailure(error.HurrayInvalidSyncMode, .invalid_sync_mode, "", result, &diagnostics);
            } else {
                try support.expectFailure(error.HurraySyncModeMismatch, .sync_mode_mismatch, "", result, &diagnostics);
            }
            // What was refused has called nothing back.
            try device.expectReleased(events, releases);
        }
    }
    try expectEqual(6, releases);
    try baseline.expectSame();
}

test "cross-check: the payload's device is the buffer's, whichever that is" {
    const baseline = try support.Baseline.begin();
    var device: Device = .{};
    var accepted: u32 = 0;
    for (0..9) |of_buffer| for (0..9) |of_payload| {
        const payload_device: hurray.Device = @enumFromInt(of_payload);
        for ([_]hurray.SyncMode{ .event, .consumer_stream }) |mode| {
            const entry: hurray.BufferEntry = .{ .byte_size = 128, .device = @enumFromInt(of_buffer), .sync_mode = mode };
            const payload: hurray.SyncPayload = if (mode == .event)
                .{ .event = .of(&device.event, payload_device, &device, Device.releaseEvent) }
            else
                .{ .stream = .{ .handle = &device.stream, .device = payload_device } };
            var diagnostics: hurray.Diagnostics = .{};
            const result = hurray.Buffer.handoff(entry, device.lent(), payload, &diagnostics);
            if (of_buffer == 0) {
                // Memory of the host is always producer_synced.
                try support.expectFailure(error.HurrayInvalidSyncMode, .invalid_sync_mode, "", result, &diagnostics);
            } else if (of_buffer == of_payload) {
                var buffer = try result;
                accepted += 1;
                if (mode == .event) {
                    try expectEqual(payload_device, (try buffer.event(null)).device);
                } else {
                    try expectEqual(payload_device, (try buffer.stream(null)).device);
                }
                buffer.deinit();
            } else {
                try support.expectFailure(error.HurraySyncModeMismatch, .sync_mode_mismatch, "", result, &diagnostics);
            }
        }
    };
    try expectEqual(16, accepted);
    try device.expectReleased(8, 16);
    try baseline.expectSame();
}

test "a handoff of memory that is not what its entry says is refused, and moves nothing" {
    const baseline = try support.Baseline.begin();
    var device: Device = .{};
    const payload: hurray.SyncPayload = .{ .event = device.eventPayload() };
    var diagnostics: hurray.Diagnostics = .{};
    var entry = entryOf(.event);
    entry.alignment = 32;
    try support.expectFailure(error.HurrayInvalidLayout, .invalid_layout, "", hurray.Buffer.handoff(entry, device.lent(), payload, &diagnostics), &diagnostics);
    entry.alignment = 96;
    try support.expectFailure(error.HurrayInvalidLayout, .invalid_layout, "", hurray.Buffer.handoff(entry, device.lent(), payload, &diagnostics), &diagnostics);
    entry = entryOf(.event);
    entry.device = @enumFromInt(0x55);
    try support.expectFailure(error.HurrayInvalidType, .invalid_type, "", hurray.Buffer.handoff(entry, device.lent(), payload, &diagnostics), &diagnostics);
    entry = entryOf(.event);
    entry.memory_class = @enumFromInt(0x55);
    try support.expectFailure(error.HurrayInvalidType, .invalid_type, "", hurray.Buffer.handoff(entry, device.lent(), payload, &diagnostics), &diagnostics);
    var memory = device.lent();
    memory.data = null;
    try support.expectFailure(error.HurrayNullPointer, .null_pointer, "", hurray.Buffer.handoff(entryOf(.event), memory, payload, &diagnostics), &diagnostics);
    memory.data = &device.memory[8];
    try support.expectFailure(error.HurrayMisaligned, .misaligned, "", hurray.Buffer.handoff(entryOf(.event), memory, payload, &diagnostics), &diagnostics);
    entry = entryOf(.event);
    entry.byte_size = std.math.maxInt(u64);
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", hurray.Buffer.handoff(entry, device.lent(), payload, &diagnostics), &diagnostics);
    try device.expectReleased(0, 0);
    // An empty buffer needs no memory, and has its event all the same.
    entry.byte_size = 0;
    memory = device.lent();
    memory.release = null;
    memory.data = null;
    var empty = try hurray.Buffer.handoff(entry, memory, payload, &diagnostics);
    try expectEqual(@as(*anyopaque, &device.event), (try empty.event(null)).handle);
    empty.deinit();
    try device.expectReleased(1, 0);
    try baseline.expectSame();
}

test "an event is released exactly once, by the consumer, and the memory later" {
    const baseline = try support.Baseline.begin();
    var device: Device = .{};
    var diagnostics: hurray.Diagnostics = .{};
    var buffer = try device.handOff(.event);
    const event = try buffer.event(null);
    try expectEqual(@as(*anyopaque, &device.event), event.handle);
    try expectEqual(hurray.Device.cuda, event.device);
    try expectEqual(event, try buffer.event(null));
    try device.expectReleased(0, 0);
    try buffer.releaseEvent(null);
    try device.expectReleased(1, 0);
    for (0..2) |_| {
        try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "", buffer.releaseEvent(&diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "", buffer.event(&diagnostics), &diagnostics);
    }
    try device.expectReleased(1, 0);
    buffer.deinit();
    try device.expectReleased(1, 1);
    try support.expectFailure(error.HurrayClosed, .invalid_handle, "buffer", buffer.releaseEvent(&diagnostics), &diagnostics);
    try expectError(error.HurrayClosed, buffer.event(null));
    try expectError(error.HurrayClosed, buffer.stream(null));
    try device.expectReleased(1, 1);
    try baseline.expectSame();
}

test "a buffer that ends with its event releases it, exactly once" {
    const baseline = try support.Baseline.begin();
    var device: Device = .{};
    var buffer = try device.handOff(.event);
    buffer.deinit();
    buffer.deinit();
    try device.expectReleased(1, 1);
    // In a list, in a tensor.
    buffer = try device.handOff(.event);
    var list = try hurray.BufferList.init(null);
    try list.push(&buffer, null);
    list.deinit();
    try device.expectReleased(2, 2);
    buffer = try device.handOff(.event);
    var tensor = try tensorOf(&buffer);
    tensor.deinit();
    try device.expectReleased(3, 3);
    try baseline.expectSame();
}

test "a deferred end releases the event at once, and the memory where it is drained" {
    const baseline = try support.Baseline.begin();
    var device: Device = .{};
    var buffer = try device.handOff(.event);
    const collector = try std.Thread.spawn(.{}, hurray.Buffer.deinitDeferred, .{&buffer});
    collector.join();
    try device.expectReleased(1, 0);
    try expect(device.event_thread != std.Thread.getCurrentId());
    try expectEqual(1, try hurray.drainReleases(null));
    try device.expectReleased(1, 1);
    try expectEqual(std.Thread.getCurrentId(), device.memory_thread);
    // The next handoff drains, too.
    buffer = try device.handOff(.producer_synced);
    buffer.deinitDeferred();
    try device.expectReleased(1, 1);
    buffer = try device.handOff(.consumer_stream);
    try device.expectReleased(1, 2);
    buffer.deinit();
    try device.expectReleased(1, 3);
    try baseline.expectSame();
}

test "events and streams are read and released through lists and tensors, too" {
    const baseline = try support.Baseline.begin();
    var device: Device = .{};
    var diagnostics: hurray.Diagnostics = .{};
    var list = try hurray.BufferList.init(null);
    inline for (.{ hurray.SyncMode.event, hurray.SyncMode.consumer_stream, hurray.SyncMode.producer_synced }) |mode| {
        var buffer = try device.handOff(mode);
        try list.push(&buffer, null);
    }
    try expectEqual(hurray.SyncMode.event, (try list.entry(0, null)).sync_mode);
    try expectEqual(@as(*anyopaque, &device.event), (try list.event(0, null)).handle);
    try expectEqual(device.streamPayload(), try list.stream(1, null));
    for ([_]u64{ 1, 2 }) |index| {
        try support.expectFailure(error.HurraySyncModeMismatch, .sync_mode_mismatch, "", list.event(index, &diagnostics), &diagnostics);
        try support.expectFailure(error.HurraySyncModeMismatch, .sync_mode_mismatch, "", list.releaseEvent(index, &diagnostics), &diagnostics);
    }
    for ([_]u64{ 0, 2 }) |index| {
        try support.expectFailure(error.HurraySyncModeMismatch, .sync_mode_mismatch, "", list.stream(index, &diagnostics), &diagnostics);
    }
    try support.expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "", list.event(3, &diagnostics), &diagnostics);
    try list.releaseEvent(0, null);
    try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "", list.releaseEvent(0, &diagnostics), &diagnostics);
    try device.expectReleased(1, 0);
    list.deinit();
    try device.expectReleased(1, 3);

    var buffer = try device.handOff(.event);
    var tensor = try tensorOf(&buffer);
    try expectEqual(hurray.SyncMode.event, (try tensor.bufferEntry(0, null)).sync_mode);
    try expectEqual(@as(*anyopaque, &device.event), (try tensor.bufferEvent(0, null)).handle);
    try support.expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "", tensor.releaseBufferEvent(1, &diagnostics), &diagnostics);
    try tensor.releaseBufferEvent(0, null);
    try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "", tensor.releaseBufferEvent(0, &diagnostics), &diagnostics);
    tensor.deinit();
    try expectError(error.HurrayClosed, tensor.bufferEvent(0, null));
    try device.expectReleased(2, 4);
    buffer = try device.handOff(.consumer_stream);
    tensor = try tensorOf(&buffer);
    try expectEqual(device.streamPayload(), try tensor.bufferStream(0, null));
    tensor.deinit();
    try device.expectReleased(2, 5);
    try baseline.expectSame();
}

test "shares and slices carry no event and no stream; a tensor that a device may still be writing is not exported" {
    const baseline = try support.Baseline.begin();
    var device: Device = .{};
    var diagnostics: hurray.Diagnostics = .{};
    var buffer = try device.handOff(.event);
    var share = try buffer.share(null);
    var slice = try buffer.slice(64, 64, null);
    for ([_]*hurray.Buffer{ &share, &slice }) |part| {
        try support.expectFailure(error.HurraySyncModeMismatch, .sync_mode_mismatch, "", part.event(&diagnostics), &diagnostics);
        try support.expectFailure(error.HurraySyncModeMismatch, .sync_mode_mismatch, "", part.releaseEvent(&diagnostics), &diagnostics);
        part.deinit();
    }
    try device.expectReleased(0, 0);
    // The end of the buffer ends its event, while a share keeps the memory.
    share = try buffer.share(null);
    buffer.deinit();
    try device.expectReleased(1, 0);
    share.deinit();
    try device.expectReleased(1, 1);
    buffer = try device.handOff(.consumer_stream);
    share = try buffer.share(null);
    buffer.deinit();
    try support.expectFailure(error.HurraySyncModeMismatch, .sync_mode_mismatch, "", share.stream(&diagnostics), &diagnostics);
    share.deinit();
    try device.expectReleased(1, 2);

    for ([_]hurray.SyncMode{ .event, .consumer_stream }) |mode| {
        buffer = try device.handOff(mode);
        var tensor = try tensorOf(&buffer);
        try support.expectFailure(error.HurraySyncModeMismatch, .sync_mode_mismatch, "", tensor.exportPair(&diagnostics), &diagnostics);
        tensor.deinit();
    }
    try device.expectReleased(2, 4);
    try baseline.expectSame();
}

test "memory of a device gives no view of the host, whatever its mode" {
    const baseline = try support.Baseline.begin();
    var device: Device = .{};
    var diagnostics: hurray.Diagnostics = .{};
    for ([_]hurray.SyncMode{ .producer_synced, .event, .consumer_stream }) |mode| {
        var buffer = try device.handOff(mode);
        try support.expectFailure(error.HurrayUnsupported, .unsupported, "device 1", buffer.bytes(&diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayUnsupported, .unsupported, "device 1", buffer.bytesMutable(&diagnostics), &diagnostics);
        var tensor = try tensorOf(&buffer);
        defer tensor.deinit();
        const view = try tensor.view(null);
        // The address is there, for work of the device.
        try expectEqual(@as(?*anyopaque, &device.memory), view.address());
        try support.expectFailure(error.HurrayUnsupported, .unsupported, "device 1", view.slice(u8, &diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayUnsupported, .unsupported, "device 1", view.sliceMutable(u8, &diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayUnsupported, .unsupported, "device 1", view.tryAligned(u8, &diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayUnsupported, .unsupported, "device 1", view.strided(u8, &diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayUnsupported, .unsupported, "device 1", view.packedView(u4, &diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayUnsupported, .unsupported, "device 1", view.bytes(&diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayUnsupported, .unsupported, "", tensor.copy(0, &diagnostics), &diagnostics);
    }
    try baseline.expectSame();
}

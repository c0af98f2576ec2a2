//! Callbacks of C++ that throw: a typed error, everything has ended exactly once, and the log is told.

const std = @import("std");
const hurray = @import("hurray");

const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;
const expectError = std.testing.expectError;

extern "c" fn throwing_release(buffer: ?*anyopaque, context: ?*anyopaque) callconv(.c) void;
extern "c" fn throwing_event_release(event: ?*anyopaque, context: ?*anyopaque) callconv(.c) void;
extern "c" fn throwing_export_tensor(
    context: ?*anyopaque,
    stream: ?*anyopaque,
    device: u8,
    list: ?*?*hurray.c.HurrayBufferList,
    tensor_context: ?*?*hurray.c.HurrayTensorContext,
    report: ?*hurray.c.HurrayError,
) callconv(.c) i32;

var memory: [64]u8 align(64) = @splat(0);
var event: u8 = 0;

fn throwing(releases: *u32) hurray.DeviceMemory {
    return .{ .data = &memory, .release = throwing_release, .context = releases };
}

fn entryOf(mode: hurray.SyncMode) hurray.BufferEntry {
    return .{ .byte_size = 64, .device = .cuda, .sync_mode = mode };
}

/// What the log was told.
const Log = struct {
    lines: u32 = 0,
    status: hurray.Status = .ok,
    mentions_callback: bool = false,
    replaced: hurray.Error!void = {},
    thread: std.Thread.Id = 0,

    fn write(self: *Log, status: hurray.Status, message: []const u8) void {
        self.lines += 1;
        self.status = status;
        self.mentions_callback = std.mem.indexOf(u8, message, "callback") != null;
        self.thread = std.Thread.getCurrentId();
        // It may use the package, but not replace itself.
        self.replaced = hurray.clearLog(null);
    }
};

test "a release that throws is a typed error of the end, and everything has ended exactly once" {
    const handles = try hurray.liveHandles(.any, null);
    var releases: u32 = 0;
    var diagnostics: hurray.Diagnostics = .{};
    var buffer = try hurray.Buffer.handoff(entryOf(.producer_synced), throwing(&releases), .{}, null);
    try expectError(error.HurrayInternalPanic, buffer.end(&diagnostics));
    try expectEqual(hurray.Status.internal_panic, diagnostics.code());
    try expectError(error.HurrayClosed, buffer.end(null));
    try expectEqual(1, releases);
    // Those behind it in a list are ended, too.
    var list = try hurray.BufferList.init(null);
    for (0..3) |_| {
        buffer = try hurray.Buffer.handoff(entryOf(.producer_synced), throwing(&releases), .{}, null);
        try list.push(&buffer, null);
    }
    try expectError(error.HurrayInternalPanic, list.end(null));
    try expectEqual(4, releases);
    // Without anybody to tell.
    buffer = try hurray.Buffer.handoff(entryOf(.producer_synced), throwing(&releases), .{}, null);
    buffer.deinit();
    try expectEqual(5, releases);
    // Where it is drained.
    buffer = try hurray.Buffer.handoff(entryOf(.producer_synced), throwing(&releases), .{}, null);
    buffer.deinitDeferred();
    try expectEqual(5, releases);
    try expectError(error.HurrayInternalPanic, hurray.drainReleases(null));
    try expectEqual(6, releases);
    try expectEqual(0, try hurray.drainReleases(null));
    try expectEqual(handles, try hurray.liveHandles(.any, null));
}

test "the release of an event that throws is a typed error, and the event is released" {
    const handles = try hurray.liveHandles(.any, null);
    var events: u32 = 0;
    var buffer = try hurray.Buffer.handoff(entryOf(.event), .{ .data = &memory }, .{
        .event = .{ .handle = &event, .device = .cuda, .release = throwing_event_release, .context = &events },
    }, null);
    try expectError(error.HurrayInternalPanic, buffer.releaseEvent(null));
    try expectError(error.HurrayInvalidHandle, buffer.releaseEvent(null));
    try expectEqual(1, events);
    try buffer.end(null);
    try expectEqual(1, events);
    try expectEqual(handles, try hurray.liveHandles(.any, null));
}

test "a producer that throws is a typed error of the request" {
    const handles = try hurray.liveHandles(.any, null);
    var calls: u32 = 0;
    var producer: hurray.c.HurrayProducer = .{
        .struct_size = @sizeOf(hurray.c.HurrayProducer),
        .abi_version = hurray.c_abi_version,
        .context = &calls,
        .export_tensor = @ptrCast(&throwing_export_tensor),
    };
    var diagnostics: hurray.Diagnostics = .{};
    try expectError(error.HurrayInternalPanic, hurray.Producer.requestFrom(&producer, null, &diagnostics));
    try expectEqual(1, calls);
    try hurray.Producer.releaseRaw(&producer, null);
    try expectEqual(handles, try hurray.liveHandles(.any, null));
}

test "the log is told of what was caught, at once, until it is cleared or replaced" {
    var releases: u32 = 0;
    var first: Log = .{};
    var second: Log = .{};
    try hurray.setLog(&first, Log.write, null);
    var buffer = try hurray.Buffer.handoff(entryOf(.producer_synced), throwing(&releases), .{}, null);
    buffer.deinit();
    try expectEqual(1, first.lines);
    try expectEqual(hurray.Status.internal_panic, first.status);
    try expect(first.mentions_callback);
    try expectEqual(std.Thread.getCurrentId(), first.thread);
    try expectError(error.HurrayInvalidArgument, first.replaced);

    try hurray.setLog(&second, Log.write, null);
    buffer = try hurray.Buffer.handoff(entryOf(.producer_synced), throwing(&releases), .{}, null);
    buffer.deinit();
    try expectEqual(1, first.lines);
    try expectEqual(1, second.lines);

    try hurray.clearLog(null);
    buffer = try hurray.Buffer.handoff(entryOf(.producer_synced), throwing(&releases), .{}, null);
    buffer.deinit();
    try expectEqual(1, second.lines);
    try expectEqual(3, releases);
    // It can be read later, too.
    var index: u32 = 0;
    var last: hurray.Diagnostics = .{};
    while (try hurray.readDiagnostic(index, null)) |kept| : (index += 1) last = kept;
    try expect(index >= 3);
    try expectEqual(hurray.Status.internal_panic, last.code());
    try expect(std.mem.indexOf(u8, last.message(), "callback") != null);
}

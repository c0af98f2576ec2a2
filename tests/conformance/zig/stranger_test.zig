//! Handles of another copy of the library (a spy that keeps a log of every call), and of strangers.

const std = @import("std");
const hurray = @import("hurray");
const c = @import("device.zig").c;

const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;
const expectError = std.testing.expectError;

/// A spy, and a pair of it in objects of this package.
const Copy = struct {
    spy: *c.Spy,
    list: hurray.BufferList,
    context: hurray.TensorContext,
    handles: hurray.LiveHandles,

    fn init(version: u32) !Copy {
        const spy = c.spy_new(version) orelse return error.OutOfMemory;
        var list: ?*anyopaque = null;
        var context: ?*anyopaque = null;
        c.spy_pair_new(spy, &list, &context);
        return of(spy, list, context);
    }

    fn of(spy: *c.Spy, list: ?*anyopaque, context: ?*anyopaque) !Copy {
        return .{
            .spy = spy,
            .handles = try hurray.liveHandles(.any, null),
            .list = try .fromRaw(@ptrCast(list), null),
            .context = try .fromRaw(@ptrCast(context), null),
        };
    }

    /// Ends everything, and finds that nothing was left or used wrongly.
    fn expectClean(self: *Copy) !void {
        self.list.deinit();
        self.context.deinit();
        try expectEqual(0, c.spy_live_handles(self.spy));
        try expectEqual(0, c.spy_misuses(self.spy));
        try expectEqual(self.handles, try hurray.liveHandles(.any, null));
        c.spy_destroy(self.spy);
    }

    fn expectRefused(self: *Copy, version: u32) !void {
        const before = c.spy_live_handles(self.spy);
        var diagnostics: hurray.Diagnostics = .{};
        try expectError(error.HurrayVersionMismatch, hurray.Tensor.import(&self.list, &self.context, &diagnostics));
        try expectEqual(hurray.Status.version_mismatch, diagnostics.code());
        try expectEqual(hurray.Versions{ .built_for = hurray.c_abi_version, .found = version }, diagnostics.versions().?);
        try expectError(error.HurrayVersionMismatch, self.context.descriptor(&diagnostics));
        try expectEqual(hurray.Versions{ .built_for = hurray.c_abi_version, .found = version }, diagnostics.versions().?);
        // The version was asked for first, and nothing else was.
        var line: [64]u8 = undefined;
        const length = c.spy_log_line_copy(self.spy, 0, &line, line.len);
        try std.testing.expectEqualStrings("tensor_context_abi_version", line[0..@intCast(length)]);
        try expectEqual(0, c.spy_accessor_calls(self.spy));
        // Both are still the caller's.
        try expectEqual(before, c.spy_live_handles(self.spy));
        try expectEqual(version, try self.context.abiVersion(null));
        try self.expectClean();
    }

    fn expectAccepted(self: *Copy) !void {
        var diagnostics: hurray.Diagnostics = .{};
        errdefer std.debug.print("{f}\n", .{&diagnostics});
        try expect((try self.context.descriptor(&diagnostics)).len > 20);
        var tensor = try hurray.Tensor.import(&self.list, &self.context, &diagnostics);
        const view = try tensor.view(&diagnostics);
        try expectEqual(12, view.elementCount());
        for (try view.slice(f32, &diagnostics), 0..) |value, i| try expectEqual(@as(f32, @floatFromInt(i)), value);
        // Its memory outlives it, in a share of this copy's.
        var share = try tensor.share(&diagnostics);
        tensor.deinit();
        try expectEqual(11, (try (try share.view(&diagnostics)).slice(f32, &diagnostics))[11]);
        share.deinit();
        try self.expectClean();
    }
};

test "a context of version 3 is refused, whatever its copy vouches for, and nothing but the version is read" {
    var copy = try Copy.init(3);
    try copy.expectRefused(3);
    copy = try Copy.init(3);
    c.spy_vouch(copy.spy, 1, 5);
    try copy.expectRefused(3);
}

test "a context of version 5 by a copy that vouches for nothing is refused, and nothing but the version is read" {
    var copy = try Copy.init(5);
    try copy.expectRefused(5);
    // To vouch for one of the two versions is not enough.
    copy = try Copy.init(5);
    c.spy_vouch(copy.spy, 5, 5);
    try copy.expectRefused(5);
    copy = try Copy.init(5);
    c.spy_vouch(copy.spy, 1, 4);
    try copy.expectRefused(5);
}

test "a context of version 5 by a copy that vouches for both versions is accepted" {
    var copy = try Copy.init(5);
    c.spy_vouch(copy.spy, 4, 5);
    try copy.expectAccepted();
}

test "a context of another copy and of the package's own version is accepted" {
    var copy = try Copy.init(hurray.c_abi_version);
    try copy.expectAccepted();
}

test "a producer that answers with a context of version 3 or 5 is refused, and nothing but the version is read" {
    const Source = struct {
        spy: *c.Spy,

        fn exportTensor(self: *@This(), _: ?hurray.Stream, diagnostics: *hurray.Diagnostics) anyerror!hurray.Tensor.Exported {
            var list: ?*anyopaque = null;
            var context: ?*anyopaque = null;
            c.spy_pair_new(self.spy, &list, &context);
            return .{
                .list = try .fromRaw(@ptrCast(list), diagnostics),
                .context = try .fromRaw(@ptrCast(context), diagnostics),
            };
        }

        fn release(_: *@This()) void {}
    };
    for ([_]u32{ 3, 5 }) |version| {
        var source: Source = .{ .spy = c.spy_new(version).? };
        defer c.spy_destroy(source.spy);
        var producer: hurray.Producer = .init(&source, Source.exportTensor, Source.release);
        defer producer.deinit();
        var diagnostics: hurray.Diagnostics = .{};
        try expectError(error.HurrayVersionMismatch, producer.request(null, &diagnostics));
        // What came was ended, and nothing else of it touched.
        try expectEqual(0, c.spy_live_handles(source.spy));
        try expectEqual(0, c.spy_misuses(source.spy));
        try expectEqual(2, c.spy_accessor_calls(source.spy));
        try expectEqual(1, c.spy_calls_of(source.spy, "buffer_list_destroy"));
        try expectEqual(1, c.spy_calls_of(source.spy, "tensor_context_destroy"));
    }
}

test "what the other copy fails with is this package's error" {
    var copy = try Copy.init(hurray.c_abi_version);
    const before = c.spy_live_handles(copy.spy);
    for ([_][:0]const u8{ "tensor_context_abi_version", "tensor_context_descriptor" }) |function| {
        try expectEqual(1, c.spy_answer(copy.spy, function, -13));
        try expectError(error.HurrayOutOfMemory, hurray.Tensor.import(&copy.list, &copy.context, null));
        try expectError(error.HurrayOutOfMemory, copy.context.descriptor(null));
        try expectEqual(1, c.spy_answer(copy.spy, function, 0));
    }
    try expectEqual(1, c.spy_answer(copy.spy, "buffer_list_len", -999));
    try expectError(error.HurrayUnknownStatus, copy.list.len(null));
    try expectEqual(1, c.spy_answer(copy.spy, "buffer_list_len", 0));
    // Nothing has moved.
    try expectEqual(before, c.spy_live_handles(copy.spy));
    try copy.expectAccepted();
}

const Released = struct {
    event: u8 = 0,
    count: u32 = 0,

    fn release(event: ?*anyopaque, context: ?*anyopaque) callconv(.c) void {
        const self: *Released = @ptrCast(@alignCast(context.?));
        std.debug.assert(event.? == @as(*anyopaque, &self.event));
        self.count += 1;
    }
};

test "the event of another copy's buffer is released exactly once, its stream is read" {
    const spy = c.spy_new(hurray.c_abi_version).?;
    var released: Released = .{};
    var list: ?*anyopaque = null;
    var context: ?*anyopaque = null;
    for ([_]bool{ true, false }) |by_consumer| {
        const before = released.count;
        c.spy_event_pair_new(spy, &released.event, @ptrCast(@constCast(&Released.release)), &released, &list, &context);
        var copy = try Copy.of(spy, list, context);
        var tensor = try hurray.Tensor.import(&copy.list, &copy.context, null);
        const event = try tensor.bufferEvent(0, null);
        try expectEqual(@as(*anyopaque, &released.event), event.handle);
        try expectEqual(hurray.Device.cuda, event.device);
        var diagnostics: hurray.Diagnostics = .{};
        try expectError(error.HurrayUnsupported, (try tensor.view(null)).slice(f32, &diagnostics));
        if (by_consumer) {
            try tensor.releaseBufferEvent(0, null);
            try expectError(error.HurrayInvalidHandle, tensor.releaseBufferEvent(0, null));
            try expectEqual(before + 1, released.count);
        }
        tensor.deinit();
        try expectEqual(before + 1, released.count);
        try expectEqual(0, c.spy_live_handles(spy));
    }
    c.spy_stream_pair_new(spy, &released, &list, &context);
    var copy = try Copy.of(spy, list, context);
    var tensor = try hurray.Tensor.import(&copy.list, &copy.context, null);
    try expectEqual(hurray.Stream{ .handle = &released, .device = .cuda }, try tensor.bufferStream(0, null));
    tensor.deinit();
    try copy.expectClean();
}

/// Refuses a pointer as a handle of every kind, wherever it is given.
fn expectStranger(pointer: *anyopaque) !void {
    var diagnostics: hurray.Diagnostics = .{};
    const handles = try hurray.liveHandles(.any, null);
    var buffer = try hurray.Buffer.fromRaw(@ptrCast(pointer), null);
    try expectError(error.HurrayInvalidHandle, buffer.info(&diagnostics));
    try expectEqual(hurray.Status.invalid_handle, diagnostics.code());
    try expectError(error.HurrayInvalidHandle, buffer.entry(null));
    try expectError(error.HurrayInvalidHandle, buffer.share(null));
    try expectError(error.HurrayInvalidHandle, buffer.slice(0, 0, null));
    try expectError(error.HurrayInvalidHandle, buffer.event(null));
    try expectError(error.HurrayInvalidHandle, buffer.releaseEvent(null));
    try expectError(error.HurrayInvalidHandle, buffer.stream(null));
    var list = try hurray.BufferList.fromRaw(@ptrCast(pointer), null);
    try expectError(error.HurrayInvalidHandle, list.len(null));
    try expectError(error.HurrayInvalidHandle, list.share(0, null));
    var context = try hurray.TensorContext.fromRaw(@ptrCast(pointer), null);
    try expectError(error.HurrayInvalidHandle, context.abiVersion(null));
    try expectError(error.HurrayInvalidHandle, context.descriptor(null));
    var tensor = try hurray.Tensor.fromRaw(@ptrCast(pointer), null);
    try expectError(error.HurrayInvalidHandle, tensor.view(null));
    try expectError(error.HurrayInvalidHandle, tensor.share(null));
    try expectError(error.HurrayInvalidHandle, tensor.exportPair(null));
    try expectError(error.HurrayInvalidHandle, tensor.copy(0, null));
    try expectError(error.HurrayInvalidHandle, hurray.Tensor.import(&list, &context, &diagnostics));
    // Beside handles of this copy's, too, which stay where they are.
    var own = try hurray.Tensor.allocate(.float32, &.{4}, 0, null);
    var pair = try own.exportPair(null);
    try expectError(error.HurrayInvalidHandle, hurray.Tensor.import(&list, &pair.context, null));
    try expectError(error.HurrayInvalidHandle, hurray.Tensor.import(&pair.list, &context, null));
    try expectError(error.HurrayInvalidHandle, pair.list.push(&buffer, null));
    var good = try hurray.Tensor.import(&pair.list, &pair.context, null);
    good.deinit();
    own.deinit();
    // Neither can any of them be ended.
    try expectError(error.HurrayInvalidHandle, buffer.end(null));
    try expectError(error.HurrayInvalidHandle, list.end(null));
    try expectError(error.HurrayInvalidHandle, context.end(null));
    try expectError(error.HurrayInvalidHandle, tensor.end(null));
    try expectEqual(handles, try hurray.liveHandles(.any, null));
}

test "a stranger's magic is refused everywhere, and nothing behind it is read" {
    // The page behind the magic cannot be read: reading on would end this process.
    const foreign = c.stranger_foreign_new().?;
    defer c.stranger_free(foreign);
    try expectStranger(foreign);
    for ([_]u32{ 8, 12, 16, 24 }) |readable| {
        const stranger = c.stranger_new(c.stranger_wrong_magic(), 1, hurray.c_abi_version, readable).?;
        defer c.stranger_free(stranger);
        try expectStranger(stranger);
    }
}

test "the right magic with a generation that does not exist is refused everywhere" {
    for ([_]u32{ c.STRANGER_BUFFER, c.STRANGER_LIST, c.STRANGER_CONTEXT, c.STRANGER_TENSOR }) |kind| {
        const stranger = c.stranger_generation_new(kind).?;
        defer c.stranger_free(stranger);
        try expectStranger(stranger);
    }
}

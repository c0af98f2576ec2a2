//! Handles that are used wrongly: ended twice, used after their end, borrowed, of another kind. The package's own check (see
//! lifetime_test) does not see what other code does with the bare pointers; the library's does.

const std = @import("std");
const hurray = @import("hurray");
const abi = @import("hurray_abi");
const support = @import("support.zig");

const gpa = support.gpa;
const expectEqual = std.testing.expectEqual;

/// Turns the library's check of handles on, and at the end back to what it was.
const Checked = struct {
    before: bool,

    fn begin() !Checked {
        const before = (try hurray.runtimeInfo(null)).handle_checks;
        try hurray.setHandleChecks(true, null);
        return .{ .before = before };
    }

    fn end(self: Checked) void {
        hurray.setHandleChecks(self.before, null) catch unreachable;
    }
};

/// One object and another one for the same handle, as careless code would make it.
fn Twice(comptime T: type) type {
    return struct { T, T };
}

fn twice(object: anytype) !Twice(@TypeOf(object)) {
    var given = object;
    const pointer = try given.intoRaw(null);
    return .{ try .fromRaw(pointer, null), try .fromRaw(pointer, null) };
}

fn expectDestroyed(object: anytype, use: anytype) !void {
    var diagnostics: hurray.Diagnostics = .{};
    var first, var second = try twice(object);
    try first.end(&diagnostics);
    // Once more through the same object: the package finds it.
    try support.expectFailure(error.HurrayClosed, .invalid_handle, "ended before", first.end(&diagnostics), &diagnostics);
    // Used through the other one, then ended through it: the library finds it.
    try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "", use(&second, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "destroyed before", second.end(&diagnostics), &diagnostics);
    second.deinit();
}

test "a handle that is destroyed twice or used after its end is a typed error" {
    const baseline = try support.Baseline.begin();
    const checked = try Checked.begin();
    defer checked.end();
    const tensor = try hurray.Tensor.allocate(.float32, &.{2}, 0, null);
    const pair = try tensor.exportPair(null);
    try expectDestroyed(try tensor.shareBuffer(0, null), hurray.Buffer.info);
    try expectDestroyed(tensor, hurray.Tensor.view);
    try expectDestroyed(pair.list, hurray.BufferList.len);
    try expectDestroyed(pair.context, hurray.TensorContext.abiVersion);
    try baseline.expectSame();
}

test "a copy of an ended value is a typed error in every build, where handles are checked" {
    const checked = try Checked.begin();
    defer checked.end();
    // Without safety checks the package remembers nothing, and the library answers.
    const expected: hurray.Error = if (std.debug.runtime_safety) error.HurrayClosed else error.HurrayInvalidHandle;
    var original = try hurray.Tensor.allocate(.float32, &.{2}, 0, null);
    var copy = original;
    original.deinit();
    try std.testing.expectError(expected, copy.view(null));
    try std.testing.expectError(expected, copy.share(null));
    try std.testing.expectError(expected, copy.exportPair(null));
    try std.testing.expectError(expected, copy.end(null));
}

/// A function of the library that this package does not give out.
fn bare(comptime name: []const u8) !@FieldType(abi.Table, name) {
    try hurray.load(null, null);
    const library = std.c.dlopen((try hurray.runtimeInfo(null)).library_path, .{ .NOW = true }).?;
    return @ptrCast(@alignCast(std.c.dlsym(library, "hurray_" ++ name).?));
}

test "a borrowed buffer can be neither ended nor pushed" {
    const baseline = try support.Baseline.begin();
    const get = try bare("buffer_list_get");
    const borrow = try bare("tensor_buffer");
    var diagnostics: hurray.Diagnostics = .{};
    var tensor = try hurray.Tensor.allocate(.float32, &.{2}, 0, null);
    var list = try hurray.BufferList.init(null);
    var other = try hurray.BufferList.init(null);
    var pushed = try hurray.Buffer.allocate(64, 0, null);
    try list.push(&pushed, null);
    var pointers: [2]?*hurray.c.HurrayBuffer = undefined;
    try expectEqual(0, get(list.handle.pointer.?, 0, &pointers[0]));
    try expectEqual(0, borrow(tensor.handle.pointer.?, 0, &pointers[1], null));
    for (pointers) |pointer| {
        var borrowed = try hurray.Buffer.fromRaw(pointer, null);
        try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "borrowed", other.push(&borrowed, &diagnostics), &diagnostics);
        // It is where it was.
        try std.testing.expect((try borrowed.info(null)).borrowed);
        try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "borrowed", borrowed.end(&diagnostics), &diagnostics);
    }
    try expectEqual(0, try other.len(null));
    try expectEqual(1, try list.len(null));
    try expectEqual(64, (try list.info(0, null)).byte_size);
    try expectEqual(2, (try (try tensor.view(null)).slice(f32, null)).len);
    try list.end(null);
    try other.end(null);
    try tensor.end(null);
    try baseline.expectSame();
}

test "a pointer to something else is refused" {
    var diagnostics: hurray.Diagnostics = .{};
    var nothing: [256]u8 align(64) = @splat(0);
    var tensor = try hurray.Tensor.allocate(.float32, &.{2}, 0, null);
    defer tensor.deinit();
    for ([_]*anyopaque{ &nothing, @ptrCast(tensor.handle.pointer.?) }) |pointer| {
        var buffer = try hurray.Buffer.fromRaw(@ptrCast(pointer), null);
        try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "", buffer.info(&diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "", buffer.share(&diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "", buffer.end(&diagnostics), &diagnostics);
        var list = try hurray.BufferList.fromRaw(@ptrCast(pointer), null);
        try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "", list.len(&diagnostics), &diagnostics);
        var context = try hurray.TensorContext.fromRaw(@ptrCast(pointer), null);
        try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "", context.abiVersion(&diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "", hurray.Tensor.import(&list, &context, &diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "", list.end(&diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "", context.end(&diagnostics), &diagnostics);
    }
    // An object of the right kind is none of the others'.
    var stranger = try hurray.Tensor.fromRaw(@ptrCast(@as(*anyopaque, &nothing)), null);
    try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "", stranger.view(&diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "", stranger.end(&diagnostics), &diagnostics);
    try expectEqual(2, (try tensor.view(null)).elementCount());
}

/// Ends, from within a release, the list that is being ended, and something else.
const Reentrant = struct {
    list: hurray.BufferList,
    /// The same list, as other code would know it.
    pointer: *hurray.c.HurrayBufferList,
    other: hurray.Tensor,
    destroy: @FieldType(abi.Table, "buffer_list_destroy"),
    released: u32 = 0,

    fn release(self: *Reentrant, _: []u8) void {
        self.released += 1;
        self.list.deinit();
        var variable: ?*hurray.c.HurrayBufferList = self.pointer;
        std.debug.assert(self.destroy(&variable) == @intFromEnum(hurray.Status.invalid_handle));
        self.other.deinit();
    }
};

test "a release may end the list that is being ended, and another object: all of it happens once" {
    const baseline = try support.Baseline.begin();
    var reentrant: Reentrant = .{
        .list = try .init(null),
        .pointer = undefined,
        .other = try .fromOwned(gpa, try gpa.alloc(u8, 9), &.{9}, .{}, null),
        .destroy = try bare("buffer_list_destroy"),
    };
    reentrant.pointer = reentrant.list.handle.pointer.?;
    var memory: [3]u8 = .{ 1, 2, 3 };
    for (0..3) |_| {
        var lent = try hurray.Buffer.fromBorrowed(gpa, @as([]u8, &memory), &reentrant, Reentrant.release, null);
        try reentrant.list.push(&lent.buffer, null);
    }
    try reentrant.list.end(null);
    try expectEqual(3, reentrant.released);
    reentrant.list.deinit();
    try expectEqual(3, reentrant.released);
    try baseline.expectSame();
}

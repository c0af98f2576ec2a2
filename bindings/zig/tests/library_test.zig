//! The loaded library, and what its reports say.

const std = @import("std");
const hurray = @import("hurray");
const support = @import("support.zig");

const expectEqual = std.testing.expectEqual;
const expectEqualStrings = std.testing.expectEqualStrings;

test "the library reports path, version and build" {
    const info = try hurray.runtimeInfo(null);
    try expectEqual(hurray.c_abi_version, info.c_abi_version);
    try std.testing.expect(info.build_id.len > 0);
    try std.testing.expect(info.version.len > 0);
    const wanted = std.mem.span(std.c.getenv("HURRAY_LIBRARY").?);
    try expectEqualStrings(std.fs.path.basename(wanted), std.fs.path.basename(info.library_path));
}

test "a second library is refused, a second load of the same is a no-op" {
    var diagnostics: hurray.Diagnostics = .{};
    try hurray.load(null, &diagnostics);
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "loaded already", hurray.load("/nonexistent/libhurray.so.1", &diagnostics), &diagnostics);
}

test "handles are counted by kind" {
    const baseline = try support.Baseline.begin();
    const before = try hurray.liveHandles(.buffer, null);
    var buffer = try hurray.Buffer.allocate(1000, 0, null);
    const during = try hurray.liveHandles(.buffer, null);
    try expectEqual(before.handles + 1, during.handles);
    try expectEqual(before.bytes + 1000, during.bytes);
    try expectEqual(baseline.before.handles + 1, (try hurray.liveHandles(.any, null)).handles);
    buffer.deinit();
    try baseline.expectSame();
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "kind", hurray.liveHandles(@enumFromInt(999), &diagnostics), &diagnostics);
}

test "checks of destroyed handles find a foreign second end" {
    const before = (try hurray.runtimeInfo(null)).handle_checks;
    try hurray.setHandleChecks(true, null);
    defer hurray.setHandleChecks(before, null) catch unreachable;
    try expectEqual(true, (try hurray.runtimeInfo(null)).handle_checks);
    var tensor = try hurray.Tensor.allocate(.float32, &.{2}, 0, null);
    const raw = try tensor.intoRaw(null);
    var first = try hurray.Tensor.fromRaw(raw, null);
    var second = try hurray.Tensor.fromRaw(raw, null);
    first.deinit();
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "", second.share(&diagnostics), &diagnostics);
    // The handle is gone: nothing is left that could be ended.
    _ = try second.intoRaw(null);
}

test "reports of caught exceptions can be read" {
    var index: u32 = 0;
    while (try hurray.readDiagnostic(index, null)) |kept| : (index += 1) {
        try std.testing.expect(kept.code() == .internal_panic or kept.code() == .internal);
        try std.testing.expect(index < 32);
    }
}

test "the byte offset is the number at the end of the message" {
    const cases = .{
        .{ "shape: wrong [byte 12]", @as(?u64, 12) },
        .{ "shape: wrong [byte 18446744073709551615]", @as(?u64, 18446744073709551615) },
        .{ "shape: wrong [byte 18446744073709551616]", @as(?u64, null) },
        .{ "[byte 3] at the front", @as(?u64, null) },
        .{ "twice [byte 3] and [byte 4]", @as(?u64, 4) },
        .{ "sign [byte -3]", @as(?u64, null) },
        .{ "underscore [byte 1_0]", @as(?u64, null) },
        .{ "nothing [byte ]", @as(?u64, null) },
        .{ "no mark", @as(?u64, null) },
        .{ "", @as(?u64, null) },
    };
    inline for (cases) |case| {
        var diagnostics: hurray.Diagnostics = .{};
        diagnostics.report.code = -3;
        @memcpy(diagnostics.report.message[0..case[0].len], case[0]);
        try expectEqual(case[1], diagnostics.offset());
        try expectEqualStrings(case[0], diagnostics.message());
    }
}

test "a code that nobody knows is an error with its number" {
    const errors = @import("hurray_abi").errors;
    try expectEqual(error.HurrayUnknownStatus, errors.errorOf(-1000));
    try expectEqual(error.HurrayUnknownStatus, errors.errorOf(1));
    try expectEqual(null, errors.statusOf(error.HurrayUnknownStatus));
    var diagnostics: hurray.Diagnostics = .{};
    diagnostics.report.code = -1000;
    var buffer: [64]u8 = undefined;
    try expectEqualStrings("status -1000: ", try std.fmt.bufPrint(&buffer, "{f}", .{&diagnostics}));
}

test "every code has its error and its name in the library" {
    const abi = @import("hurray_abi");
    try hurray.load(null, null);
    const library: *anyopaque = std.c.dlopen((try hurray.runtimeInfo(null)).library_path, .{ .NOW = true }).?;
    const nameOf: @FieldType(abi.Table, "status_name") = @ptrCast(@alignCast(std.c.dlsym(library, "hurray_status_name").?));
    inline for (@typeInfo(hurray.Status).@"enum".fields) |field| {
        const name = std.mem.span(nameOf(field.value));
        var buffer: [64]u8 = undefined;
        try expectEqualStrings(name, std.ascii.upperString(&buffer, field.name));
        if (field.value != 0) try expectEqual(field.value, abi.errors.statusOf(abi.errors.errorOf(field.value)).?);
    }
}

test "everything that is public compiles" {
    @setEvalBranchQuota(20_000);
    reference(hurray);
}

fn reference(comptime T: type) void {
    inline for (comptime std.meta.declarations(T)) |declaration| {
        if (comptime std.mem.eql(u8, declaration.name, "c")) continue;
        const value = &@field(T, declaration.name);
        if (@TypeOf(value.*) == type) switch (@typeInfo(value.*)) {
            .@"struct", .@"enum", .@"union" => reference(value.*),
            else => {},
        };
    }
}

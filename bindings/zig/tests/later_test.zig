//! Libraries of a later version: refused unless they vouch for this package's, and then used like any other.

const std = @import("std");
const hurray = @import("hurray");

const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;

fn variable(name: [:0]const u8) [:0]const u8 {
    return std.mem.span(std.c.getenv(name).?);
}

test "one that does not vouch is refused" {
    var diagnostics: hurray.Diagnostics = .{};
    try std.testing.expectError(error.HurrayVersionMismatch, hurray.load(variable("HURRAY_NOT_VOUCHING"), &diagnostics));
    try expectEqual(hurray.Versions{ .built_for = 4, .found = 5 }, diagnostics.versions().?);
}

test "one that vouches and lacks functions is refused, and the first of them named" {
    var diagnostics: hurray.Diagnostics = .{};
    try std.testing.expectError(error.HurrayVersionMismatch, hurray.load(variable("HURRAY_INCOMPLETE"), &diagnostics));
    try expect(std.mem.indexOf(u8, diagnostics.message(), "hurray_build_id") != null);
}

fn loadOnce(successes: *std.atomic.Value(u32)) void {
    if (hurray.load(variable("HURRAY_VOUCHING"), null)) |_| {
        _ = successes.fetchAdd(1, .monotonic);
    } else |err| {
        std.debug.assert(err == error.HurrayInvalidArgument);
    }
    // Whoever came late finds the library loaded.
    var tensor = hurray.Tensor.allocate(.float32, &.{3}, 0, null) catch unreachable;
    tensor.deinit();
}

test "one that vouches is accepted, by the first of many threads" {
    var successes: std.atomic.Value(u32) = .init(0);
    var threads: [8]std.Thread = undefined;
    for (&threads) |*thread| thread.* = try std.Thread.spawn(.{}, loadOnce, .{&successes});
    for (threads) |thread| thread.join();
    try expectEqual(1, successes.load(.monotonic));
    // The rest of it is the library that it is linked with.
    try expectEqual(4, (try hurray.runtimeInfo(null)).c_abi_version);
    var tensor = try hurray.Tensor.fromBools(&.{ true, false }, &.{2}, null);
    defer tensor.deinit();
    var pair = try tensor.exportPair(null);
    defer pair.deinit();
    var imported = try hurray.Tensor.import(&pair.list, &pair.context, null);
    imported.deinit();
}

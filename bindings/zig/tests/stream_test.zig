//! Streams of tensors.

const std = @import("std");
const hurray = @import("hurray");
const support = @import("support.zig");

const gpa = support.gpa;
const io = support.io;
const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;

/// A stream of three tensors: unaligned floats, truth values, a scalar.
fn writeThree(writer: *hurray.TensorStreamWriter) !void {
    const memory = try gpa.alignedAlloc(u8, hurray.buffer_alignment, 64);
    defer gpa.free(memory);
    const floats = std.mem.bytesAsSlice(f32, memory[3..][0..12]);
    for (floats, 0..) |*value, i| value.* = @floatFromInt(i + 1);
    var unaligned = try hurray.Tensor.fromStatic(floats, &.{3}, .{}, null);
    defer unaligned.deinit();
    try writer.write(&unaligned, null);
    var bools = try hurray.Tensor.fromBools(&.{ true, true, false }, &.{3}, null);
    defer bools.deinit();
    try writer.write(&bools, null);
    var scalar = try hurray.Tensor.allocate(.int64, &.{}, 0, null);
    defer scalar.deinit();
    try writer.write(&scalar, null);
}

fn readThree(reader: *hurray.TensorStreamReader) !void {
    var first = (try reader.next(null)).?;
    defer first.deinit();
    try std.testing.expectEqualSlices(f32, &.{ 1, 2, 3 }, try (try first.view(null)).tryAligned(f32, null));
    var second = (try reader.next(null)).?;
    defer second.deinit();
    try std.testing.expectEqualSlices(u8, &.{0b011}, try (try second.view(null)).bytes(null));
    var third = (try reader.next(null)).?;
    defer third.deinit();
    try expectEqual(0, (try (try third.view(null)).strided(i64, null)).at(&.{}, null));
    for (0..2) |_| try expect(try reader.next(null) == null);
}

test "tensors pass through memory" {
    const baseline = try support.Baseline.begin();
    var writer = try hurray.TensorStreamWriter.toMemory(null);
    defer writer.deinit();
    try writeThree(&writer);
    var stream = try writer.take(null);
    defer stream.deinit();
    var reader = try hurray.TensorStreamReader.fromMemory(try stream.bytes(null), .{}, null);
    defer reader.deinit();
    try readThree(&reader);
    // The writer goes on with nothing.
    var rest = try writer.take(null);
    defer rest.deinit();
    try expectEqual(0, (try rest.bytes(null)).len);
    writer.deinit();
    stream.deinit();
    reader.deinit();
    rest.deinit();
    try baseline.expectSame();
}

test "tensors pass through a file descriptor, and outlive their reader" {
    const baseline = try support.Baseline.begin();
    var tmp = std.testing.tmpDir(.{});
    defer tmp.cleanup();
    {
        const file = try tmp.dir.createFile(io, "stream", .{});
        var writer = try hurray.TensorStreamWriter.toFd(file.handle, .close, null);
        defer writer.deinit();
        try writeThree(&writer);
        var diagnostics: hurray.Diagnostics = .{};
        try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", writer.take(&diagnostics), &diagnostics);
    }
    const file = try tmp.dir.openFile(io, "stream", .{});
    defer file.close(io);
    var reader = try hurray.TensorStreamReader.fromFd(file.handle, .{}, null);
    defer reader.deinit();
    var first = (try reader.next(null)).?;
    defer first.deinit();
    reader.deinit();
    try std.testing.expectEqualSlices(f32, &.{ 1, 2, 3 }, try (try first.view(null)).tryAligned(f32, null));
    first.deinit();
    try baseline.expectSame();
}

test "a file descriptor is closed when asked, and only then" {
    var ends: [2]std.posix.fd_t = undefined;
    try expectEqual(0, std.c.pipe(&ends));
    var keeping = try hurray.TensorStreamReader.fromFd(ends[0], .{}, null);
    keeping.deinit();
    try expect(std.c.fcntl(ends[0], std.c.F.GETFD) != -1);
    var closing = try hurray.TensorStreamReader.fromFd(ends[0], .{ .fd = .close }, null);
    closing.deinit();
    try expectEqual(-1, std.c.fcntl(ends[0], std.c.F.GETFD));
    // Writing where nobody reads is an error and no signal.
    var writer = try hurray.TensorStreamWriter.toFd(ends[1], .close, null);
    defer writer.deinit();
    var tensor = try hurray.Tensor.allocate(.uint8, &.{10}, 0, null);
    defer tensor.deinit();
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayIo, .io, "", writer.write(&tensor, &diagnostics), &diagnostics);
}

test "cut streams are typed errors at every byte" {
    const baseline = try support.Baseline.begin();
    var writer = try hurray.TensorStreamWriter.toMemory(null);
    defer writer.deinit();
    try writeThree(&writer);
    var stream = try writer.take(null);
    defer stream.deinit();
    const bytes = try stream.bytes(null);
    var ends: usize = 0;
    for (0..bytes.len) |length| {
        var reader = try hurray.TensorStreamReader.fromMemory(bytes[0..length], .{}, null);
        defer reader.deinit();
        var diagnostics: hurray.Diagnostics = .{};
        while (true) {
            const next = reader.next(&diagnostics) catch |err| {
                try expect(err == error.HurrayInvalidFormat or err == error.HurrayInvalidLayout);
                try expect(diagnostics.offset().? <= length);
                break;
            };
            var tensor = next orelse {
                ends += 1;
                break;
            };
            tensor.deinit();
        }
    }
    // Nothing, after the first, and after the second tensor: these are clean ends.
    try expectEqual(3, ends);
    writer.deinit();
    stream.deinit();
    try baseline.expectSame();
}

test "limits hold before memory is taken" {
    var builder = try hurray.DescriptorBuilder.init(.uint8, .row_major, &.{1 << 50}, null);
    defer builder.deinit();
    try builder.addBuffer(.{ .byte_size = 1 << 50 }, null);
    var descriptor = try builder.build(null);
    defer descriptor.deinit();
    const bytes = try descriptor.encodeAlloc(gpa, null);
    defer gpa.free(bytes);
    var diagnostics: hurray.Diagnostics = .{};
    var limited = try hurray.TensorStreamReader.fromMemory(bytes, .{ .max_tensor_bytes = 1 << 20 }, null);
    defer limited.deinit();
    try support.expectFailure(error.HurrayLimitExceeded, .limit_exceeded, "", limited.next(&diagnostics), &diagnostics);
    var short = try hurray.TensorStreamReader.fromMemory(bytes, .{ .max_descriptor_length = 30 }, null);
    defer short.deinit();
    try support.expectFailure(error.HurrayLimitExceeded, .limit_exceeded, "", short.next(&diagnostics), &diagnostics);
    // Without a limit the bytes are not there: an error, and not a petabyte of memory.
    var unlimited = try hurray.TensorStreamReader.fromMemory(bytes, .{}, null);
    defer unlimited.deinit();
    if (unlimited.next(&diagnostics)) |_| return error.TestUnexpectedResult else |_| {}
}

test "wrong arguments are typed errors" {
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "fd", hurray.TensorStreamReader.fromFd(-1, .{}, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "fd", hurray.TensorStreamWriter.toFd(-1, .borrow, &diagnostics), &diagnostics);
}

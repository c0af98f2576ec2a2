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

/// A reader that gives out a few bytes at a time, and fails in the end instead of ending, if it is to.
const Trickle = struct {
    interface: std.Io.Reader,
    bytes: []const u8,
    step: usize,
    fails: bool = false,

    fn init(bytes: []const u8, step: usize, buffer: []u8) Trickle {
        return .{
            .interface = .{ .vtable = &.{ .stream = stream }, .buffer = buffer, .seek = 0, .end = 0 },
            .bytes = bytes,
            .step = step,
        };
    }

    fn stream(reader: *std.Io.Reader, writer: *std.Io.Writer, limit: std.Io.Limit) std.Io.Reader.StreamError!usize {
        const self: *Trickle = @fieldParentPtr("interface", reader);
        if (self.bytes.len == 0) return if (self.fails) error.ReadFailed else error.EndOfStream;
        const count = try writer.write(limit.sliceConst(self.bytes[0..@min(self.step, self.bytes.len)]));
        self.bytes = self.bytes[count..];
        return count;
    }
};

test "tensors pass through readers and writers of the language" {
    const baseline = try support.Baseline.begin();
    var collected: std.Io.Writer.Allocating = .init(gpa);
    defer collected.deinit();
    {
        var writer = try hurray.TensorStreamWriter.toWriter(&collected.writer, null);
        defer writer.deinit();
        try writeThree(&writer);
    }
    var fixed: std.Io.Reader = .fixed(collected.written());
    var whole = try hurray.TensorStreamReader.fromReader(&fixed, .{}, null);
    defer whole.deinit();
    try readThree(&whole);
    // In pieces, with a buffer of the reader's own and without.
    for ([_]usize{ 1, 7, 1000 }) |step| for ([_]usize{ 0, 16 }) |room| {
        var memory: [16]u8 = undefined;
        var trickle: Trickle = .init(collected.written(), step, memory[0..room]);
        var reader = try hurray.TensorStreamReader.fromReader(&trickle.interface, .{}, null);
        defer reader.deinit();
        try readThree(&reader);
    };
    whole.deinit();
    try baseline.expectSame();
}

test "failures of readers and writers come out as they were" {
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};
    var collected: std.Io.Writer.Allocating = .init(gpa);
    defer collected.deinit();
    {
        var writer = try hurray.TensorStreamWriter.toWriter(&collected.writer, null);
        defer writer.deinit();
        try writeThree(&writer);
    }
    for ([_]usize{ 0, 10, 50 }) |length| {
        var trickle: Trickle = .init(collected.written()[0..length], 5, &.{});
        trickle.fails = true;
        var reader = try hurray.TensorStreamReader.fromReader(&trickle.interface, .{}, null);
        defer reader.deinit();
        try support.expectFailure(error.HurrayIo, .io, "ReadFailed", reader.next(&diagnostics), &diagnostics);
        // What ends where it must not is no failure of the reader.
        if (length > 0) {
            var cut: std.Io.Reader = .fixed(collected.written()[0..length]);
            var other = try hurray.TensorStreamReader.fromReader(&cut, .{}, null);
            defer other.deinit();
            try std.testing.expect(std.meta.isError(other.next(&diagnostics)));
            try expect(diagnostics.code() != .io);
        }
    }
    var room: [20]u8 = undefined;
    var full: std.Io.Writer = .fixed(&room);
    var writer = try hurray.TensorStreamWriter.toWriter(&full, null);
    defer writer.deinit();
    try support.expectFailure(error.HurrayIo, .io, "WriteFailed", writeBytes(&writer, &diagnostics), &diagnostics);
    writer.deinit();
    try baseline.expectSame();
}

fn writeBytes(writer: *hurray.TensorStreamWriter, diagnostics: *hurray.Diagnostics) !void {
    var tensor = try hurray.Tensor.allocate(.uint8, &.{100}, 0, null);
    defer tensor.deinit();
    return writer.write(&tensor, diagnostics);
}

test "a tensor is read in parts, or passed over" {
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};
    errdefer std.debug.print("{f}\n", .{&diagnostics});
    var collected: std.Io.Writer.Allocating = .init(gpa);
    defer collected.deinit();
    {
        var writer = try hurray.TensorStreamWriter.toWriter(&collected.writer, null);
        defer writer.deinit();
        try writeThree(&writer);
    }
    var source: std.Io.Reader = .fixed(collected.written());
    var reader = try hurray.TensorStreamReader.fromReader(&source, .{}, &diagnostics);
    defer reader.deinit();
    var part: [5]u8 = undefined;
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", reader.read(&part, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", reader.skip(&diagnostics), &diagnostics);
    {
        var descriptor = (try reader.begin(&diagnostics)).?;
        defer descriptor.deinit();
        try std.testing.expectEqualSlices(u64, &.{3}, (try descriptor.info(&diagnostics)).shape);
        // It is not complete.
        try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", reader.begin(&diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", reader.next(&diagnostics), &diagnostics);
        var bytes: std.ArrayList(u8) = .empty;
        defer bytes.deinit(gpa);
        while (true) {
            const got = try reader.read(&part, &diagnostics);
            if (got.len == 0) break;
            try bytes.appendSlice(gpa, got);
        }
        const entry = try descriptor.bufferEntry(0, &diagnostics);
        try expectEqual(entry.byte_size, bytes.items.len);
        const offset: usize = @intCast((try descriptor.info(&diagnostics)).byte_offset);
        try std.testing.expectEqualSlices(u8, std.mem.sliceAsBytes(@as([]const f32, &.{ 1, 2, 3 })), bytes.items[offset..][0..12]);
    }
    {
        var skipped = (try reader.begin(&diagnostics)).?;
        defer skipped.deinit();
        try expectEqual(hurray.ElementType.bool, (try skipped.info(&diagnostics)).element_type);
        try reader.skip(&diagnostics);
    }
    // Tensors as wholes come between.
    var third = (try reader.next(&diagnostics)).?;
    defer third.deinit();
    try expect(try reader.begin(&diagnostics) == null);
    try expect(try reader.next(&diagnostics) == null);
    reader.deinit();
    third.deinit();
    try std.testing.expectError(error.HurrayClosed, reader.begin(null));
    try baseline.expectSame();
}

test "a .hrry file is read from a pipe as a stream; names are there at the end" {
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};
    errdefer std.debug.print("{f}\n", .{&diagnostics});
    var file: std.Io.Writer.Allocating = .init(gpa);
    defer file.deinit();
    const names = [_][]const u8{ "z", "\u{2192}", "nul\x00\u{e4}" };
    {
        var writer = try hurray.TensorFileWriter.toWriter(&file.writer, .{ .format = .hrry }, &diagnostics);
        defer writer.deinit();
        for (names, 0..) |name, i| {
            var tensor = try hurray.Tensor.allocate(.int32, &.{i}, 0, &diagnostics);
            defer tensor.deinit();
            try writer.add(name, &tensor, &diagnostics);
        }
        try writer.finish(&diagnostics);
    }
    var trickle: Trickle = .init(file.written(), 999, &.{});
    var reader = try hurray.TensorStreamReader.fromReader(&trickle.interface, .{ .hrry_file = true }, &diagnostics);
    defer reader.deinit();
    for (0..names.len) |i| {
        try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", reader.name(0, &diagnostics), &diagnostics);
        var tensor = (try reader.next(&diagnostics)).?;
        defer tensor.deinit();
        try expectEqual(i, (try tensor.view(&diagnostics)).elementCount());
    }
    try expect(try reader.next(&diagnostics) == null);
    for (names, 0..) |name, i| try std.testing.expectEqualStrings(name, try reader.name(i, &diagnostics));
    try support.expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "", reader.name(3, &diagnostics), &diagnostics);
    reader.deinit();
    try std.testing.expectError(error.HurrayClosed, reader.name(0, null));
    try baseline.expectSame();
}

//! The report of a relay stage: one JSON line per tensor, and a last one with totals.

const std = @import("std");
const hurray = @import("hurray");
const about = @import("about.zig");
const mapped = @import("mapped.zig");
const Digest = @import("measure.zig").Digest;

pub const Report = struct {
    io: std.Io,
    file: std.Io.File,
    buffer: [16 * 1024]u8,
    output: std.Io.File.Writer,
    began: std.Io.Timestamp,
    tensors: u64,
    bytes: u64,
    /// Of the channels that tensors came from and went to; null for streams.
    received: ?hurray.TensorChannel.Info,
    sent: ?hurray.TensorChannel.Info,

    /// The writer points into the struct, which must stay where it is.
    pub fn open(self: *Report, io: std.Io, path: []const u8) !void {
        self.io = io;
        self.file = std.Io.Dir.cwd().createFile(io, path, .{}) catch |err| {
            std.debug.print("driver: cannot write the report {s}: {s}\n", .{ path, @errorName(err) });
            return error.Explained;
        };
        self.output = self.file.writerStreaming(io, &self.buffer);
        self.began = .now(io, .awake);
        self.tensors = 0;
        self.bytes = 0;
        self.received = null;
        self.sent = null;
    }

    pub fn close(self: *Report) void {
        self.file.close(self.io);
    }

    /// Adds the line of a tensor; `started` is when the work on it began.
    pub fn add(self: *Report, name: []const u8, view: *const hurray.View, digest: Digest, started: std.Io.Timestamp) !void {
        const nanos = self.since(started);
        var json: std.json.Stringify = .{ .writer = &self.output.interface };
        try json.beginObject();
        try json.objectField("name");
        try json.write(name);
        try json.objectField("type");
        try json.write(@tagName(view.elementType()));
        try json.objectField("shape");
        try json.write(view.shape());
        try json.objectField("bytes");
        try json.write(digest.bytes);
        try json.objectField("crc32");
        try json.print("\"{x:0>8}\"", .{digest.crc32});
        try json.objectField("sum");
        const sum = digest.sum orelse std.math.nan(f64);
        // With an exponent: without one large sums would be integers, and not the exact ones.
        if (std.math.isFinite(sum)) try json.print("{e}", .{sum}) else try json.write(null);
        try json.objectField("sum_bits");
        const bits: u64 = if (std.math.isNan(sum)) 0x7ff8000000000000 else @bitCast(sum);
        if (digest.sum == null) try json.write(null) else try json.print("\"{x:0>16}\"", .{bits});
        try json.objectField("nanos");
        try json.write(nanos);
        try json.objectField("mapped");
        var place: [64]u8 = undefined;
        try json.write(if (digest.bytes == 0) null else try mapped.fileAt(self.io, view.address(), &place));
        try json.endObject();
        try self.output.interface.writeByte('\n');
        self.tensors += 1;
        self.bytes += digest.bytes;
    }

    /// Adds the last line, and writes all of it to the file.
    pub fn finish(self: *Report, live_handles: i64, diagnostics: *hurray.Diagnostics) !void {
        var json: std.json.Stringify = .{ .writer = &self.output.interface };
        try json.beginObject();
        try about.writeFacts(&json, try hurray.runtimeInfo(diagnostics));
        try json.objectField("tensors");
        try json.write(self.tensors);
        try json.objectField("bytes");
        try json.write(self.bytes);
        try json.objectField("nanos");
        try json.write(self.since(self.began));
        try json.objectField("received_bytes");
        try json.write(if (self.received) |info| info.received_bytes else null);
        try json.objectField("passed_bytes");
        try json.write(if (self.sent) |info| info.passed_bytes else null);
        try json.objectField("copied_bytes");
        try json.write(if (self.sent) |info| info.copied_bytes else null);
        try json.objectField("live_handles");
        try json.write(live_handles);
        try json.endObject();
        try self.output.interface.writeByte('\n');
        try self.output.interface.flush();
    }

    fn since(self: *const Report, started: std.Io.Timestamp) u64 {
        return @intCast(@max(0, started.untilNow(self.io, .awake).nanoseconds));
    }
};

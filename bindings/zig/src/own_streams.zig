//! The language's own streams of bytes, as the library reads and writes them.

const std = @import("std");
const callback_failure = @import("callback_failure.zig");
const Diagnostics = @import("diagnostics.zig").Diagnostics;

/// Reads from a *std.Io.Reader, which is the context: at least one byte, 0 at the end.
pub fn read(context: ?*anyopaque, into: ?*anyopaque, capacity: u64) callconv(.c) i64 {
    const reader: *std.Io.Reader = @ptrCast(@alignCast(context.?));
    const bytes = @as([*]u8, @ptrCast(into.?))[0..@intCast(@min(capacity, std.math.maxInt(isize)))];
    while (true) {
        var parts = [_][]u8{bytes};
        const count = reader.readVec(&parts) catch |err| switch (err) {
            error.EndOfStream => return 0,
            error.ReadFailed => {
                var report: Diagnostics = .{};
                return callback_failure.note(err, &report, .io);
            },
        };
        // A reader may fill its own buffer first.
        if (count > 0) return @intCast(count);
    }
}

/// Writes all bytes to a *std.Io.Writer, which is the context.
pub fn write(context: ?*anyopaque, bytes: ?*const anyopaque, length: u64) callconv(.c) i32 {
    const writer: *std.Io.Writer = @ptrCast(@alignCast(context.?));
    writer.writeAll(@as([*]const u8, @ptrCast(bytes.?))[0..@intCast(length)]) catch |err| {
        var report: Diagnostics = .{};
        return callback_failure.note(err, &report, .io);
    };
    return 0;
}

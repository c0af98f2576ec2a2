//! What an address is mapped from, as the kernel says.

const std = @import("std");

/// "DEVICE:INODE", written into `out`; null for memory without a file.
pub fn fileAt(io: std.Io, address: ?*const anyopaque, out: *[64]u8) !?[]const u8 {
    const wanted = @intFromPtr(address);
    if (wanted == 0) return null;
    const file = try std.Io.Dir.openFileAbsolute(io, "/proc/self/maps", .{});
    defer file.close(io);
    // A line has a path in it, and so at most its length more than the numbers.
    var buffer: [2 * std.posix.PATH_MAX]u8 = undefined;
    var reader = file.readerStreaming(io, &buffer);
    while (try reader.interface.takeDelimiter('\n')) |line| {
        // START-END PERMISSIONS OFFSET DEVICE INODE PATH
        var fields = std.mem.tokenizeScalar(u8, line, ' ');
        var range = std.mem.splitScalar(u8, fields.next() orelse continue, '-');
        const start = try std.fmt.parseInt(usize, range.first(), 16);
        const end = try std.fmt.parseInt(usize, range.rest(), 16);
        if (wanted < start or wanted >= end) continue;
        _ = fields.next();
        _ = fields.next();
        const device = fields.next() orelse return error.Unexpected;
        const inode = try std.fmt.parseInt(u64, fields.next() orelse return error.Unexpected, 10);
        if (inode == 0) return null;
        return try std.fmt.bufPrint(out, "{s}:{d}", .{ device, inode });
    }
    return null;
}

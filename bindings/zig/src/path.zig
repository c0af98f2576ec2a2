//! File names for the library, which wants them terminated.

const std = @import("std");
const diagnostics_ = @import("diagnostics.zig");

pub const TerminatedPath = struct {
    buffer: [std.posix.PATH_MAX]u8 = undefined,

    /// The name with a NUL behind it; it lies in this struct.
    pub fn set(self: *TerminatedPath, path: []const u8, diagnostics: ?*diagnostics_.Diagnostics) diagnostics_.Error![*:0]const u8 {
        if (std.mem.indexOfScalar(u8, path, 0)) |at| return diagnostics_.fail(
            diagnostics,
            .invalid_argument,
            error.HurrayInvalidArgument,
            "path: a file name holds no NUL, this one has one at {d}",
            .{at},
        );
        if (path.len >= self.buffer.len) return diagnostics_.fail(
            diagnostics,
            .invalid_argument,
            error.HurrayInvalidArgument,
            "path: expected less than {d} bytes, got {d}",
            .{ self.buffer.len, path.len },
        );
        @memcpy(self.buffer[0..path.len], path);
        self.buffer[path.len] = 0;
        return self.buffer[0..path.len :0];
    }
};

//! The library is a part of the program: build.zig compiled it, or has an archive of it.

/// Whether the library is a part of the program.
pub const linked = true;

/// The library, as if it were opened: the linker has seen to it that all functions are there.
pub const Library = struct {
    /// For messages.
    name: [:0]const u8,

    /// There is nothing to open.
    pub fn open(path: ?[:0]const u8, reason: *[]const u8) ?Library {
        _ = path;
        _ = reason;
        return .{ .name = "linked with this program" };
    }

    /// The address of a function.
    pub fn find(self: Library, comptime name: [:0]const u8) ?*anyopaque {
        _ = self;
        return @ptrCast(@constCast(@extern(*const fn () callconv(.c) void, .{ .name = name })));
    }

    /// There is nothing to close.
    pub fn close(self: Library) void {
        _ = self;
    }
};

//! The library is a shared one, opened at run time: a library of another version is an error of the package with both numbers
//! in it, and not a message of the system's loader.

const builtin = @import("builtin");
const std = @import("std");

/// Whether the library is a part of the program.
pub const linked = false;

/// Names the file to load, before the system's own search.
const path_variable = "HURRAY_LIBRARY";

const default_name = switch (builtin.os.tag) {
    .macos, .ios => "libhurray.1.dylib",
    .windows => @compileError("hurray: opening the library at run time is written for POSIX systems only so far"),
    else => "libhurray.so.1",
};

/// All symbols at once, and none of them for others to find.
const open_mode: std.c.RTLD = mode: {
    var mode: std.c.RTLD = .{ .NOW = true };
    if (@hasField(std.c.RTLD, "LOCAL")) mode.LOCAL = true;
    break :mode mode;
};

/// An open library.
pub const Library = struct {
    handle: *anyopaque,
    /// What it was opened by.
    name: [:0]const u8,

    /// Opens a file or, for null, the one that the environment variable names, or else what the system finds. Null: it cannot be
    /// opened, and `reason` says why.
    pub fn open(path: ?[:0]const u8, reason: *[]const u8) ?Library {
        const name: [:0]const u8 = path orelse named: {
            const variable = std.c.getenv(path_variable) orelse break :named default_name;
            const text = std.mem.span(variable);
            break :named if (text.len == 0) default_name else text;
        };
        // An empty name would be the program itself.
        if (name.len == 0) {
            reason.* = "its path is empty";
            return null;
        }
        const handle = std.c.dlopen(name, open_mode) orelse {
            reason.* = if (std.c.dlerror()) |text| std.mem.span(text) else name;
            return null;
        };
        return .{ .handle = handle, .name = name };
    }

    /// The address of a function; null when there is none of that name.
    pub fn find(self: Library, comptime name: [:0]const u8) ?*anyopaque {
        return std.c.dlsym(self.handle, name);
    }

    /// For a library that was refused.
    pub fn close(self: Library) void {
        _ = std.c.dlclose(self.handle);
    }
};

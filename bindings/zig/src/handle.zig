//! An owned handle of the library, and how it ends.

const std = @import("std");
const diagnostics_ = @import("diagnostics.zig");
const library = @import("library.zig");
const Guard = @import("guard.zig").Guard;

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// A handle of the type `H`, which a function of the table, named by `destroy`, ends. `what` is its name in messages.
pub fn Handle(comptime H: type, comptime destroy: []const u8, comptime what: []const u8) type {
    return struct {
        const Self = @This();

        /// Null after the end, or after the handle moved somewhere else.
        pointer: ?*H,
        guard: Guard,

        pub fn init(pointer: *H) Self {
            return .{ .pointer = pointer, .guard = .begin() };
        }

        /// The handle, for a call.
        pub fn get(self: *const Self, diagnostics: ?*Diagnostics) Error!*H {
            const pointer = self.pointer orelse return closed(diagnostics);
            if (!self.guard.alive()) return closed(diagnostics);
            return pointer;
        }

        /// Takes the handle out: this object is empty afterwards. Null when it was already.
        pub fn take(self: *Self) ?*H {
            const pointer = self.pointer orelse return null;
            self.pointer = null;
            return if (self.guard.end()) pointer else null;
        }

        /// Ends the handle. A second end is a no-op.
        pub fn deinit(self: *Self) void {
            const pointer = self.take() orelse return;
            const end = @field(library.table, destroy);
            var variable: ?*H = pointer;
            const status = switch (@typeInfo(@typeInfo(@TypeOf(end)).pointer.child).@"fn".params[0].type.?) {
                *H => end(pointer),
                else => end(&variable),
            };
            finish(status);
        }

        /// Ends the handle, on a thread that must not run release callbacks.
        pub fn deinitDeferred(self: *Self) void {
            const pointer = self.take() orelse return;
            const end = @field(library.table, destroy ++ "_deferred");
            var variable: ?*H = pointer;
            const status = switch (@typeInfo(@typeInfo(@TypeOf(end)).pointer.child).@"fn".params[0].type.?) {
                *H => end(pointer, null),
                else => end(&variable, null),
            };
            finish(status);
        }

        /// There is nobody to tell of a failure. In a fork's child the library only lets go; what must not happen is that it
        /// does not know the handle.
        fn finish(status: i32) void {
            std.debug.assert(status != @intFromEnum(diagnostics_.Status.invalid_handle));
        }

        fn closed(diagnostics: ?*Diagnostics) Error {
            @branchHint(.unlikely);
            return diagnostics_.fail(diagnostics, .invalid_handle, error.HurrayClosed, "the " ++ what ++ " was ended before, or moved into another object", .{});
        }
    };
}

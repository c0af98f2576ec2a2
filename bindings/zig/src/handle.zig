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
            finish(destroyNow(self.take() orelse return));
        }

        /// As `deinit`, and says what went wrong; the object is empty afterwards all the same.
        pub fn end(self: *Self, diagnostics: ?*Diagnostics) Error!void {
            const pointer = self.take() orelse return closed(diagnostics);
            return diagnostics_.checkSilent(destroyNow(pointer), diagnostics, "the end of the " ++ what ++
                ": it is borrowed or was destroyed before, or a release callback threw an exception");
        }

        /// Ends the handle, on a thread that must not run release callbacks.
        pub fn deinitDeferred(self: *Self) void {
            const pointer = self.take() orelse return;
            const call = @field(library.table, destroy ++ "_deferred");
            var variable: ?*H = pointer;
            finish(if (comptime takesHandle(@TypeOf(call))) call(pointer, null) else call(&variable, null));
        }

        fn destroyNow(pointer: *H) i32 {
            const call = @field(library.table, destroy);
            var variable: ?*H = pointer;
            return if (comptime takesHandle(@TypeOf(call))) call(pointer) else call(&variable);
        }

        /// Whether a function takes the handle, and not the address of a variable that holds it.
        fn takesHandle(comptime Function: type) bool {
            return @typeInfo(@typeInfo(Function).pointer.child).@"fn".params[0].type.? == *H;
        }

        /// There is nobody to tell of a failure. In a fork's child the library only lets go. What must not happen, and what
        /// builds with safety checks stop at, is that it does not know the handle.
        fn finish(status: i32) void {
            if (std.debug.runtime_safety) std.debug.assert(status != @intFromEnum(diagnostics_.Status.invalid_handle));
        }

        fn closed(diagnostics: ?*Diagnostics) Error {
            @branchHint(.unlikely);
            return diagnostics_.fail(diagnostics, .invalid_handle, error.HurrayClosed, "the " ++ what ++ " was ended before, or moved into another object", .{});
        }
    };
}

//! What the library tells of faults that it caught.

const std = @import("std");
const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const handoff = @import("handoff.zig");
const library = @import("library.zig");

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// Installs the process's log callback: `onMessage(owner, status, message)` is told of every exception that the library
/// caught and of every invariant of its own that broke, at once; `readDiagnostic` reads the last of them later. There is one
/// callback a process: a further call replaces it, and when that returns the one before is not running and never runs again.
/// `owner` is a pointer, and lives until then. `message` lives during the call.
///
/// Threads: any may install it; it runs on the thread on which the fault arose, one call at a time, and may use the package.
/// Errors: HurrayInvalidArgument: called from within the callback.
pub fn setLog(
    owner: anytype,
    comptime onMessage: fn (owner: @TypeOf(owner), status: abi.constants.Status, message: []const u8) void,
    diagnostics: ?*Diagnostics,
) Error!void {
    handoff.requirePointer(@TypeOf(owner));
    const callback = struct {
        fn log(context: ?*anyopaque, status: i32, message: ?[*:0]const u8) callconv(.c) void {
            onMessage(@ptrCast(@alignCast(context.?)), @enumFromInt(status), std.mem.span(message.?));
        }
    };
    try library.ensure(diagnostics);
    try diagnostics_.check(library.table.log_callback_set(callback.log, handoff.address(owner), diagnostics_.reportOf(diagnostics)));
}

/// Removes the process's log callback, as `setLog` replaces it.
pub fn clearLog(diagnostics: ?*Diagnostics) Error!void {
    try library.ensure(diagnostics);
    try diagnostics_.check(library.table.log_callback_set(null, null, diagnostics_.reportOf(diagnostics)));
}

//! Failures of the program's own functions, on their way through the library and out of it again.
//!
//! The C ABI carries a status out of a callback and no more. What the callback said besides is kept for the thread until the call
//! that ran it returns.

const diagnostics_ = @import("diagnostics.zig");

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// What the last callback on this thread failed with, since the innermost `Watch` began.
threadlocal var failed: ?Diagnostics = null;

/// Stands around a call that may run callbacks.
pub const Watch = struct {
    /// That of the call around this one, whose callback it may be in.
    outer: ?Diagnostics,

    pub fn begin() Watch {
        defer failed = null;
        return .{ .outer = failed };
    }

    /// The error of the call. One that a callback caused has the callback's own report.
    pub fn check(self: Watch, status: i32, diagnostics: ?*Diagnostics) Error!void {
        defer failed = self.outer;
        if (failed) |said| if (status != 0 and said.report.code == status) if (diagnostics) |d| {
            d.* = said;
        };
        return diagnostics_.check(status);
    }
};

/// Keeps the error of a callback and what it reported; the status to return. Errors of `Error` keep their status, OutOfMemory is
/// HurrayOutOfMemory, `otherwise` stands for all others, whose name is the message.
pub fn note(err: anyerror, reported: *Diagnostics, otherwise: diagnostics_.Status) i32 {
    var status = diagnostics_.statusOf(err, reported);
    if (status == @intFromEnum(diagnostics_.Status.internal_panic) and err != error.HurrayInternalPanic) status = @intFromEnum(otherwise);
    // A report of something that the callback got over says nothing of this error.
    if (reported.report.code != status) diagnostics_.describe(reported, status, "a callback failed: {s}", .{@errorName(err)});
    failed = reported.*;
    return status;
}

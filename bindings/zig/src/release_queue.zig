//! Queues on which releases wait.

const std = @import("std");
const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const library = @import("library.zig");
const Handle = @import("handle.zig").Handle;

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// Collects releases that must not run on the thread that dropped the last share of some memory, such as a garbage
/// collector's. The package has one for itself (`drainReleases`); a program that wants releases to run on a thread of its
/// choice makes another and names it where it lends memory.
///
/// Threads: any may drain it; one ends it.
pub const ReleaseQueue = struct {
    handle: Handle(abi.c.HurrayReleaseQueue, "release_queue_destroy", "release queue"),

    /// The caller owns the result.
    pub fn init(diagnostics: ?*Diagnostics) Error!ReleaseQueue {
        try library.ensure(diagnostics);
        var out: ?*abi.c.HurrayReleaseQueue = null;
        try diagnostics_.check(library.table.release_queue_new(&out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Runs at most `limit` releases that wait, oldest first, on this thread, and returns how many ran.
    pub fn drain(self: *const ReleaseQueue, limit: u64, diagnostics: ?*Diagnostics) Error!u64 {
        var released: u64 = 0;
        const handle = try self.handle.get(diagnostics);
        try diagnostics_.check(library.table.release_queue_drain(handle, limit, &released, diagnostics_.reportOf(diagnostics)));
        return released;
    }

    /// How many releases wait.
    pub fn pending(self: *const ReleaseQueue, diagnostics: ?*Diagnostics) Error!u64 {
        var waiting: u64 = 0;
        const handle = try self.handle.get(diagnostics);
        try diagnostics_.check(library.table.release_queue_pending(handle, &waiting, diagnostics_.reportOf(diagnostics)));
        return waiting;
    }

    /// Ends the queue: what waits is released on this thread. A second end is a no-op.
    pub fn deinit(self: *ReleaseQueue) void {
        self.handle.deinit();
    }
};

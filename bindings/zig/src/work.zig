//! Work on elements that may take long: how much memory it may take, who is told how far it is, and who may stop it.

const abi = @import("hurray_abi");

/// What all long work takes; all defaults: no limit and no reports.
pub const Work = struct {
    /// The most bytes of new memory that the work may hold at one time, its result included; 0 for no limit. More is
    /// error.HurrayLimitExceeded.
    memory_limit: u64 = 0,
    /// Told now and then, on the thread that called, that `done` of `total` is behind it, never less than before, and all of
    /// it at the end. Returns whether to go on; false ends the call with error.HurrayCancelled, and nothing is left behind. It
    /// must not use what the call was given.
    progress: ?*const fn (context: ?*anyopaque, done: u64, total: u64) bool = null,
    /// Handed back to `progress`.
    context: ?*anyopaque = null,

    /// As the library takes it; `self` must stay where it is during the call.
    pub fn raw(self: *const Work) abi.c.HurrayWorkOptions {
        return .{
            .struct_size = @sizeOf(abi.c.HurrayWorkOptions),
            .memory_limit = self.memory_limit,
            .progress = if (self.progress == null) null else report,
            .context = @constCast(self),
        };
    }

    fn report(context: ?*anyopaque, done: u64, total: u64) callconv(.c) u8 {
        const self: *const Work = @ptrCast(@alignCast(context.?));
        return @intFromBool(self.progress.?(self.context, done, total));
    }
};

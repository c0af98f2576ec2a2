//! Checks of shapes before they go to the library.

const std = @import("std");
const diagnostics_ = @import("diagnostics.zig");

/// A length as the rank of a tensor. The library refuses more than 64 dimensions; here only what no u32 can hold.
pub fn rankOf(length: usize, diagnostics: ?*diagnostics_.Diagnostics) diagnostics_.Error!u32 {
    return std.math.cast(u32, length) orelse
        diagnostics_.fail(diagnostics, .invalid_argument, error.HurrayInvalidArgument, "rank: expected at most 64 dimensions, got {d}", .{length});
}

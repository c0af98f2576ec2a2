//! How long to wait, as the library takes it.

const std = @import("std");

/// Null waits without an end. Parts of a millisecond are rounded up, so that nothing waits shorter than it was told; what is
/// negative does not wait, and what is longer than 24 days waits for that long.
pub fn millisecondsOf(timeout: ?std.Io.Duration) i32 {
    const nanoseconds = (timeout orelse return -1).nanoseconds;
    if (nanoseconds <= 0) return 0;
    const whole = @divTrunc(nanoseconds - 1, std.time.ns_per_ms) + 1;
    return std.math.cast(i32, whole) orelse std.math.maxInt(i32);
}

//! Handoff and exchange, with devices and libraries that are not there.

test {
    _ = @import("handoff_test.zig");
    _ = @import("stranger_test.zig");
    _ = @import("throwing_test.zig");
}

//! Tests of lifetimes for builds without safety checks, where the package remembers nothing and the library has to answer.

test {
    _ = @import("handoff_test.zig");
    _ = @import("lifetime_test.zig");
    _ = @import("misuse_test.zig");
    _ = @import("producer_test.zig");
    _ = @import("release_test.zig");
}

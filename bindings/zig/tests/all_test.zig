//! All tests of the package but those of the version check, which needs a process of its own.

test {
    _ = @import("buffer_test.zig");
    _ = @import("channel_test.zig");
    _ = @import("descriptor_test.zig");
    _ = @import("exchange_test.zig");
    _ = @import("fields_test.zig");
    _ = @import("file_test.zig");
    _ = @import("fork_test.zig");
    _ = @import("formats_test.zig");
    _ = @import("handoff_test.zig");
    _ = @import("large_test.zig");
    _ = @import("library_test.zig");
    _ = @import("lifetime_test.zig");
    _ = @import("misuse_test.zig");
    _ = @import("producer_test.zig");
    _ = @import("release_test.zig");
    _ = @import("stream_test.zig");
    _ = @import("tensor_test.zig");
    _ = @import("view_test.zig");
    _ = @import("work_test.zig");
}

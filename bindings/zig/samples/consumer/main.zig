//! Says which library is loaded.

const std = @import("std");
const hurray = @import("hurray");

pub fn main() u8 {
    var report: hurray.Diagnostics = .{};
    const info = hurray.runtimeInfo(&report) catch {
        std.debug.print("{f}\n", .{&report});
        return 1;
    };
    // A program that ends with a tensor alive ends well.
    const items: []const u8 = "alive";
    _ = hurray.Tensor.fromStatic(items, &.{items.len}, .{}, &report) catch return 1;
    std.debug.print("C ABI {d}, {s}\n", .{ info.c_abi_version, info.library_path });
    return 0;
}

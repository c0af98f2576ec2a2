const std = @import("std");
const example = @import("example");

pub fn main() u8 {
    const sum = example.sum(&.{ 40, 2 });
    std.debug.print("{d}\n", .{sum});
    return if (sum == 42) 0 else 1;
}

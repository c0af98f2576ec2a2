const std = @import("std");
const example = @import("example");

test "sum" {
    try std.testing.expectEqual(@as(i64, 42), example.sum(&.{ 1, 2, 39 }));
}

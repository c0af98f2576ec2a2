//! More than 2 GiB: lengths and offsets have 64 bits everywhere.

const std = @import("std");
const hurray = @import("hurray");
const support = @import("support.zig");

const gpa = support.gpa;
const io = support.io;
const expectEqual = std.testing.expectEqual;

// Three times 2^30 elements of two bytes, of which only a few pages are ever touched.
const elements = 3 << 30;

test "more elements than an int can count" {
    const baseline = try support.Baseline.begin();
    const memory = try std.posix.mmap(
        null,
        2 * elements,
        .{ .READ = true, .WRITE = true },
        .{ .TYPE = .PRIVATE, .ANONYMOUS = true, .NORESERVE = true },
        -1,
        0,
    );
    defer std.posix.munmap(memory);
    const items = std.mem.bytesAsSlice(u16, memory);
    items[elements - 1] = 0xbeef;
    items[elements / 2] = 7;
    var tensor = try hurray.Tensor.fromStatic(items, &.{ 2, elements / 2 }, .{}, null);
    defer tensor.deinit();
    const view = try tensor.view(null);
    const slice = try view.tryAligned(u16, null);
    try expectEqual(elements, slice.len);
    try expectEqual(0xbeef, slice[elements - 1]);
    try expectEqual(0xbeef, try (try view.strided(u16, null)).at(&.{ 1, elements / 2 - 1 }, null));
    try expectEqual(2 * elements, (try view.bytes(null)).len);
    var backwards = try hurray.Tensor.fromStatic(items, &.{elements}, .{ .strides = &.{-1}, .byte_offset = 2 * (elements - 1) }, null);
    defer backwards.deinit();
    const reversed = try (try backwards.view(null)).strided(u16, null);
    try expectEqual(0xbeef, try reversed.at(&.{0}, null));
    try expectEqual(7, try reversed.at(&.{elements / 2 - 1}, null));
    tensor.deinit();
    backwards.deinit();
    try baseline.expectSame();
}

test "a file of more than 2 GiB" {
    const baseline = try support.Baseline.begin();
    var tmp = std.testing.tmpDir(.{});
    defer tmp.cleanup();
    const path = try support.pathIn(&tmp, "large.safetensors");
    defer gpa.free(path);
    const header = try std.fmt.allocPrint(gpa, "{{\"a\":{{\"dtype\":\"U16\",\"shape\":[{d}],\"data_offsets\":[0,{d}]}}}}", .{ elements, 2 * elements });
    defer gpa.free(header);
    {
        // A file with a hole: it takes a few blocks.
        const file = try tmp.dir.createFile(io, "large.safetensors", .{});
        defer file.close(io);
        var length: [8]u8 = undefined;
        std.mem.writeInt(u64, &length, header.len, .little);
        try file.writePositionalAll(io, &length, 0);
        try file.writePositionalAll(io, header, 8);
        try file.writePositionalAll(io, "\xef\xbe", 8 + header.len + 2 * (elements - 1));
    }
    var file = try hurray.TensorFile.open(path, .{}, null);
    defer file.deinit();
    var tensor = try file.tensor(0, null);
    defer tensor.deinit();
    const slice = try (try tensor.view(null)).slice(u16, null);
    try expectEqual(elements, slice.len);
    try expectEqual(0xbeef, slice[elements - 1]);
    try expectEqual(0, slice[0]);
    try expectEqual(0, (try file.info(null)).copied_bytes);
    tensor.deinit();
    file.deinit();
    try baseline.expectSame();
}

//! Buffers.

const std = @import("std");
const hurray = @import("hurray");
const support = @import("support.zig");

const gpa = support.gpa;
const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;

test "allocated memory is zero, aligned and shared" {
    const baseline = try support.Baseline.begin();
    for ([_]u32{ 0, 1, 64, 4096 }) |alignment| {
        var buffer = try hurray.Buffer.allocate(1000, alignment, null);
        defer buffer.deinit();
        const bytes = try buffer.bytesMutable(null);
        try expectEqual(1000, bytes.len);
        try expect(std.mem.isAligned(@intFromPtr(bytes.ptr), @max(64, alignment)));
        for (bytes) |byte| try expectEqual(0, byte);
        bytes[999] = 7;
        var share = try buffer.share(null);
        defer share.deinit();
        try expectEqual(2, (try share.info(null)).share_count);
        try expectEqual(7, (try share.bytes(null))[999]);
        var slice = try buffer.slice(64, 936, null);
        defer slice.deinit();
        try expectEqual(7, (try slice.bytes(null))[935]);
    }
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayInvalidLayout, .invalid_layout, "", hurray.Buffer.allocate(8, 48, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayOutOfMemory, .out_of_memory, "", hurray.Buffer.allocate(std.math.maxInt(u64) - 100, 0, &diagnostics), &diagnostics);
    try baseline.expectSame();
}

test "parts are checked" {
    var buffer = try hurray.Buffer.allocate(256, 0, null);
    defer buffer.deinit();
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "", buffer.slice(192, 65, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "", buffer.slice(std.math.maxInt(u64), 2, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayMisaligned, .misaligned, "", buffer.slice(8, 8, &diagnostics), &diagnostics);
    var empty = try buffer.slice(256, 0, null);
    defer empty.deinit();
    try expectEqual(0, (try empty.bytes(null)).len);
}

test "read-only is kept by shares" {
    var buffer = try hurray.Buffer.allocate(64, 0, null);
    defer buffer.deinit();
    try buffer.setReadOnly(null);
    var share = try buffer.share(null);
    defer share.deinit();
    var diagnostics: hurray.Diagnostics = .{};
    try expect((try share.info(null)).read_only);
    try support.expectFailure(error.HurrayReadOnly, .invalid_argument, "", share.bytesMutable(&diagnostics), &diagnostics);
    const constants: []const u8 = "constants";
    var lent = try hurray.Buffer.fromStatic(constants, null);
    defer lent.buffer.deinit();
    try support.expectFailure(error.HurrayReadOnly, .invalid_argument, "", lent.buffer.bytesMutable(&diagnostics), &diagnostics);
}

test "memory of any alignment is lent as it lies" {
    const baseline = try support.Baseline.begin();
    const memory = try gpa.alignedAlloc(u8, hurray.buffer_alignment, 300);
    defer gpa.free(memory);
    support.fillPattern(memory, 3);
    for ([_]usize{ 0, 1, 8, 63, 64, 65 }) |shift| {
        const part: []u8 = memory[shift..][0..100];
        var lent = try hurray.Buffer.fromStatic(part, null);
        defer lent.buffer.deinit();
        try expectEqual(shift % 64, lent.byte_offset);
        const info = try lent.buffer.info(null);
        try expectEqual(shift % 64, info.prefix);
        try expectEqual(100 + shift % 64, info.byte_size);
        try expect(std.mem.isAligned(@intFromPtr(info.data.?), 64));
        const bytes = try lent.buffer.bytes(null);
        try expectEqual(@intFromPtr(part.ptr), @intFromPtr(bytes.ptr));
        try std.testing.expectEqualSlices(u8, part, bytes);
    }
    try baseline.expectSame();
}

var pointer_released: u32 = 0;

fn released(buffer: ?*anyopaque, context: ?*anyopaque) callconv(.c) void {
    pointer_released += 1;
    std.debug.assert(@intFromPtr(buffer) == 0x1000);
    std.debug.assert(context == @as(?*anyopaque, @ptrCast(&pointer_released)));
}

test "pointers of devices are carried and not read" {
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};
    const address: *anyopaque = @ptrFromInt(0x1000);
    try support.expectFailure(error.HurrayMisaligned, .misaligned, "", hurray.Buffer.fromPointer(@ptrFromInt(0x1008), 64, 64, .cuda, released, &pointer_released, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidLayout, .invalid_layout, "", hurray.Buffer.fromPointer(address, 64, 8, .cuda, released, &pointer_released, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidType, .invalid_type, "", hurray.Buffer.fromPointer(address, 64, 64, @enumFromInt(0x44), released, &pointer_released, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayNullPointer, .null_pointer, "", hurray.Buffer.fromPointer(null, 64, 64, .cuda, released, &pointer_released, &diagnostics), &diagnostics);
    try expectEqual(0, pointer_released);
    var buffer = try hurray.Buffer.fromPointer(address, 64, 64, .cuda, released, &pointer_released, &diagnostics);
    defer buffer.deinit();
    try support.expectFailure(error.HurrayUnsupported, .unsupported, "device 1", buffer.bytes(&diagnostics), &diagnostics);
    var builder = try hurray.DescriptorBuilder.init(.float32, .row_major, &.{16}, null);
    defer builder.deinit();
    try builder.addBuffer(try buffer.entry(null), null);
    var descriptor = try builder.build(null);
    defer descriptor.deinit();
    var list = try hurray.BufferList.init(null);
    defer list.deinit();
    try list.push(&buffer, null);
    var tensor = try hurray.Tensor.fromParts(&descriptor, &list, null);
    defer tensor.deinit();
    const view = try tensor.view(null);
    try expectEqual(hurray.Device.cuda, view.device());
    try support.expectFailure(error.HurrayUnsupported, .unsupported, "device 1", view.slice(f32, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayUnsupported, .unsupported, "device 1", view.strided(f32, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayUnsupported, .unsupported, "device 1", view.bytes(&diagnostics), &diagnostics);
    tensor.deinit();
    try expectEqual(1, pointer_released);
    builder.deinit();
    descriptor.deinit();
    try baseline.expectSame();
}

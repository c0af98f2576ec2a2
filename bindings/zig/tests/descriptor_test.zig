//! Descriptors: what is put into one comes out again, and what is wrong is refused.

const std = @import("std");
const hurray = @import("hurray");
const support = @import("support.zig");

const gpa = support.gpa;
const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;
const expectEqualSlices = std.testing.expectEqualSlices;

fn build(
    element_type: hurray.ElementType,
    shape: []const u64,
    entry: hurray.BufferEntry,
    diagnostics: ?*hurray.Diagnostics,
) hurray.Error!hurray.Descriptor {
    var builder = try hurray.DescriptorBuilder.init(element_type, .row_major, shape, diagnostics);
    defer builder.deinit();
    try builder.addBuffer(entry, diagnostics);
    return builder.build(diagnostics);
}

test "every type is built, encoded and decoded" {
    const baseline = try support.Baseline.begin();
    inline for (@typeInfo(hurray.ElementType).@"enum".fields) |field| {
        const element_type: hurray.ElementType = @enumFromInt(field.value);
        const size = hurray.byteSizeOf(element_type, 6).?;
        var built = try build(element_type, &.{ 2, 3 }, .{ .byte_size = size }, null);
        defer built.deinit();
        const bytes = try built.encodeAlloc(gpa, null);
        defer gpa.free(bytes);
        // 20 header, 16 shape, 8 byte_offset, 1 + 16 buffer table.
        try expectEqual(61, bytes.len);
        try expectEqualSlices(u8, "HRRY\x01\x00", bytes[0..6]);
        try expectEqual(field.value, bytes[14]);
        var decoded = try hurray.Descriptor.decode(bytes, null);
        defer decoded.deinit();
        const info = try decoded.info(null);
        try expectEqual(element_type, info.element_type);
        try expectEqual(hurray.bitsOf(element_type).?, info.bits);
        try expectEqual(6, info.element_count.?);
        try expectEqualSlices(u64, &.{ 2, 3 }, info.shape);
        try expectEqual(hurray.BufferEntry{ .byte_size = size }, try decoded.bufferEntry(0, null));
        // One byte less holds no longer all elements.
        var diagnostics: hurray.Diagnostics = .{};
        try support.expectFailure(error.HurrayInvalidLayout, .invalid_layout, "", build(element_type, &.{ 2, 3 }, .{ .byte_size = size - 1 }, &diagnostics), &diagnostics);
    }
    try baseline.expectSame();
}

test "every field comes back" {
    var builder = try hurray.DescriptorBuilder.init(.float16, .strided, &.{ 4, 3 }, null);
    defer builder.deinit();
    try builder.setByteOffset(66, null);
    try builder.setStrides(&.{ -6, 1 }, null);
    try builder.setShard(&.{ 8, 3 }, &.{ 4, 0 }, null);
    const entry: hurray.BufferEntry = .{ .byte_size = 256, .alignment = 4096, .memory_class = .host_pinned };
    try builder.addBuffer(entry, null);
    var built = try builder.build(null);
    defer built.deinit();
    // The builder may be used again.
    var again = try builder.build(null);
    defer again.deinit();
    const bytes = try again.encodeAlloc(gpa, null);
    defer gpa.free(bytes);
    try expectEqual(bytes.len, try hurray.Descriptor.peekLength(bytes[0..20], null));
    var decoded = try hurray.Descriptor.decode(bytes, null);
    defer decoded.deinit();
    const info = try decoded.info(null);
    try expectEqual(1, info.version_major);
    try expectEqual(0, info.version_minor);
    try expectEqual(2, info.flags);
    try expectEqual(hurray.Layout.strided, info.layout);
    try expectEqual(2, info.rank());
    try expectEqual(66, info.byte_offset);
    try expectEqual(bytes.len, info.descriptor_length);
    try expectEqualSlices(i64, &.{ -6, 1 }, info.strides.?);
    try expectEqualSlices(u64, &.{ 8, 3 }, info.shard.?.parent_shape);
    try expectEqualSlices(u64, &.{ 4, 0 }, info.shard.?.shard_offset);
    try expectEqual(1, info.buffer_count);
    try expectEqual(entry, try decoded.bufferEntry(0, null));
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "", decoded.bufferEntry(1, &diagnostics), &diagnostics);
}

test "scalars, empty and dynamic shapes" {
    const dynamic = hurray.dimension_dynamic;
    const Case = struct { shape: []const u64, count: ?u64, size: u64 };
    const cases = [_]Case{
        .{ .shape = &.{}, .count = 1, .size = 4 },
        .{ .shape = &.{0}, .count = 0, .size = 0 },
        .{ .shape = &.{ 3, 0, 2 }, .count = 0, .size = 0 },
        .{ .shape = &.{ 1 << 40, 1 << 40, 0 }, .count = 0, .size = 0 },
        .{ .shape = &.{ dynamic, 2 }, .count = null, .size = 64 },
    };
    for (cases) |case| {
        var built = try build(.float32, case.shape, .{ .byte_size = case.size }, null);
        defer built.deinit();
        const info = try built.info(null);
        try expectEqual(case.count, info.element_count);
        try expectEqualSlices(u64, case.shape, info.shape);
    }
}

test "rank 64 is the last" {
    const ones: [65]u64 = @splat(1);
    var built = try build(.uint8, ones[0..64], .{ .byte_size = 1 }, null);
    defer built.deinit();
    try expectEqual(64, (try built.info(null)).rank());
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "64", build(.uint8, &ones, .{ .byte_size = 1 }, &diagnostics), &diagnostics);
}

test "encoding into too little memory writes nothing" {
    var built = try build(.uint8, &.{1}, .{ .byte_size = 1 }, null);
    defer built.deinit();
    var memory: [100]u8 = @splat(0xaa);
    var diagnostics: hurray.Diagnostics = .{};
    const length: usize = @intCast((try built.info(null)).descriptor_length);
    try support.expectFailure(error.HurrayBufferTooSmall, .buffer_too_small, "", built.encode(memory[0 .. length - 1], &diagnostics), &diagnostics);
    for (memory) |byte| try expectEqual(0xaa, byte);
    try expectEqual(length, (try built.encode(&memory, null)).len);
    try expectEqual(0xaa, memory[length]);
}

test "bytes behind are left, and those of a later minor version kept" {
    var built = try build(.uint8, &.{1}, .{ .byte_size = 1 }, null);
    defer built.deinit();
    const bytes = try built.encodeAlloc(gpa, null);
    defer gpa.free(bytes);
    const later = try std.mem.concat(gpa, u8, &.{ bytes, "new", "behind" });
    defer gpa.free(later);
    later[5] = 7;
    std.mem.writeInt(u32, later[6..10], @intCast(bytes.len + 3), .little);
    var decoded = try hurray.Descriptor.decode(later, null);
    defer decoded.deinit();
    try expectEqual(7, (try decoded.info(null)).version_minor);
    const again = try decoded.encodeAlloc(gpa, null);
    defer gpa.free(again);
    try expectEqualSlices(u8, later[0 .. bytes.len + 3], again);
}

test "hostile bytes are typed errors with a place" {
    var built = try build(.float32, &.{ 2, 3 }, .{ .byte_size = 24 }, null);
    defer built.deinit();
    const bytes = try built.encodeAlloc(gpa, null);
    defer gpa.free(bytes);
    const Case = struct { at: usize, value: u8, code: hurray.Status, offset: u64 };
    const cases = [_]Case{
        .{ .at = 0, .value = 'h', .code = .invalid_magic, .offset = 0 },
        .{ .at = 4, .value = 2, .code = .version_mismatch, .offset = 4 },
        .{ .at = 4, .value = 0, .code = .version_mismatch, .offset = 4 },
        .{ .at = 13, .value = 0x80, .code = .invalid_layout, .offset = 10 },
        .{ .at = 14, .value = 0, .code = .invalid_type, .offset = 14 },
        .{ .at = 15, .value = 0, .code = .invalid_layout, .offset = 15 },
        .{ .at = 16, .value = 65, .code = .invalid_layout, .offset = 16 },
        .{ .at = 57, .value = 0xee, .code = .invalid_type, .offset = 57 },
        .{ .at = 58, .value = 9, .code = .invalid_sync_mode, .offset = 58 },
        .{ .at = 60, .value = 1, .code = .invalid_layout, .offset = 60 },
    };
    for (cases) |case| {
        const wrong = try gpa.dupe(u8, bytes);
        defer gpa.free(wrong);
        wrong[case.at] = case.value;
        var diagnostics: hurray.Diagnostics = .{};
        if (hurray.Descriptor.decode(wrong, &diagnostics)) |_| return error.TestUnexpectedResult else |_| {}
        try expectEqual(case.code, diagnostics.code());
        try expectEqual(case.offset, diagnostics.offset());
        try expect(diagnostics.versions() == null);
    }
    for (0..bytes.len) |length| {
        var diagnostics: hurray.Diagnostics = .{};
        if (hurray.Descriptor.decode(bytes[0..length], &diagnostics)) |_| return error.TestUnexpectedResult else |_| {}
        try expect(diagnostics.offset() != null);
    }
}

test "random damage gives a descriptor or a typed error, and leaks nothing" {
    const baseline = try support.Baseline.begin();
    var builder = try hurray.DescriptorBuilder.init(.float16, .strided, &.{ 4, 3 }, null);
    try builder.setByteOffset(64, null);
    try builder.setStrides(&.{ -6, 1 }, null);
    try builder.setShard(&.{ 8, 3 }, &.{ 4, 0 }, null);
    try builder.addBuffer(.{ .byte_size = 256 }, null);
    var built = try builder.build(null);
    builder.deinit();
    const bytes = try built.encodeAlloc(gpa, null);
    defer gpa.free(bytes);
    built.deinit();
    var random: std.Random.DefaultPrng = .init(7);
    var refused: usize = 0;
    for (0..20_000) |_| {
        var damaged: [200]u8 = undefined;
        @memcpy(damaged[0..bytes.len], bytes);
        for (0..random.random().intRangeAtMost(usize, 1, 3)) |_| {
            damaged[random.random().uintLessThan(usize, bytes.len)] = random.random().int(u8);
        }
        var diagnostics: hurray.Diagnostics = .{};
        if (hurray.Descriptor.decode(damaged[0..bytes.len], &diagnostics)) |decoded| {
            var descriptor = decoded;
            descriptor.deinit();
        } else |err| {
            refused += 1;
            try expect(err != error.HurrayInternalPanic and err != error.HurrayInternal and err != error.HurrayUnknownStatus);
            try expect(diagnostics.message().len > 0);
        }
    }
    try expect(refused > 5000);
    try baseline.expectSame();
}

test "wrong builders are refused and can be mended" {
    var builder = try hurray.DescriptorBuilder.init(.float32, .strided, &.{ 2, 2 }, null);
    defer builder.deinit();
    try builder.addBuffer(.{ .byte_size = 64 }, null);
    var diagnostics: hurray.Diagnostics = .{};
    if (builder.build(&diagnostics)) |_| return error.TestUnexpectedResult else |_| {}
    try builder.setStrides(&.{1}, &diagnostics);
    if (builder.build(&diagnostics)) |_| return error.TestUnexpectedResult else |_| {}
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "shard_offset", builder.setShard(&.{ 2, 2 }, &.{0}, &diagnostics), &diagnostics);
    try builder.setStrides(&.{ 2, 1 }, &diagnostics);
    var built = try builder.build(&diagnostics);
    built.deinit();
}

test "wrong buffer entries are refused" {
    const entries = [_]struct { hurray.BufferEntry, hurray.Error }{
        .{ .{ .byte_size = 4, .alignment = 48 }, error.HurrayInvalidLayout },
        .{ .{ .byte_size = 4, .alignment = 32 }, error.HurrayInvalidLayout },
        .{ .{ .byte_size = 4, .device = @enumFromInt(0x33) }, error.HurrayInvalidType },
        .{ .{ .byte_size = 4, .sync_mode = .event }, error.HurrayInvalidSyncMode },
        .{ .{ .byte_size = 4, .sync_mode = @enumFromInt(3) }, error.HurrayInvalidSyncMode },
        .{ .{ .byte_size = 4, .memory_class = .peer }, error.HurrayInvalidType },
        .{ .{ .byte_size = 3 }, error.HurrayInvalidLayout },
    };
    for (entries) |case| {
        var diagnostics: hurray.Diagnostics = .{};
        try std.testing.expectError(case[1], build(.float32, &.{}, case[0], &diagnostics));
        try expect(diagnostics.message().len > 0);
    }
}

test "sizes of packed types" {
    try expectEqual(0, hurray.byteSizeOf(.bool, 0).?);
    try expectEqual(1, hurray.byteSizeOf(.bool, 8).?);
    try expectEqual(2, hurray.byteSizeOf(.bool, 9).?);
    try expectEqual(3, hurray.byteSizeOf(.float6_e2m3, 1).?);
    try expectEqual(6, hurray.byteSizeOf(.float6_e3m2, 5).?);
    try expectEqual(2, hurray.byteSizeOf(.int4, 3).?);
    try expectEqual(2, hurray.byteSizeOf(.uint2, 5).?);
    const most = std.math.maxInt(u64);
    try expectEqual(most / 8 + 1, hurray.byteSizeOf(.bool, most).?);
    try expectEqual(null, hurray.byteSizeOf(.float32, most));
    try expectEqual(null, hurray.byteSizeOf(@enumFromInt(0xf0), 1));
    try expectEqual(null, hurray.elementCountOf(&.{ most, 2 }));
    try expectEqual(0, hurray.elementCountOf(&.{ most, 2, 0 }));
}

//! Tensors over memory of the program, and in memory of the library.

const std = @import("std");
const hurray = @import("hurray");
const support = @import("support.zig");

const gpa = support.gpa;
const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;
const Tensor = hurray.Tensor;

/// A shape in a layout, over memory of `elements` elements that begins `first` elements before element (0, ..., 0).
const Variant = struct {
    name: []const u8,
    shape: []const u64,
    layout: hurray.Layout = .row_major,
    strides: ?[]const i64 = null,
    elements: usize,
    first: usize = 0,
};

const variants = [_]Variant{
    .{ .name = "row-major", .shape = &.{ 3, 5, 2 }, .elements = 30 },
    .{ .name = "column-major", .shape = &.{ 3, 5, 2 }, .layout = .col_major, .elements = 30 },
    .{ .name = "scalar", .shape = &.{}, .elements = 1 },
    .{ .name = "scalar with an offset", .shape = &.{}, .elements = 5, .first = 3 },
    .{ .name = "empty", .shape = &.{ 3, 0, 2 }, .elements = 0 },
    .{ .name = "empty with memory", .shape = &.{0}, .elements = 4 },
    .{ .name = "byte_offset", .shape = &.{4}, .elements = 7, .first = 3 },
    .{ .name = "all strides negative", .shape = &.{ 4, 3 }, .strides = &.{ -3, -1 }, .elements = 12, .first = 11 },
    .{ .name = "rows backwards, with gaps", .shape = &.{ 4, 3 }, .strides = &.{ -6, 1 }, .elements = 30, .first = 18 },
    .{ .name = "broadcast", .shape = &.{ 4, 3 }, .strides = &.{ 0, 2 }, .elements = 5 },
    .{ .name = "all strides 0", .shape = &.{ 7, 2 }, .strides = &.{ 0, 0 }, .elements = 1 },
    .{ .name = "any stride where the size is 1", .shape = &.{ 2, 1 }, .strides = &.{ 1, std.math.maxInt(i64) }, .elements = 2 },
    .{ .name = "the least stride where the size is 1", .shape = &.{ 2, 1, 2 }, .strides = &.{ 2, std.math.minInt(i64), 1 }, .elements = 4 },
    .{ .name = "strided but contiguous", .shape = &.{ 2, 3 }, .strides = &.{ 3, 1 }, .elements = 6 },
    .{ .name = "rank 64", .shape = &@as([64]u64, @splat(1)), .elements = 1 },
};

fn checkVariant(comptime T: type, variant: Variant, shift: usize) !void {
    const size = @sizeOf(T);
    const memory = try gpa.alignedAlloc(u8, hurray.buffer_alignment, shift + variant.elements * size + 1);
    defer gpa.free(memory);
    support.fillPattern(memory, shift + variant.elements);
    const items = std.mem.bytesAsSlice(T, memory[shift..][0 .. variant.elements * size]);
    var diagnostics: hurray.Diagnostics = .{};
    errdefer std.debug.print("{s} of {s}, {d} bytes from aligned: {f}\n", .{ variant.name, @typeName(T), shift, &diagnostics });

    var tensor = try Tensor.fromStatic(items, variant.shape, .{
        .layout = variant.layout,
        .strides = variant.strides,
        .byte_offset = variant.first * size,
    }, &diagnostics);
    defer tensor.deinit();
    const view = try tensor.view(&diagnostics);
    const count = hurray.elementCountOf(variant.shape).?;
    try expectEqual(hurray.elementTypeOf(T), view.elementType());
    try expectEqual(count, view.elementCount());
    try expectEqual(8 * size, view.bits());
    try expectEqual(variant.shape.len, view.shape().len);
    for (variant.shape, view.shape()) |expected, got| try expectEqual(@as(i64, @intCast(expected)), got);
    try expect(!view.isReadOnly());
    if (count != 0) try expectEqual(@intFromPtr(items.ptr) + variant.first * size, @intFromPtr(view.address().?));

    var own_strides: [64]i64 = undefined;
    const strides = variant.strides orelse support.stridesOf(variant.layout, variant.shape, &own_strides);
    const strided = try view.strided(T, &diagnostics);
    const copied = try gpa.alloc(T, @intCast(count));
    defer gpa.free(copied);
    try strided.copyRowMajor(copied, &diagnostics);
    var iterator = strided.iterator();
    var index_memory: [64]u64 = @splat(0);
    const index = index_memory[0..variant.shape.len];
    var position: usize = 0;
    while (position < count) : (position += 1) {
        const at: usize = @intCast(@as(i64, @intCast(variant.first)) + support.offsetOf(index, strides));
        const expected = memory[shift + at * size ..][0..size];
        try std.testing.expectEqualSlices(u8, expected, std.mem.asBytes(&(try strided.at(index, &diagnostics))));
        try std.testing.expectEqualSlices(u8, expected, std.mem.asBytes(&iterator.next().?));
        try std.testing.expectEqualSlices(u8, expected, std.mem.asBytes(&copied[position]));
        if (view.isContiguous()) {
            const slice = try view.slice(T, &diagnostics);
            try expectEqual(count, slice.len);
            try std.testing.expectEqualSlices(u8, expected, std.mem.asBytes(&slice[position]));
        }
        _ = support.advance(index, variant.shape);
    }
    try expectEqual(null, iterator.next());

    // A copy has the same elements, in row-major order and aligned.
    var copy = try tensor.copy(0, &diagnostics);
    defer copy.deinit();
    const copy_view = try copy.view(&diagnostics);
    try expect(copy_view.isContiguous());
    try std.testing.expectEqualSlices(u8, std.mem.sliceAsBytes(copied), std.mem.sliceAsBytes(try copy_view.tryAligned(T, &diagnostics)));
}

test "every type in every layout at every alignment" {
    const baseline = try support.Baseline.begin();
    inline for (support.element_types) |T| {
        for (variants) |variant| {
            for ([_]usize{ 0, 1, 8, 63 }) |shift| try checkVariant(T, variant, shift);
        }
    }
    try baseline.expectSame();
}

test "memory that is too short is refused, and the first element counts" {
    const baseline = try support.Baseline.begin();
    const items = [_]f32{ 1, 2, 3, 4, 5, 6 };
    const slice: []const f32 = &items;
    var diagnostics: hurray.Diagnostics = .{};
    const refused = [_]struct { []const u64, Tensor.HostOptions }{
        .{ &.{7}, .{} },
        .{ &.{6}, .{ .byte_offset = 4 } },
        .{ &.{ 2, 3 }, .{ .strides = &.{ 4, 1 } } },
        .{ &.{ 2, 3 }, .{ .strides = &.{ -3, 1 } } },
        .{ &.{ 2, 3 }, .{ .strides = &.{ std.math.maxInt(i64), 1 } } },
        .{ &.{ 2, 3 }, .{ .strides = &.{ std.math.minInt(i64), 1 } } },
        .{ &.{ 1 << 63, 2 }, .{} },
        .{ &.{ std.math.maxInt(u64) - 1, std.math.maxInt(u64) - 1 }, .{} },
        .{ &.{1}, .{ .byte_offset = std.math.maxInt(u64) } },
        .{ &.{ 2, 3 }, .{ .strides = &.{1} } },
        .{ &.{ 2, 3 }, .{ .layout = .col_major, .strides = &.{ 3, 1 } } },
        .{ &.{6}, .{ .layout = .tiled } },
        .{ &@as([65]u64, @splat(1)), .{} },
        .{ &.{}, .{ .layout = .strided, .strides = &.{} } },
    };
    for (refused) |case| {
        if (Tensor.fromStatic(slice, case[0], case[1], &diagnostics)) |made| {
            var tensor = made;
            tensor.deinit();
            std.debug.print("accepted: {any} {any}\n", .{ case[0], case[1].strides });
            return error.TestUnexpectedResult;
        } else |err| {
            try expect(err != error.HurrayInternalPanic and err != error.HurrayInternal and err != error.HurrayUnknownStatus);
            try expect(diagnostics.message().len > 0);
        }
    }
    try baseline.expectSame();
}

test "bytes may hold any type, other memory what it is" {
    var bytes: [16]u8 = undefined;
    support.fillPattern(&bytes, 1);
    const slice: []u8 = &bytes;
    var tensor = try Tensor.fromStatic(slice, &.{8}, .{ .element_type = .bfloat16 }, null);
    defer tensor.deinit();
    const elements = try (try tensor.view(null)).slice(hurray.BFloat16, null);
    try expectEqual(std.mem.readInt(u16, bytes[2..4], .little), elements[1].bits);
    const floats = [_]f32{ 1, 2 };
    const float_slice: []const f32 = &floats;
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayInvalidType, .invalid_type, "f32", Tensor.fromStatic(float_slice, &.{2}, .{ .element_type = .int32 }, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidType, .invalid_type, "", Tensor.fromStatic(slice, &.{2}, .{ .element_type = @enumFromInt(0x47) }, &diagnostics), &diagnostics);
}

test "alignment policies" {
    const baseline = try support.Baseline.begin();
    const memory = try gpa.alignedAlloc(u8, hurray.buffer_alignment, 128);
    defer gpa.free(memory);
    support.fillPattern(memory, 5);
    const unaligned: []u8 = memory[4..68];
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayMisaligned, .misaligned, "4 above", Tensor.fromStatic(unaligned, &.{64}, .{ .alignment = .require }, &diagnostics), &diagnostics);
    var copied = try Tensor.fromStatic(unaligned, &.{64}, .{ .alignment = .copy }, &diagnostics);
    defer copied.deinit();
    const address = (try copied.view(null)).address().?;
    try expect(std.mem.isAligned(@intFromPtr(address), 64));
    try std.testing.expectEqualSlices(u8, unaligned, try (try copied.view(null)).bytes(null));
    var offset = try Tensor.fromStatic(unaligned, &.{64}, .{}, &diagnostics);
    defer offset.deinit();
    try expectEqual(4, (try offset.descriptorInfo(null)).byte_offset);
    try expectEqual(@intFromPtr(unaligned.ptr), @intFromPtr((try offset.view(null)).address().?));
    for ([_]hurray.AlignmentPolicy{ .require, .copy, .offset }) |policy| {
        const aligned: []u8 = memory[64..128];
        var tensor = try Tensor.fromStatic(aligned, &.{64}, .{ .alignment = policy }, &diagnostics);
        defer tensor.deinit();
        try expectEqual(@intFromPtr(aligned.ptr), @intFromPtr((try tensor.view(null)).address().?));
    }
    copied.deinit();
    offset.deinit();
    try baseline.expectSame();
}

test "allocated tensors are zero" {
    const baseline = try support.Baseline.begin();
    inline for (@typeInfo(hurray.ElementType).@"enum".fields) |field| {
        const element_type: hurray.ElementType = @enumFromInt(field.value);
        for ([_][]const u64{ &.{}, &.{0}, &.{ 3, 5 } }) |shape| {
            var tensor = try Tensor.allocate(element_type, shape, 0, null);
            defer tensor.deinit();
            const view = try tensor.view(null);
            const bytes = try view.bytes(null);
            try expectEqual(hurray.byteSizeOf(element_type, hurray.elementCountOf(shape).?).?, bytes.len);
            for (bytes) |byte| try expectEqual(0, byte);
        }
    }
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayInvalidLayout, .invalid_layout, "2^64", Tensor.allocate(.float32, &.{ 1 << 40, 1 << 40 }, 0, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidLayout, .invalid_layout, "2^64", Tensor.allocate(.float32, &.{1 << 63}, 0, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidLayout, .invalid_layout, "dynamic", Tensor.allocate(.float32, &.{hurray.dimension_dynamic}, 0, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidType, .invalid_type, "0xf0", Tensor.allocate(@enumFromInt(0xf0), &.{1}, 0, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayOutOfMemory, .out_of_memory, "", Tensor.allocate(.uint8, &.{1 << 62}, 0, &diagnostics), &diagnostics);
    try baseline.expectSame();
}

test "writing through a view writes the memory" {
    var items = [_]i16{ 1, 2, 3, 4 };
    const slice: []i16 = &items;
    var tensor = try Tensor.fromStatic(slice, &.{ 2, 2 }, .{ .strides = &.{ 1, 2 } }, null);
    defer tensor.deinit();
    const strided = try (try tensor.view(null)).strided(i16, null);
    try strided.set(&.{ 0, 1 }, -9, null);
    try expectEqual(-9, items[2]);
    var flat = try Tensor.fromStatic(slice, &.{4}, .{}, null);
    defer flat.deinit();
    (try (try flat.view(null)).sliceMutable(i16, null))[3] = 77;
    (try (try flat.view(null)).bytesMutable(null))[0] = 5;
    try expectEqual(77, items[3]);
    try expectEqual(5, items[0]);
}

test "read-only memory is not written" {
    var items = [_]i16{ 1, 2, 3, 4 };
    const constants: []const i16 = &items;
    const variables: []i16 = &items;
    var diagnostics: hurray.Diagnostics = .{};
    var first = try Tensor.fromStatic(constants, &.{4}, .{}, null);
    defer first.deinit();
    var second = try Tensor.fromStatic(variables, &.{4}, .{ .read_only = true }, null);
    defer second.deinit();
    var share = try second.share(null);
    defer share.deinit();
    for ([_]*Tensor{ &first, &second, &share }) |tensor| {
        const view = try tensor.view(null);
        try expect(view.isReadOnly());
        try support.expectFailure(error.HurrayReadOnly, .invalid_argument, "", view.sliceMutable(i16, &diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayReadOnly, .invalid_argument, "", view.bytesMutable(&diagnostics), &diagnostics);
        const strided = try view.strided(i16, &diagnostics);
        try support.expectFailure(error.HurrayReadOnly, .invalid_argument, "", strided.set(&.{0}, 1, &diagnostics), &diagnostics);
        try expectEqual(3, try strided.at(&.{2}, &diagnostics));
    }
    try expectEqual(1, items[0]);
}

test "dynamic shapes have a descriptor and no view" {
    var builder = try hurray.DescriptorBuilder.init(.float32, .row_major, &.{ hurray.dimension_dynamic, 2 }, null);
    defer builder.deinit();
    var buffer = try hurray.Buffer.allocate(64, 0, null);
    defer buffer.deinit();
    try builder.addBuffer(try buffer.entry(null), null);
    var descriptor = try builder.build(null);
    defer descriptor.deinit();
    var list = try hurray.BufferList.init(null);
    defer list.deinit();
    try list.push(&buffer, null);
    var tensor = try Tensor.fromParts(&descriptor, &list, null);
    defer tensor.deinit();
    try expectEqual(null, (try tensor.descriptorInfo(null)).element_count);
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayUnsupported, .unsupported, "", tensor.view(&diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayUnsupported, .unsupported, "", tensor.copy(0, &diagnostics), &diagnostics);
}

test "bfloat16 rounds to even and keeps what is special" {
    const BFloat16 = hurray.BFloat16;
    try expectEqual(0x3f80, BFloat16.fromF32(1).bits);
    try expectEqual(0x3f80, BFloat16.fromF32(@bitCast(@as(u32, 0x3f808000))).bits);
    try expectEqual(0x3f82, BFloat16.fromF32(@bitCast(@as(u32, 0x3f818000))).bits);
    try expectEqual(0x3f81, BFloat16.fromF32(@bitCast(@as(u32, 0x3f808001))).bits);
    try expectEqual(0x7f80, BFloat16.fromF32(std.math.inf(f32)).bits);
    try expectEqual(0xff80, BFloat16.fromF32(-std.math.inf(f32)).bits);
    try expectEqual(0x7f80, BFloat16.fromF32(std.math.floatMax(f32)).bits);
    try expectEqual(0x8000, BFloat16.fromF32(-0.0).bits);
    try expect(std.math.isNan(BFloat16.fromF32(@bitCast(@as(u32, 0x7f800001))).toF32()));
    for (0..0x10000) |bits| {
        const value: BFloat16 = .{ .bits = @intCast(bits) };
        if (!std.math.isNan(value.toF32())) try expectEqual(value, BFloat16.fromF32(value.toF32()));
    }
}

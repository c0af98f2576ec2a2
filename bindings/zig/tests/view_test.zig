//! Views: types, ranges, and elements that are smaller than a byte.

const std = @import("std");
const hurray = @import("hurray");
const support = @import("support.zig");

const gpa = support.gpa;
const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;
const Tensor = hurray.Tensor;

test "another type than the tensor's is refused" {
    @setEvalBranchQuota(10_000);
    var diagnostics: hurray.Diagnostics = .{};
    inline for (support.element_types) |Held| {
        var tensor = try Tensor.allocate(hurray.elementTypeOf(Held), &.{3}, 0, null);
        defer tensor.deinit();
        const view = try tensor.view(null);
        inline for (support.element_types) |Asked| {
            if (Held != Asked) {
                try support.expectFailure(error.HurrayInvalidType, .invalid_type, @typeName(Asked), view.slice(Asked, &diagnostics), &diagnostics);
                try support.expectFailure(error.HurrayInvalidType, .invalid_type, @typeName(Asked), view.strided(Asked, &diagnostics), &diagnostics);
                try support.expectFailure(error.HurrayInvalidType, .invalid_type, @typeName(Asked), view.tryAligned(Asked, &diagnostics), &diagnostics);
            }
        }
        try support.expectFailure(error.HurrayInvalidType, .invalid_type, "bool", view.packedView(bool, &diagnostics), &diagnostics);
        try expectEqual(3 * @sizeOf(Held), (try view.bytes(&diagnostics)).len);
    }
    var bools = try Tensor.allocate(.bool, &.{3}, 0, null);
    defer bools.deinit();
    const view = try bools.view(null);
    try expect(view.isPacked());
    try support.expectFailure(error.HurrayInvalidType, .invalid_type, "u8", view.slice(u8, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidType, .invalid_type, "i4", view.packedView(i4, &diagnostics), &diagnostics);
}

test "aligned slices are refused where the elements lie otherwise" {
    const memory = try gpa.alignedAlloc(u8, hurray.buffer_alignment, 64);
    defer gpa.free(memory);
    support.fillPattern(memory, 9);
    var diagnostics: hurray.Diagnostics = .{};
    for (0..9) |shift| {
        const part = std.mem.bytesAsSlice(f64, memory[shift..][0..16]);
        var tensor = try Tensor.fromStatic(part, &.{2}, .{}, null);
        defer tensor.deinit();
        const view = try tensor.view(null);
        const elements: []align(1) const f64 = try view.slice(f64, null);
        try std.testing.expectEqualSlices(u8, memory[shift + 8 ..][0..8], std.mem.asBytes(&elements[1]));
        if (shift % 8 == 0) {
            const aligned: []const f64 = try view.tryAligned(f64, null);
            try expectEqual(@intFromPtr(part.ptr), @intFromPtr(aligned.ptr));
        } else {
            try support.expectFailure(error.HurrayMisaligned, .misaligned, "multiple of 8", view.tryAligned(f64, &diagnostics), &diagnostics);
        }
    }
}

test "slices of what is not contiguous are refused" {
    const items = [_]i32{ 1, 2, 3, 4 };
    const slice: []const i32 = &items;
    var diagnostics: hurray.Diagnostics = .{};
    for ([_]Tensor.HostOptions{ .{ .layout = .col_major }, .{ .strides = &.{ 1, 2 } } }) |options| {
        var tensor = try Tensor.fromStatic(slice, &.{ 2, 2 }, options, null);
        defer tensor.deinit();
        const view = try tensor.view(null);
        try support.expectFailure(error.HurrayNotContiguous, .unsupported, "row-major", view.slice(i32, &diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayNotContiguous, .unsupported, "row-major", view.tryAligned(i32, &diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayNotContiguous, .unsupported, "row-major", view.bytes(&diagnostics), &diagnostics);
        try expectEqual(3, try (try view.strided(i32, null)).at(&.{ 0, 1 }, null));
    }
}

test "ranges are checked" {
    var tensor = try Tensor.allocate(.int32, &.{ 2, 3 }, 0, null);
    defer tensor.deinit();
    var diagnostics: hurray.Diagnostics = .{};
    const strided = try (try tensor.view(null)).strided(i32, null);
    try support.expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "index[0]", strided.at(&.{ 2, 0 }, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "index[1]", strided.at(&.{ 1, 3 }, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "index[1]", strided.set(&.{ 0, std.math.maxInt(u64) }, 1, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "2 numbers", strided.at(&.{1}, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "2 numbers", strided.at(&.{ 0, 0, 0 }, &diagnostics), &diagnostics);
    var five: [5]i32 = undefined;
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "6 elements", strided.copyRowMajor(&five, &diagnostics), &diagnostics);
    var bools = try Tensor.fromBools(&.{ true, false, true }, &.{3}, null);
    defer bools.deinit();
    const bits = try (try bools.view(null)).packedView(bool, null);
    try support.expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "index[0]", bits.at(&.{3}, &diagnostics), &diagnostics);
    var two: [2]bool = undefined;
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "3 elements", bits.copyRowMajor(&two, &diagnostics), &diagnostics);
}

test "truth values are packed, least significant bit first" {
    const values = [_]bool{ true, false, true, true, false, false, false, true, true, false, true };
    var tensor = try Tensor.fromBools(&values, &.{11}, null);
    defer tensor.deinit();
    const view = try tensor.view(null);
    try std.testing.expectEqualSlices(u8, &.{ 0b10001101, 0b101 }, try view.bytes(null));
    const bits = try view.packedView(bool, null);
    var out: [11]bool = undefined;
    try bits.copyRowMajor(&out, null);
    try std.testing.expectEqualSlices(bool, &values, &out);
    var scalar = try Tensor.fromBools(&.{true}, &.{}, null);
    defer scalar.deinit();
    try expectEqual(true, try (try (try scalar.view(null)).packedView(bool, null)).at(&.{}, null));
    var empty = try Tensor.fromBools(&.{}, &.{ 2, 0 }, null);
    defer empty.deinit();
    var none = (try (try empty.view(null)).packedView(bool, null)).iterator();
    try expectEqual(null, none.next());
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "11", Tensor.fromBools(&values, &.{12}, &diagnostics), &diagnostics);
}

/// The bits of element `at`, one by one.
fn bitsAt(bytes: []const u8, comptime width: usize, at: i64) u8 {
    var value: u8 = 0;
    for (0..width) |b| {
        const position: usize = @intCast(at * width + @as(i64, @intCast(b)));
        value |= (bytes[position / 8] >> @intCast(position % 8) & 1) << @intCast(b);
    }
    return value;
}

test "packed elements of any strides" {
    const baseline = try support.Baseline.begin();
    const cases = .{
        .{ bool, .bool },      .{ u2, .uint2 },       .{ i2, .int2 },        .{ u4, .uint4 }, .{ i4, .int4 },
        .{ u4, .float4_e2m1 }, .{ u6, .float6_e2m3 }, .{ u6, .float6_e3m2 },
    };
    const Shape = struct { shape: []const u64, layout: hurray.Layout = .row_major, strides: ?[]const i64 = null, byte_offset: u64 = 0 };
    const shapes = [_]Shape{
        .{ .shape = &.{ 3, 5 } },
        .{ .shape = &.{ 3, 5 }, .layout = .col_major },
        .{ .shape = &.{ 3, 5 }, .byte_offset = 3 },
        .{ .shape = &.{ 3, 5 }, .strides = &.{ 7, 1 } },
        .{ .shape = &.{ 3, 5 }, .strides = &.{ -7, -1 }, .byte_offset = 30 },
        .{ .shape = &.{ 3, 5 }, .strides = &.{ 0, 3 } },
        .{ .shape = &.{}, .byte_offset = 2 },
        .{ .shape = &.{ 4, 0 } },
    };
    inline for (cases) |case| {
        const T = case[0];
        const width = @bitSizeOf(T);
        for (shapes) |shape| {
            var bytes: [48]u8 = undefined;
            support.fillPattern(&bytes, width);
            const slice: []const u8 = &bytes;
            var diagnostics: hurray.Diagnostics = .{};
            errdefer std.debug.print("{s} {any}: {f}\n", .{ @typeName(T), shape, &diagnostics });
            var tensor = try Tensor.fromStatic(slice, shape.shape, .{
                .layout = shape.layout,
                .strides = shape.strides,
                .byte_offset = shape.byte_offset,
                .element_type = case[1],
            }, &diagnostics);
            defer tensor.deinit();
            const view = try (try tensor.view(&diagnostics)).packedView(T, &diagnostics);
            var own: [64]i64 = undefined;
            const strides = shape.strides orelse support.stridesOf(shape.layout, shape.shape, &own);
            var index_memory: [64]u64 = @splat(0);
            const index = index_memory[0..shape.shape.len];
            const count = hurray.elementCountOf(shape.shape).?;
            var iterator = view.iterator();
            const start: i64 = @intCast(shape.byte_offset * 8);
            for (0..@intCast(count)) |_| {
                // In bits from the start of the memory; the element's offset may be negative.
                const first = start + support.offsetOf(index, strides) * width;
                var expected: u8 = 0;
                for (0..width) |b| expected |= bitsAt(&bytes, 1, first + @as(i64, @intCast(b))) << @intCast(b);
                const got = try view.at(index, &diagnostics);
                const code: u8 = if (T == bool) @intFromBool(got) else @as(@Int(.unsigned, width), @bitCast(got));
                try expectEqual(expected, code);
                try expectEqual(got, iterator.next().?);
                _ = support.advance(index, shape.shape);
            }
            try expectEqual(null, iterator.next());
        }
    }
    try baseline.expectSame();
}

test "six-bit elements come in groups of three bytes" {
    const bytes: []const u8 = &.{ 0x81, 0x40, 0x20 };
    var tensor = try Tensor.fromStatic(bytes, &.{4}, .{ .element_type = .float6_e2m3 }, null);
    defer tensor.deinit();
    var codes: [4]u6 = undefined;
    try (try (try tensor.view(null)).packedView(u6, null)).copyRowMajor(&codes, null);
    try std.testing.expectEqualSlices(u6, &.{ 1, 2, 4, 8 }, &codes);
}

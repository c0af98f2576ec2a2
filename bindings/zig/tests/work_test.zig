//! Work on elements: single ones by index, other layouts, quantization, validation, statistics, composites put together.

const std = @import("std");
const hurray = @import("hurray");
const support = @import("support.zig");

const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;
const expectError = std.testing.expectError;
const expectFailure = support.expectFailure;
const Tensor = hurray.Tensor;

const numbers: []const f32 = &.{ 0, 1.5, -2, 0, 4, -8 };

/// A 2 x 3 tensor of these numbers.
fn sixNumbers() !Tensor {
    return .fromStatic(numbers, &.{ 2, 3 }, .{}, null);
}

test "an element is read by its index, in every layout" {
    const baseline = try support.Baseline.begin();
    var dense = try sixNumbers();
    defer dense.deinit();
    for ([_]hurray.Layout{ .row_major, .col_major, .morton, .coo, .csr, .csc }) |layout| {
        var tensor = try dense.transcode(layout, .{}, null);
        defer tensor.deinit();
        try expectEqual(layout, (try tensor.descriptorInfo(null)).layout);
        var index = [_]u64{ 0, 0 };
        for (numbers) |number| {
            try expectEqual(@as(f64, number), try tensor.elementFloat64(&index, null));
            const bits = try tensor.elementBits(&index, null);
            try expectEqual(32, bits.bits);
            try expectEqual(@as(u32, @bitCast(number)), @as(u32, @intCast(bits.value)));
            try expectEqual(@as(f64, number), (try tensor.elementComplex128(&index, null)).re);
            _ = support.advance(&index, &.{ 2, 3 });
        }
        // What a sparse tensor does not store has no place.
        try expectEqual(layout == .coo or layout == .csr or layout == .csc, try tensor.elementAddress(&.{ 0, 0 }, null) == null);
        tensor.deinit();
    }
    const place = (try dense.elementAddress(&.{ 1, 2 }, null)).?;
    try expectEqual(32, place.bits);
    try expectEqual(0, place.bit_offset);
    const info = try dense.descriptorInfo(null);
    try expectEqual(info.byte_offset + 20, place.byte_offset);
    dense.deinit();
    try baseline.expectSame();
}

test "elements: rank 0, bits within a byte, and indices that are none" {
    var diagnostics: hurray.Diagnostics = .{};
    var scalar = try Tensor.fromStatic(@as([]const f64, &.{0.5}), &.{}, .{}, null);
    defer scalar.deinit();
    try expectEqual(0.5, try scalar.elementFloat64(&.{}, null));
    var bools = try Tensor.fromBools(&.{ false, true, false, true }, &.{4}, null);
    defer bools.deinit();
    const place = (try bools.elementAddress(&.{3}, null)).?;
    try expectEqual(3, place.bit_offset);
    try expectEqual(1, place.bits);
    try expectEqual(1, try bools.elementFloat64(&.{3}, null));
    var empty = try Tensor.allocate(.int16, &.{ 0, 3 }, 0, null);
    defer empty.deinit();
    try expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "", empty.elementFloat64(&.{ 0, 0 }, &diagnostics), &diagnostics);
    try expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "", bools.elementBits(&.{4}, &diagnostics), &diagnostics);
    try expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", bools.elementAddress(&.{ 0, 0 }, &diagnostics), &diagnostics);
    try expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", bools.elementDequantized(&.{0}, &diagnostics), &diagnostics);
    scalar.deinit();
    try expectError(error.HurrayClosed, scalar.elementFloat64(&.{}, null));
}

test "a layout with fields is made as its builder says" {
    var dense = try sixNumbers();
    defer dense.deinit();
    var fields = try hurray.DescriptorBuilder.init(.float32, .strided, &.{ 2, 3 }, null);
    defer fields.deinit();
    try fields.setLayoutFields(.{ .strided = &.{ 1, 2 } }, null);
    var strided = try dense.transcode(.strided, .{ .fields = &fields, .alignment = 128 }, null);
    defer strided.deinit();
    try std.testing.expectEqualSlices(i64, &.{ 1, 2 }, (try strided.layoutFields(null)).strided);
    try expectEqual(-8, try strided.elementFloat64(&.{ 1, 2 }, null));
    try expectError(error.HurrayInvalidArgument, dense.transcode(.strided, .{}, null));
    try expectError(error.HurrayInvalidArgument, dense.transcode(.row_major, .{ .alignment = 3 }, null));
    try expectError(error.HurrayUnsupported, dense.transcode(.block_paged, .{}, null));
}

test "what was quantized is dequantized to within a step" {
    const baseline = try support.Baseline.begin();
    var values: [64]f32 = undefined;
    for (&values, 0..) |*value, i| value.* = @as(f32, @floatFromInt(i)) * 0.25 - 8;
    var dense = try Tensor.fromStatic(@as([]const f32, &values), &.{ 2, 32 }, .{}, null);
    defer dense.deinit();
    const cases = .{
        .{ hurray.Scheme.per_tensor_affine, hurray.ElementType.int8, Tensor.QuantizeOptions{ .symmetric = true } },
        .{ hurray.Scheme.per_channel_affine, hurray.ElementType.uint8, Tensor.QuantizeOptions{ .axis = 0 } },
        .{ hurray.Scheme.per_block_affine, hurray.ElementType.int4, Tensor.QuantizeOptions{ .axis = 1, .block_size = 32, .scale_type = .float16, .symmetric = true } },
    };
    inline for (cases) |case| {
        var stored = try dense.quantize(case[0], case[1], case[2], null);
        defer stored.deinit();
        try expect((try stored.quantization(null)) != null);
        try stored.validate(.data, .{}, null);
        var again = try stored.dequantize(.float32, .{}, null);
        defer again.deinit();
        const step: f32 = if (case[1] == .int4) 8.0 / 7.0 else 16.0 / 127.0;
        for (values, try (try again.view(null)).slice(f32, null), 0..) |wanted, got, i| {
            try expect(@abs(wanted - got) <= step);
            try expectEqual(got, @as(f32, @floatCast(try stored.elementDequantized(&.{ i / 32, i % 32 }, null))));
        }
        stored.deinit();
        again.deinit();
    }
    try expectError(error.HurrayInvalidArgument, dense.dequantize(.float32, .{}, null));
    const nan: []const f32 = &.{std.math.nan(f32)};
    var without_place = try Tensor.fromStatic(nan, &.{1}, .{}, null);
    defer without_place.deinit();
    try expectError(error.HurrayInvalidArgument, without_place.quantize(.per_tensor_affine, .int8, .{}, null));
    dense.deinit();
    without_place.deinit();
    try baseline.expectSame();
}

test "statistics are those of the elements, and can be given to a builder" {
    var dense = try sixNumbers();
    defer dense.deinit();
    const wanted: hurray.StatisticsFlags = .{ .nnz = true, .range = true, .moments = true };
    const found = try dense.computeStatistics(wanted, .{}, null);
    try expectEqual(wanted, found.computed);
    try expectEqual(4, found.nnz);
    try expectEqual(-8, found.value_min);
    try expectEqual(4, found.value_max);
    try expectEqual(-4.5 / 6.0, found.value_mean);
    var builder = try hurray.DescriptorBuilder.init(.float32, .row_major, &.{ 2, 3 }, null);
    defer builder.deinit();
    try builder.setStatistics(found, null);
    try expectError(error.HurrayInvalidArgument, dense.computeStatistics(@bitCast(@as(u32, 1) << 31), .{}, null));
}

/// Counts reports, and stops at one of them.
const Watcher = struct {
    reports: u32 = 0,
    stop_at: u32,

    fn report(context: ?*anyopaque, done: u64, total: u64) bool {
        const self: *Watcher = @ptrCast(@alignCast(context.?));
        std.debug.assert(done <= total);
        self.reports += 1;
        return self.reports != self.stop_at;
    }
};

test "long work reports, is stopped, and keeps to its limit of memory" {
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};
    var large = try Tensor.allocate(.float32, &.{ 1024, 1024 }, 0, null);
    defer large.deinit();
    var watcher: Watcher = .{ .stop_at = 0 };
    var turned = try large.transcode(.col_major, .{ .work = .{ .progress = Watcher.report, .context = &watcher } }, null);
    turned.deinit();
    try expect(watcher.reports > 0);
    watcher = .{ .stop_at = 1 };
    const stopped: hurray.Work = .{ .progress = Watcher.report, .context = &watcher };
    try expectFailure(error.HurrayCancelled, .cancelled, "", large.transcode(.col_major, .{ .work = stopped }, &diagnostics), &diagnostics);
    watcher = .{ .stop_at = 1 };
    try expectFailure(error.HurrayCancelled, .cancelled, "", large.computeStatistics(.{ .nnz = true }, stopped, &diagnostics), &diagnostics);
    const limited: hurray.Work = .{ .memory_limit = 1024 };
    try expectFailure(error.HurrayLimitExceeded, .limit_exceeded, "", large.transcode(.col_major, .{ .work = limited }, &diagnostics), &diagnostics);
    large.deinit();
    try baseline.expectSame();
}

test "a composite is read through its head, put together, and goes through a stream" {
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};
    errdefer std.debug.print("{f}\n", .{&diagnostics});
    var sum = try support.sumOfTwo(numbers, &diagnostics);
    defer sum.deinit();
    try expectEqual(-16, try sum.elementFloat64(&.{ 1, 2 }, &diagnostics));
    try expectEqual(3, (try sum.elementComplex128(&.{ 0, 1 }, &diagnostics)).re);
    try expectEqual(@as(u32, @bitCast(@as(f32, 8))), @as(u32, @intCast((try sum.elementBits(&.{ 1, 1 }, &diagnostics)).value)));
    try expectFailure(error.HurrayUnsupported, .unsupported, "", sum.memberAt(&.{ 0, 0 }, &diagnostics), &diagnostics);
    var merged = try sum.merged(.{}, &diagnostics);
    defer merged.deinit();
    for (numbers, try (try merged.view(null)).slice(f32, null)) |number, got| try expectEqual(2 * number, got);

    var writer = try hurray.TensorStreamWriter.toMemory(null);
    defer writer.deinit();
    try writer.writeComposite(&sum, &diagnostics);
    try writer.write(&merged, &diagnostics);
    var stream = try writer.take(null);
    defer stream.deinit();
    var reader = try hurray.TensorStreamReader.fromMemory(try stream.bytes(null), .{}, null);
    defer reader.deinit();
    var first = (try reader.nextItem(&diagnostics)).?;
    defer first.deinit();
    try expectEqual(-4, try first.composite.elementFloat64(&.{ 0, 2 }, &diagnostics));
    var second = (try reader.nextItem(&diagnostics)).?;
    defer second.deinit();
    try expectEqual(-4, try second.tensor.elementFloat64(&.{ 0, 2 }, &diagnostics));
    try expect(try reader.nextItem(&diagnostics) == null);

    // A stream that is cut within its composite.
    const whole = try stream.bytes(null);
    var cut = try hurray.TensorStreamReader.fromMemory(whole[0 .. whole.len / 4], .{}, null);
    defer cut.deinit();
    if (cut.nextItem(&diagnostics)) |_| return error.TestUnexpectedResult else |_| {}
    inline for (.{ &sum, &merged, &writer, &stream, &reader, &first, &second, &cut }) |ended| ended.deinit();
    try baseline.expectSame();
}

test "a partition says which member an element lies in" {
    var head_builder = try hurray.DescriptorBuilder.init(.float32, .composite, &.{ 2, 3 }, null);
    defer head_builder.deinit();
    try head_builder.setLayoutFields(.{ .composite = .{ .rule = .partition, .combine_op = .none, .member_count = 2 } }, null);
    var head = try head_builder.build(null);
    defer head.deinit();
    var builder = try hurray.Composite.Builder.init(&head, null);
    defer builder.deinit();
    for (0..2) |row| {
        var member = try hurray.DescriptorBuilder.init(.float32, .row_major, &.{ 1, 3 }, null);
        defer member.deinit();
        try member.setShard(&.{ 2, 3 }, &.{ row, 0 }, null);
        var buffer = try hurray.Buffer.allocate(12, 0, null);
        defer buffer.deinit();
        try member.addBuffer(try buffer.entry(null), null);
        var described = try member.build(null);
        defer described.deinit();
        var list = try hurray.BufferList.init(null);
        defer list.deinit();
        try list.push(&buffer, null);
        var tensor = try Tensor.fromParts(&described, &list, null);
        defer tensor.deinit();
        for (try (try tensor.view(null)).sliceMutable(f32, null), 0..) |*value, i| value.* = @floatFromInt(10 * row + i);
        try builder.addTensor(&tensor, null);
    }
    var diagnostics: hurray.Diagnostics = .{};
    errdefer std.debug.print("{f}\n", .{&diagnostics});
    var whole = try builder.build(&diagnostics);
    defer whole.deinit();
    try expectEqual(0, try whole.memberAt(&.{ 0, 2 }, null));
    try expectEqual(1, try whole.memberAt(&.{ 1, 0 }, null));
    try expectEqual(12, try whole.elementFloat64(&.{ 1, 2 }, null));
    try expectError(error.HurrayIndexOutOfBounds, whole.memberAt(&.{ 2, 0 }, null));
    try expectError(error.HurrayInvalidArgument, whole.memberAt(&.{0}, null));
}

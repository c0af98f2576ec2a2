//! Use after the end is a typed error, a second end a no-op.

const std = @import("std");
const hurray = @import("hurray");
const support = @import("support.zig");

const gpa = support.gpa;
const expectEqual = std.testing.expectEqual;
const expectError = std.testing.expectError;

test "everything may be ended twice, and used no more" {
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};

    var tensor = try hurray.Tensor.allocate(.float32, &.{2}, 0, null);
    var pair = try tensor.exportPair(null);
    var buffer = try tensor.shareBuffer(0, null);
    const encoded = try tensor.encodeDescriptor(gpa, null);
    defer gpa.free(encoded);
    var descriptor = try hurray.Descriptor.decode(encoded, null);
    var builder = try hurray.DescriptorBuilder.init(.float32, .row_major, &.{}, null);
    var reader = try hurray.TensorStreamReader.fromMemory("", .{}, null);
    var writer = try hurray.TensorStreamWriter.toMemory(null);
    for (0..2) |_| {
        tensor.deinit();
        pair.deinit();
        buffer.deinit();
        descriptor.deinit();
        builder.deinit();
        reader.deinit();
        writer.deinit();
    }
    tensor.deinitDeferred();
    buffer.deinitDeferred();
    pair.list.deinitDeferred();
    pair.context.deinitDeferred();
    try baseline.expectSame();

    try support.expectFailure(error.HurrayClosed, .invalid_handle, "the tensor was ended", tensor.view(&diagnostics), &diagnostics);
    try expectError(error.HurrayClosed, tensor.share(null));
    try expectError(error.HurrayClosed, tensor.copy(0, null));
    try expectError(error.HurrayClosed, tensor.pin(null));
    try expectError(error.HurrayClosed, tensor.exportPair(null));
    try expectError(error.HurrayClosed, tensor.intoRaw(null));
    try expectError(error.HurrayClosed, tensor.descriptorInfo(null));
    try expectError(error.HurrayClosed, tensor.encodeDescriptor(gpa, null));
    try expectError(error.HurrayClosed, tensor.shareBuffer(0, null));
    try expectError(error.HurrayClosed, pair.list.len(null));
    try expectError(error.HurrayClosed, pair.context.abiVersion(null));
    try expectError(error.HurrayClosed, hurray.Tensor.import(&pair.list, &pair.context, null));
    try expectError(error.HurrayClosed, buffer.info(null));
    try expectError(error.HurrayClosed, buffer.bytes(null));
    try expectError(error.HurrayClosed, descriptor.info(null));
    try expectError(error.HurrayClosed, descriptor.encodeAlloc(gpa, null));
    try expectError(error.HurrayClosed, builder.build(null));
    try expectError(error.HurrayClosed, builder.setByteOffset(1, null));
    try expectError(error.HurrayClosed, reader.next(null));
    try expectError(error.HurrayClosed, writer.write(&tensor, null));
    try expectError(error.HurrayClosed, writer.take(null));
}

test "a copy of the value knows that the original was ended" {
    // Without safety checks nobody remembers.
    if (!std.debug.runtime_safety) return error.SkipZigTest;
    var diagnostics: hurray.Diagnostics = .{};
    var original = try hurray.Tensor.allocate(.float32, &.{2}, 0, null);
    var copy = original;
    original.deinit();
    try support.expectFailure(error.HurrayClosed, .invalid_handle, "", copy.view(&diagnostics), &diagnostics);
    // The next tensor takes the place of the first; the copy is not fooled, and its end ends nothing.
    var next = try hurray.Tensor.allocate(.float32, &.{2}, 0, null);
    defer next.deinit();
    try expectError(error.HurrayClosed, copy.view(null));
    copy.deinit();
    try expectEqual(2, (try next.view(null)).elementCount());
}

test "a view knows that its tensor was ended" {
    // Without safety checks nobody remembers.
    if (!std.debug.runtime_safety) return error.SkipZigTest;
    var diagnostics: hurray.Diagnostics = .{};
    const items: []const f32 = &.{ 1, 2 };
    var tensor = try hurray.Tensor.fromStatic(items, &.{2}, .{}, null);
    const view = try tensor.view(null);
    const strided = try view.strided(f32, null);
    var bools = try hurray.Tensor.fromBools(&.{true}, &.{1}, null);
    const bits = try (try bools.view(null)).packedView(bool, null);
    tensor.deinit();
    bools.deinit();
    try support.expectFailure(error.HurrayClosed, .invalid_handle, "tensor of this view", view.slice(f32, &diagnostics), &diagnostics);
    try expectError(error.HurrayClosed, view.sliceMutable(f32, null));
    try expectError(error.HurrayClosed, view.tryAligned(f32, null));
    try expectError(error.HurrayClosed, view.bytes(null));
    try expectError(error.HurrayClosed, view.strided(f32, null));
    try expectError(error.HurrayClosed, view.packedView(bool, null));
    try expectError(error.HurrayClosed, strided.at(&.{0}, null));
    try expectError(error.HurrayClosed, bits.at(&.{0}, null));
    var out: [2]f32 = undefined;
    try expectError(error.HurrayClosed, strided.copyRowMajor(&out, null));
}

test "a pinned view outlives its tensor" {
    const baseline = try support.Baseline.begin();
    const items = try gpa.dupe(i64, &.{ 5, 6 });
    var tensor = try hurray.Tensor.fromOwned(gpa, items, &.{2}, .{}, null);
    var pinned = try tensor.pin(null);
    tensor.deinit();
    try std.testing.expectEqualSlices(i64, &.{ 5, 6 }, try pinned.view.tryAligned(i64, null));
    pinned.deinit();
    pinned.deinit();
    if (std.debug.runtime_safety) try expectError(error.HurrayClosed, pinned.view.slice(i64, null));
    try baseline.expectSame();
}

test "what moved is empty" {
    const baseline = try support.Baseline.begin();
    var tensor = try hurray.Tensor.allocate(.float32, &.{2}, 0, null);
    const view = try tensor.view(null);
    var moved = try hurray.Tensor.fromRaw(try tensor.intoRaw(null), null);
    try expectError(error.HurrayClosed, tensor.view(null));
    // A view belongs to the object that made it.
    if (std.debug.runtime_safety) try expectError(error.HurrayClosed, view.slice(f32, null));
    tensor.deinit();
    try expectEqual(2, (try (try moved.view(null)).slice(f32, null)).len);
    moved.deinit();
    try baseline.expectSame();
}

//! Tensors as pairs of list and context.

const std = @import("std");
const hurray = @import("hurray");
const support = @import("support.zig");

const gpa = support.gpa;
const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;

fn three(diagnostics: ?*hurray.Diagnostics) !hurray.Tensor {
    const items = try gpa.dupe(i32, &.{ 1, -2, 3 });
    errdefer gpa.free(items);
    return hurray.Tensor.fromOwned(gpa, items, &.{3}, .{}, diagnostics);
}

test "a pair carries the tensor and shares its memory" {
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};
    var tensor = try three(&diagnostics);
    const address = (try tensor.view(&diagnostics)).address();
    var pair = try tensor.exportPair(&diagnostics);
    defer pair.deinit();
    try expectEqual(1, try pair.list.len(&diagnostics));
    try expectEqual(hurray.c_abi_version, try pair.context.abiVersion(&diagnostics));
    const encoded = try tensor.encodeDescriptor(gpa, &diagnostics);
    defer gpa.free(encoded);
    try std.testing.expectEqualSlices(u8, encoded, try pair.context.descriptor(&diagnostics));
    tensor.deinit();
    var imported = try hurray.Tensor.import(&pair.list, &pair.context, &diagnostics);
    defer imported.deinit();
    const view = try imported.view(&diagnostics);
    try expectEqual(address, view.address());
    try expectEqual(-2, (try view.slice(i32, &diagnostics))[1]);
    // Both have moved.
    try support.expectFailure(error.HurrayClosed, .invalid_handle, "buffer list", pair.list.len(&diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayClosed, .invalid_handle, "tensor context", pair.context.abiVersion(&diagnostics), &diagnostics);
    imported.deinit();
    try baseline.expectSame();
}

test "bare pointers travel" {
    const baseline = try support.Baseline.begin();
    var tensor = try three(null);
    var pair = try tensor.exportPair(null);
    tensor.deinit();
    const list_pointer = try pair.list.intoRaw(null);
    const context_pointer = try pair.context.intoRaw(null);
    // An empty object gives nothing away.
    try std.testing.expectError(error.HurrayClosed, pair.list.intoRaw(null));
    pair.deinit();
    var list = try hurray.BufferList.fromRaw(list_pointer, null);
    var context = try hurray.TensorContext.fromRaw(context_pointer, null);
    var imported = try hurray.Tensor.import(&list, &context, null);
    const raw = try imported.intoRaw(null);
    imported.deinit();
    var owned = try hurray.Tensor.fromRaw(raw, null);
    try expectEqual(3, (try (try owned.view(null)).slice(i32, null))[2]);
    owned.deinit();
    try baseline.expectSame();
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayNullPointer, .null_pointer, "null", hurray.Tensor.fromRaw(null, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayNullPointer, .null_pointer, "null", hurray.BufferList.fromRaw(null, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayNullPointer, .null_pointer, "null", hurray.TensorContext.fromRaw(null, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayNullPointer, .null_pointer, "null", hurray.Buffer.fromRaw(null, &diagnostics), &diagnostics);
}

test "contexts of other versions are refused before anything else is read, and stay the caller's" {
    const baseline = try support.Baseline.begin();
    for ([_]u32{ 3, 5, 1, 0xffffffff }) |version| {
        var tensor = try three(null);
        defer tensor.deinit();
        var pair = try tensor.exportPair(null);
        defer pair.deinit();
        const encoded = try tensor.encodeDescriptor(gpa, null);
        defer gpa.free(encoded);
        var context = try hurray.TensorContext.initVersion(version, encoded, null);
        defer context.deinit();
        var diagnostics: hurray.Diagnostics = .{};
        try support.expectFailure(error.HurrayVersionMismatch, .version_mismatch, "version 4", hurray.Tensor.import(&pair.list, &context, &diagnostics), &diagnostics);
        try expectEqual(hurray.Versions{ .built_for = 4, .found = version }, diagnostics.versions().?);
        var buffer: [32]u8 = undefined;
        try expect(std.mem.indexOf(u8, diagnostics.message(), try std.fmt.bufPrint(&buffer, "version {d}", .{version})) != null);
        try support.expectFailure(error.HurrayVersionMismatch, .version_mismatch, "", context.descriptor(&diagnostics), &diagnostics);
        try expectEqual(version, try context.abiVersion(&diagnostics));
        try expectEqual(1, try pair.list.len(&diagnostics));
        // With the right context the same list goes in.
        var imported = try hurray.Tensor.import(&pair.list, &pair.context, &diagnostics);
        imported.deinit();
    }
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayVersionMismatch, .version_mismatch, "", hurray.TensorContext.initVersion(0, "", &diagnostics), &diagnostics);
    try baseline.expectSame();
}

test "the library itself refuses them, too" {
    const abi = @import("hurray_abi");
    try hurray.load(null, null);
    const library: *anyopaque = std.c.dlopen((try hurray.runtimeInfo(null)).library_path, .{ .NOW = true }).?;
    const import: @FieldType(abi.Table, "tensor_import") = @ptrCast(@alignCast(std.c.dlsym(library, "hurray_tensor_import").?));
    var tensor = try three(null);
    defer tensor.deinit();
    var pair = try tensor.exportPair(null);
    defer pair.deinit();
    for ([_]u32{ 3, 5 }) |version| {
        var context = try hurray.TensorContext.initVersion(version, "", null);
        defer context.deinit();
        var list_variable: ?*hurray.c.HurrayBufferList = pair.list.handle.pointer;
        var context_variable: ?*hurray.c.HurrayTensorContext = context.handle.pointer;
        var out: ?*hurray.c.HurrayTensor = null;
        try expectEqual(-2, import(&list_variable, &context_variable, &out, null));
        try expect(list_variable != null and context_variable != null and out == null);
    }
}

test "what does not belong together stays with its owner" {
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};
    var tensor = try three(null);
    const encoded = try tensor.encodeDescriptor(gpa, null);
    defer gpa.free(encoded);
    tensor.deinit();
    var context = try hurray.TensorContext.init(encoded, null);
    defer context.deinit();
    var list = try hurray.BufferList.init(null);
    defer list.deinit();
    // No buffer at all.
    try support.expectFailure(error.HurrayInvalidLayout, .invalid_layout, "", hurray.Tensor.import(&list, &context, &diagnostics), &diagnostics);
    try expectEqual(0, try list.len(null));
    // One that is too small.
    var small = try hurray.Buffer.allocate(8, 0, null);
    try list.push(&small, null);
    try support.expectFailure(error.HurrayBufferTooSmall, .buffer_too_small, "", hurray.Tensor.import(&list, &context, &diagnostics), &diagnostics);
    try expectEqual(1, try list.len(null));
    var descriptor = try hurray.Descriptor.decode(encoded, null);
    defer descriptor.deinit();
    try support.expectFailure(error.HurrayBufferTooSmall, .buffer_too_small, "", hurray.Tensor.fromParts(&descriptor, &list, &diagnostics), &diagnostics);
    try expectEqual(1, try list.len(null));
    // A descriptor that is none.
    var garbage = try hurray.TensorContext.init("garbage that is no descriptor", null);
    defer garbage.deinit();
    try support.expectFailure(error.HurrayInvalidMagic, .invalid_magic, "", hurray.Tensor.import(&list, &garbage, &diagnostics), &diagnostics);
    // A format of a later version is no mismatch of the C ABI.
    var later = try hurray.TensorContext.init("HRRY\x02\x00\x14\x00\x00\x00\x00\x00\x00\x00\x03\x01\x00\x00\x00\x00", null);
    defer later.deinit();
    try support.expectFailure(error.HurrayVersionMismatch, .version_mismatch, "", hurray.Tensor.import(&list, &later, &diagnostics), &diagnostics);
    try expectEqual(null, diagnostics.versions());
    later.deinit();
    var empty = try hurray.TensorContext.init("", null);
    defer empty.deinit();
    try expectEqual(0, (try empty.descriptor(null)).len);
    if (hurray.Tensor.import(&list, &empty, &diagnostics)) |_| return error.TestUnexpectedResult else |_| {}
    try expectEqual(1, try list.len(null));
    list.deinit();
    context.deinit();
    garbage.deinit();
    empty.deinit();
    descriptor.deinit();
    try baseline.expectSame();
}

fn count(counter: *u32) void {
    counter.* += 1;
}

test "the owner of a context is released with the last use of the memory" {
    const baseline = try support.Baseline.begin();
    var released: u32 = 0;
    var tensor = try three(null);
    const encoded = try tensor.encodeDescriptor(gpa, null);
    defer gpa.free(encoded);
    var pair = try tensor.exportPair(null);
    defer pair.deinit();
    tensor.deinit();
    var context = try hurray.TensorContext.initOwner(gpa, encoded, &released, count, null);
    var imported = try hurray.Tensor.import(&pair.list, &context, null);
    context.deinit();
    var share = try imported.share(null);
    var buffer = try share.shareBuffer(0, null);
    imported.deinit();
    share.deinit();
    try expectEqual(0, released);
    buffer.deinit();
    try expectEqual(1, released);
    // Never imported: the end of the context releases it.
    var unused = try hurray.TensorContext.initOwner(gpa, encoded, &released, count, null);
    unused.deinit();
    unused.deinit();
    try expectEqual(2, released);
    pair.deinit();
    try baseline.expectSame();
}

test "no owner is released when the context cannot be made" {
    var released: u32 = 0;
    var failing: std.testing.FailingAllocator = .init(gpa, .{ .fail_index = 0 });
    try std.testing.expectError(error.OutOfMemory, hurray.TensorContext.initOwner(failing.allocator(), "", &released, count, null));
    try expectEqual(0, released);
}

test "buffers of lists and tensors are given out as shares" {
    const baseline = try support.Baseline.begin();
    var tensor = try three(null);
    var buffer = try tensor.shareBuffer(0, null);
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "", tensor.shareBuffer(1, &diagnostics), &diagnostics);
    try expect((try tensor.bufferInfo(0, null)).borrowed);
    try expect(!(try buffer.info(null)).borrowed);
    tensor.deinit();
    try std.testing.expectEqualSlices(u8, std.mem.asBytes(&[_]i32{ 1, -2, 3 }), try buffer.bytes(null));
    var list = try hurray.BufferList.init(null);
    try list.push(&buffer, null);
    try support.expectFailure(error.HurrayClosed, .invalid_handle, "buffer", list.push(&buffer, &diagnostics), &diagnostics);
    var again = try list.share(0, null);
    try support.expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "index", list.share(1, &diagnostics), &diagnostics);
    try expect((try list.info(0, null)).borrowed);
    list.deinit();
    try expectEqual(1, (try again.info(null)).share_count);
    again.deinit();
    try baseline.expectSame();
}

test "a pair is made of a descriptor and its buffers, or of one buffer" {
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};
    var tensor = try three(null);
    const encoded = try tensor.encodeDescriptor(gpa, null);
    defer gpa.free(encoded);
    var descriptor = try hurray.Descriptor.decode(encoded, null);
    var list = try hurray.BufferList.init(null);
    var buffer = try tensor.shareBuffer(0, null);
    try list.push(&buffer, null);
    tensor.deinit();
    var pair = try hurray.Tensor.Exported.of(&descriptor, &list, &diagnostics);
    try support.expectFailure(error.HurrayClosed, .invalid_handle, "buffer list", hurray.Tensor.Exported.of(&descriptor, &list, &diagnostics), &diagnostics);
    descriptor.deinit();
    var imported = try hurray.Tensor.import(&pair.list, &pair.context, null);
    try expectEqual(-2, (try (try imported.view(null)).slice(i32, null))[1]);
    imported.deinit();

    // One buffer; on failure it stays the caller's.
    buffer = try hurray.Buffer.allocate(12, 0, null);
    try support.expectFailure(error.HurrayInvalidLayout, .invalid_layout, "", hurray.Tensor.Exported.dense(.float32, &.{4}, &buffer, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", hurray.Tensor.Exported.dense(.float32, &@as([65]u64, @splat(1)), &buffer, &diagnostics), &diagnostics);
    try expectEqual(12, (try buffer.info(null)).byte_size);
    pair = try .dense(.float32, &.{3}, &buffer, null);
    try support.expectFailure(error.HurrayClosed, .invalid_handle, "buffer", buffer.info(&diagnostics), &diagnostics);
    imported = try hurray.Tensor.import(&pair.list, &pair.context, null);
    try expectEqual(3, (try (try imported.view(null)).slice(f32, null)).len);
    imported.deinit();
    // The largest descriptor that has one.
    var large = try hurray.Buffer.allocate(1, 0, null);
    pair = try .dense(.uint8, &@as([64]u64, @splat(1)), &large, null);
    imported = try hurray.Tensor.import(&pair.list, &pair.context, null);
    try expectEqual(64, (try imported.view(null)).shape().len);
    imported.deinit();
    try baseline.expectSame();
}

//! Model files.

const std = @import("std");
const hurray = @import("hurray");
const support = @import("support.zig");

const gpa = support.gpa;
const io = support.io;
const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;
const expectEqualStrings = std.testing.expectEqualStrings;

/// Writes a safetensors file by hand: header text, then data.
fn writeFile(tmp: *const std.testing.TmpDir, name: []const u8, header: []const u8, data: []const u8) !void {
    var length: [8]u8 = undefined;
    std.mem.writeInt(u64, &length, header.len, .little);
    const bytes = try std.mem.concat(gpa, u8, &.{ &length, header, data });
    defer gpa.free(bytes);
    try tmp.dir.writeFile(io, .{ .sub_path = name, .data = bytes });
}

test "written files are read back" {
    const baseline = try support.Baseline.begin();
    var tmp = std.testing.tmpDir(.{});
    defer tmp.cleanup();
    const path = try support.pathIn(&tmp, "model \u{e4}.safetensors");
    defer gpa.free(path);
    var diagnostics: hurray.Diagnostics = .{};
    errdefer std.debug.print("{f}\n", .{&diagnostics});

    const names = [_][]const u8{ "plain", "", "\u{e4}\u{2192}\u{1f600}", "nul\x00inside", "quote\"and\\line\n" };
    {
        var writer = try hurray.TensorFileWriter.create(path, .safetensors, &diagnostics);
        defer writer.deinit();
        for (names, 0..) |name, i| {
            const items = try gpa.alloc(i32, i);
            for (items, 0..) |*item, k| item.* = @intCast(100 * i + k);
            var tensor = try hurray.Tensor.fromOwned(gpa, items, &.{i}, .{}, &diagnostics);
            defer tensor.deinit();
            try writer.add(name, &tensor, &diagnostics);
            try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", writer.add(name, &tensor, &diagnostics), &diagnostics);
        }
        var bools = try hurray.Tensor.fromBools(&.{ true, false, true }, &.{3}, &diagnostics);
        defer bools.deinit();
        try writer.add("bools", &bools, &diagnostics);
        const backwards: []const f16 = &.{ 1, 2, 3 };
        var strided = try hurray.Tensor.fromStatic(backwards, &.{3}, .{ .strides = &.{-1}, .byte_offset = 4 }, &diagnostics);
        defer strided.deinit();
        try writer.add("backwards", &strided, &diagnostics);
        var scalar = try hurray.Tensor.allocate(.float64, &.{}, 0, &diagnostics);
        defer scalar.deinit();
        try writer.add("scalar", &scalar, &diagnostics);
        try writer.setMetadata("key\x00\u{e4}", "first", &diagnostics);
        try writer.setMetadata("key\x00\u{e4}", "value\x00", &diagnostics);
        try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", writer.setMetadata("\xff", "", &diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", writer.add("\xff", &scalar, &diagnostics), &diagnostics);
        try writer.finish(&diagnostics);
        try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", writer.finish(&diagnostics), &diagnostics);
    }

    var file = try hurray.TensorFile.open(path, .{}, &diagnostics);
    defer file.deinit();
    const info = try file.info(&diagnostics);
    try expectEqual(hurray.FileFormat.safetensors, info.format);
    try expectEqual(names.len + 3, info.tensor_count);
    try expectEqual(1, info.metadata_count);
    const metadata = try file.metadata(0, &diagnostics);
    try expectEqualStrings("key\x00\u{e4}", metadata.key);
    try expectEqualStrings("value\x00", metadata.value.string);
    for (names, 0..) |name, i| {
        const index = (try file.find(name, &diagnostics)).?;
        const entry = try file.tensorInfo(index, &diagnostics);
        try expectEqualStrings(name, entry.name);
        try expectEqual(hurray.ElementType.int32, entry.element_type);
        try std.testing.expectEqualSlices(u64, &.{i}, entry.shape);
        try expectEqual(32, entry.bits);
        try expectEqual(4 * i, entry.byte_size);
        var tensor = try file.tensorByName(name, &diagnostics);
        defer tensor.deinit();
        const view = try tensor.view(&diagnostics);
        try expect(view.isReadOnly());
        for (try view.slice(i32, &diagnostics), 0..) |value, k| try expectEqual(@as(i32, @intCast(100 * i + k)), value);
    }
    try expectEqual(0, (try file.info(&diagnostics)).copied_bytes);
    var bools = try file.tensorByName("bools", &diagnostics);
    defer bools.deinit();
    try expect((try file.info(&diagnostics)).copied_bytes > 0);
    try std.testing.expectEqualSlices(u8, &.{0b101}, try (try bools.view(&diagnostics)).bytes(&diagnostics));
    var backwards = try file.tensorByName("backwards", &diagnostics);
    defer backwards.deinit();
    try std.testing.expectEqualSlices(u8, std.mem.asBytes(&[_]f16{ 3, 2, 1 }), std.mem.sliceAsBytes(try (try backwards.view(&diagnostics)).slice(f16, &diagnostics)));
    var scalar = try file.tensorByName("scalar", &diagnostics);
    defer scalar.deinit();
    try expectEqual(1, (try (try scalar.view(&diagnostics)).slice(f64, &diagnostics)).len);

    try expectEqual(null, try file.find("absent", &diagnostics));
    try expectEqual(hurray.Status.ok, diagnostics.code());
    try support.expectFailure(error.HurrayNotFound, .not_found, "absent", file.tensorByName("absent", &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "", file.tensorInfo(99, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "", file.tensor(99, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "", file.metadata(1, &diagnostics), &diagnostics);
    file.deinit();
    file.deinit();
    try std.testing.expectError(error.HurrayClosed, file.info(null));
    // Tensors keep the mapping.
    try std.testing.expectEqualSlices(u8, std.mem.asBytes(&[_]f16{ 3, 2, 1 }), std.mem.sliceAsBytes(try (try backwards.view(&diagnostics)).slice(f16, &diagnostics)));
    bools.deinit();
    backwards.deinit();
    scalar.deinit();
    try baseline.expectSame();
}

test "data that is not aligned is handed over, copied or refused" {
    const baseline = try support.Baseline.begin();
    var tmp = std.testing.tmpDir(.{});
    defer tmp.cleanup();
    const path = try support.pathIn(&tmp, "unaligned.safetensors");
    defer gpa.free(path);
    const header =
        \\{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}}
    ;
    const data = "\x07" ++ std.mem.asBytes(&[_]f32{ 1.5, -2 });
    try writeFile(&tmp, "unaligned.safetensors", header, data);
    var diagnostics: hurray.Diagnostics = .{};
    {
        var file = try hurray.TensorFile.open(path, .{}, &diagnostics);
        defer file.deinit();
        var tensor = try file.tensorByName("b", &diagnostics);
        defer tensor.deinit();
        const view = try tensor.view(&diagnostics);
        try expectEqual(-2, (try view.slice(f32, &diagnostics))[1]);
        try expect(!std.mem.isAligned(@intFromPtr(view.address().?), 4));
        try support.expectFailure(error.HurrayMisaligned, .misaligned, "multiple of 4", view.tryAligned(f32, &diagnostics), &diagnostics);
        try expectEqual(0, (try file.info(&diagnostics)).copied_bytes);
        const offset = (try file.tensorInfo(1, &diagnostics)).file_offset;
        try expectEqual(8 + header.len + 1, offset);
        try expectEqual(offset % 64, (try tensor.descriptorInfo(&diagnostics)).byte_offset);
        try expectEqual(offset % 64, (try tensor.bufferInfo(0, &diagnostics)).prefix);
    }
    {
        var file = try hurray.TensorFile.open(path, .{ .alignment = .copy }, &diagnostics);
        defer file.deinit();
        var tensor = try file.tensorByName("b", &diagnostics);
        defer tensor.deinit();
        try expectEqual(1.5, (try (try tensor.view(&diagnostics)).tryAligned(f32, &diagnostics))[0]);
        try expectEqual(8, (try file.info(&diagnostics)).copied_bytes);
    }
    {
        var file = try hurray.TensorFile.open(path, .{ .alignment = .require }, &diagnostics);
        defer file.deinit();
        try support.expectFailure(error.HurrayMisaligned, .misaligned, "", file.tensorByName("b", &diagnostics), &diagnostics);
    }
    try baseline.expectSame();
}

test "hostile files are typed errors" {
    const baseline = try support.Baseline.begin();
    var tmp = std.testing.tmpDir(.{});
    defer tmp.cleanup();
    const path = try support.pathIn(&tmp, "hostile.safetensors");
    defer gpa.free(path);
    const cases = [_]struct { []const u8, []const u8 }{
        .{ "{", "" },
        .{ "[]", "" },
        .{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", "1234567" },
        .{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", "123456789" },
        .{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}", "12345678" },
        .{ "{\"a\":{\"dtype\":\"WHAT\",\"shape\":[2],\"data_offsets\":[0,8]}}", "12345678" },
        .{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[2,6]}}", "123456" },
        .{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[4,6]}}", "123456" },
        .{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}", "12" },
        .{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296,4294967296],\"data_offsets\":[0,1]}}", "1" },
        .{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}}", "1" },
        .{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,0]}}", "1" },
    };
    for (cases) |case| {
        try writeFile(&tmp, "hostile.safetensors", case[0], case[1]);
        var diagnostics: hurray.Diagnostics = .{};
        if (hurray.TensorFile.open(path, .{}, &diagnostics)) |opened| {
            var file = opened;
            file.deinit();
            std.debug.print("accepted: {s}\n", .{case[0]});
            return error.TestUnexpectedResult;
        } else |_| {}
        try expect(diagnostics.code() == .invalid_format or diagnostics.code() == .invalid_type or
            diagnostics.code() == .invalid_layout or diagnostics.code() == .unsupported);
        try expect(diagnostics.message().len > 0);
    }
    // A truth value is 0 or 1.
    try writeFile(&tmp, "hostile.safetensors", "{\"a\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[0,2]}}", "\x01\x02");
    {
        var file = try hurray.TensorFile.open(path, .{}, null);
        defer file.deinit();
        var diagnostics: hurray.Diagnostics = .{};
        try support.expectFailure(error.HurrayInvalidFormat, .invalid_format, "", file.tensor(0, &diagnostics), &diagnostics);
        try expect(diagnostics.offset() != null);
    }
    // Lengths that lie, and files that are too short for one.
    for ([_][]const u8{ "", "1234567", "\xff\xff\xff\xff\xff\xff\xff\xff", "\xff\xff\xff\xff\xff\xff\xff\x7f{}" }) |bytes| {
        try tmp.dir.writeFile(io, .{ .sub_path = "hostile.safetensors", .data = bytes });
        var diagnostics: hurray.Diagnostics = .{};
        if (hurray.TensorFile.open(path, .{ .format = .safetensors }, &diagnostics)) |_| return error.TestUnexpectedResult else |_| {}
        try expect(diagnostics.message().len > 0);
    }
    try baseline.expectSame();
}

test "limits, paths and formats" {
    var tmp = std.testing.tmpDir(.{});
    defer tmp.cleanup();
    const path = try support.pathIn(&tmp, "a.safetensors");
    defer gpa.free(path);
    try writeFile(&tmp, "a.safetensors", "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", "1");
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayLimitExceeded, .limit_exceeded, "", hurray.TensorFile.open(path, .{ .header_limit = 10 }, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayNotFound, .not_found, "", hurray.TensorFile.open("absent.safetensors", .{}, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", hurray.TensorFile.open("", .{}, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "NUL", hurray.TensorFile.open("a\x00b", .{}, &diagnostics), &diagnostics);
    const long: [5000]u8 = @splat('x');
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "5000", hurray.TensorFile.open(&long, .{}, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", hurray.TensorFile.open(path, .{ .format = @enumFromInt(99) }, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", hurray.TensorFile.open(path, .{ .alignment = @enumFromInt(99) }, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayNotFound, .not_found, "", hurray.TensorFileWriter.create("absent/a.safetensors", .safetensors, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", hurray.TensorFileWriter.create(path, @enumFromInt(99), &diagnostics), &diagnostics);
}

test "an unfinished file leaves nothing, and releases what it shared" {
    const baseline = try support.Baseline.begin();
    var tmp = std.testing.tmpDir(.{ .iterate = true });
    defer tmp.cleanup();
    const path = try support.pathIn(&tmp, "unfinished.safetensors");
    defer gpa.free(path);
    var writer = try hurray.TensorFileWriter.create(path, .safetensors, null);
    var tensor = try hurray.Tensor.fromOwned(gpa, try gpa.dupe(u8, "abc"), &.{3}, .{}, null);
    try writer.add("a", &tensor, null);
    tensor.deinit();
    writer.deinit();
    writer.deinit();
    writer = try hurray.TensorFileWriter.create(path, .safetensors, null);
    tensor = try hurray.Tensor.fromOwned(gpa, try gpa.dupe(u8, "abc"), &.{3}, .{}, null);
    try writer.add("a", &tensor, null);
    tensor.deinit();
    writer.deinitDeferred();
    try expectEqual(1, try hurray.drainReleases(null));
    var entries = tmp.dir.iterate();
    try expectEqual(null, try entries.next(io));
    try baseline.expectSame();
}

test "real files are read without copying" {
    const shared = std.c.getenv("HURRAY_SHARED") orelse {
        std.debug.print("left out: HURRAY_SHARED does not name the folder of shared data\n", .{});
        return error.SkipZigTest;
    };
    const path = try std.fs.path.join(gpa, &.{ std.mem.span(shared), "data", "safetensors", "voices.safetensors" });
    defer gpa.free(path);
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};
    var file = hurray.TensorFile.open(path, .{}, &diagnostics) catch |err| {
        if (err != error.HurrayNotFound) return err;
        std.debug.print("left out: {s} is not there\n", .{path});
        return error.SkipZigTest;
    };
    defer file.deinit();
    const bytes = try std.Io.Dir.cwd().readFileAlloc(io, path, gpa, .unlimited);
    defer gpa.free(bytes);
    const info = try file.info(&diagnostics);
    try expect(info.tensor_count > 0);
    for (0..@intCast(info.tensor_count)) |i| {
        const entry = try file.tensorInfo(i, &diagnostics);
        var tensor = try file.tensor(i, &diagnostics);
        defer tensor.deinit();
        const data = try (try tensor.view(&diagnostics)).bytes(&diagnostics);
        const start: usize = @intCast(entry.file_offset);
        try std.testing.expectEqualSlices(u8, bytes[start..][0..@intCast(entry.byte_size)], data);
    }
    try expectEqual(0, (try file.info(&diagnostics)).copied_bytes);
    file.deinit();
    try baseline.expectSame();
}

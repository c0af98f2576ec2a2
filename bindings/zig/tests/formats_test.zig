//! Model files of every format: options, metadata, composites, sources, and files that lie in memory or go to a writer.

const std = @import("std");
const hurray = @import("hurray");
const support = @import("support.zig");

const gpa = support.gpa;
const io = support.io;
const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;
const expectEqualStrings = std.testing.expectEqualStrings;
const Value = hurray.MetadataValue;

const formats = [_]hurray.FileFormat{ .safetensors, .hrry, .gguf, .npy, .npz };
const values: []const f32 = &.{ 1.5, -2, 0, 8, 9, 1e30 };

/// Writes `values` as 2 x 3 under the name that every format accepts.
fn writeValues(writer: *hurray.TensorFileWriter, diagnostics: *hurray.Diagnostics) !void {
    var tensor = try hurray.Tensor.fromStatic(values, &.{ 2, 3 }, .{}, diagnostics);
    defer tensor.deinit();
    try writer.add("data", &tensor, diagnostics);
    try writer.finish(diagnostics);
}

/// Expects `values`, in the file at the index.
fn expectValues(file: *const hurray.TensorFile, index: u64, diagnostics: *hurray.Diagnostics) !void {
    var tensor = try file.tensor(index, diagnostics);
    defer tensor.deinit();
    const view = try tensor.view(diagnostics);
    try std.testing.expectEqualSlices(i64, &.{ 2, 3 }, view.shape());
    try std.testing.expectEqualSlices(u8, std.mem.sliceAsBytes(values), try view.bytes(diagnostics));
}

/// A file in memory that a writer collected.
fn imageOf(format: hurray.FileFormat) !std.Io.Writer.Allocating {
    var image: std.Io.Writer.Allocating = .init(gpa);
    errdefer image.deinit();
    var diagnostics: hurray.Diagnostics = .{};
    errdefer std.debug.print("{t}: {f}\n", .{ format, &diagnostics });
    var writer = try hurray.TensorFileWriter.toWriter(&image.writer, .{ .format = format }, &diagnostics);
    defer writer.deinit();
    try writeValues(&writer, &diagnostics);
    return image;
}

test "every format is written and recognised, at a path, mapped and read" {
    const baseline = try support.Baseline.begin();
    var tmp = std.testing.tmpDir(.{});
    defer tmp.cleanup();
    const path = try support.pathIn(&tmp, "model");
    defer gpa.free(path);
    var diagnostics: hurray.Diagnostics = .{};
    errdefer std.debug.print("{f}\n", .{&diagnostics});
    for (formats) |format| {
        {
            var writer = try hurray.TensorFileWriter.create(path, format, &diagnostics);
            defer writer.deinit();
            try writeValues(&writer, &diagnostics);
            // Contiguous elements are written from where they lie.
            try expectEqual(0, try writer.copiedBytes(&diagnostics));
        }
        for ([_]hurray.FileAccess{ .map, .read }) |access| {
            var file = try hurray.TensorFile.open(path, .{ .access = access }, &diagnostics);
            defer file.deinit();
            try expectEqual(format, (try file.info(&diagnostics)).format);
            const index = (try file.find("data", &diagnostics)).?;
            const entry = try file.tensorInfo(index, &diagnostics);
            try expectEqual(null, entry.scheme);
            try expectEqualStrings(switch (format) {
                .hrry => "",
                .npy, .npz => "<f4",
                else => "F32",
            }, entry.stored_type);
            try expectValues(&file, index, &diagnostics);
            try expectEqual(@as(u64, if (access == .map) 0 else 24), (try file.info(&diagnostics)).copied_bytes);
            // What is known without the data.
            var descriptor = try file.descriptor(index, &diagnostics);
            defer descriptor.deinit();
            try std.testing.expectEqualSlices(u64, &.{ 2, 3 }, (try descriptor.info(&diagnostics)).shape);
            const range = try file.bufferRange(index, 0, &diagnostics);
            try expectEqual(24, range.size);
            const bytes = try tmp.dir.readFileAlloc(io, "model", gpa, .unlimited);
            defer gpa.free(bytes);
            try std.testing.expectEqualSlices(u8, std.mem.sliceAsBytes(values), bytes[@intCast(range.offset)..][0..24]);
            try support.expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "", file.bufferRange(index, 1, &diagnostics), &diagnostics);
            try support.expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "", file.descriptor(9, &diagnostics), &diagnostics);
            try std.testing.expectError(error.HurrayIndexOutOfBounds, file.composite(9, null));
            try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", file.composite(index, &diagnostics), &diagnostics);
        }
    }
    try baseline.expectSame();
}

test "files lie in memory, too: nothing is copied, and the file holds a share" {
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};
    errdefer std.debug.print("{f}\n", .{&diagnostics});
    for (formats) |format| {
        var image = try imageOf(format);
        defer image.deinit();
        // Front to back, and nothing behind it.
        const owned = try gpa.alignedAlloc(u8, hurray.buffer_alignment, image.written().len);
        @memcpy(owned, image.written());
        var lent = try hurray.Buffer.fromOwned(gpa, owned, &diagnostics);
        var file = try hurray.TensorFile.openBuffer(&lent.buffer, .{ .alignment = .offset }, &diagnostics);
        defer file.deinit();
        lent.buffer.deinit();
        try expectEqual(format, (try file.info(&diagnostics)).format);
        try expectEqual(image.written().len, (try file.info(&diagnostics)).file_size);
        try expectValues(&file, 0, &diagnostics);
        try expectEqual(0, (try file.info(&diagnostics)).copied_bytes);
    }
    try baseline.expectSame();
}

test "cut files in memory are typed errors at every byte" {
    const baseline = try support.Baseline.begin();
    for (formats) |format| {
        var image = try imageOf(format);
        defer image.deinit();
        const memory = try gpa.alignedAlloc(u8, hurray.buffer_alignment, image.written().len);
        defer gpa.free(memory);
        @memcpy(memory, image.written());
        // .hrry files have pages of padding: not each byte of those.
        const step = @max(1, memory.len / 500);
        // GGUF has padding behind the last tensor, which nobody misses.
        const whole = if (format == .gguf) std.mem.indexOf(u8, memory, std.mem.sliceAsBytes(values)).? + 24 else memory.len;
        var length: usize = 0;
        while (length < whole) : (length += step) {
            var diagnostics: hurray.Diagnostics = .{};
            var lent = try hurray.Buffer.fromStatic(@as([]const u8, memory[0..length]), null);
            defer lent.buffer.deinit();
            var file = hurray.TensorFile.openBuffer(&lent.buffer, .{ .format = format }, &diagnostics) catch {
                try expect(diagnostics.code() != .internal and diagnostics.code() != .internal_panic);
                try expect(diagnostics.message().len > 0);
                continue;
            };
            defer file.deinit();
            std.debug.print("{t}: {d} of {d} bytes were accepted\n", .{ format, length, memory.len });
            return error.TestUnexpectedResult;
        }
    }
    try baseline.expectSame();
}

test "options are the format's own, and numbers that are none are refused" {
    const baseline = try support.Baseline.begin();
    var tmp = std.testing.tmpDir(.{});
    defer tmp.cleanup();
    const path = try support.pathIn(&tmp, "model");
    defer gpa.free(path);
    var diagnostics: hurray.Diagnostics = .{};
    const Writer = hurray.TensorFileWriter;
    for ([_]Writer.Options{
        .{ .format = .safetensors, .compress = true },
        .{ .format = .safetensors, .data_alignment = 4096 },
        .{ .format = .hrry, .data_alignment = 4097 },
        .{ .format = .hrry, .data_alignment = 2048 },
        .{ .format = .auto },
    }) |options| {
        try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", Writer.createOptions(path, options, &diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", Writer.toFd(1, options, &diagnostics), &diagnostics);
        var sink: std.Io.Writer.Discarding = .init(&.{});
        try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", Writer.toWriter(&sink.writer, options, &diagnostics), &diagnostics);
    }
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "fd", Writer.toFd(-1, .{ .format = .npz }, &diagnostics), &diagnostics);
    try tmp.dir.writeFile(io, .{ .sub_path = "model", .data = "" });
    const File = hurray.TensorFile;
    try std.testing.expectError(error.HurrayInvalidArgument, File.open(path, .{ .access = @enumFromInt(9) }, null));
    try std.testing.expectError(error.HurrayInvalidArgument, File.open(path, .{ .inexact_blocks = @enumFromInt(9) }, null));

    // Options that do something: pages of 2 MiB, and less bytes.
    {
        var writer = try Writer.createOptions(path, .{ .format = .hrry, .data_alignment = 1 << 21, .unsorted_index = true }, &diagnostics);
        defer writer.deinit();
        try writeValues(&writer, &diagnostics);
        var file = try File.open(path, .{ .private_tags = true, .permissive = true }, &diagnostics);
        defer file.deinit();
        try expectEqual(0, (try file.bufferRange(0, 0, &diagnostics)).offset % (1 << 21));
    }
    {
        var zeroes = try hurray.Tensor.allocate(.float32, &.{100000}, 0, null);
        defer zeroes.deinit();
        const out = try tmp.dir.createFile(io, "packed", .{});
        defer out.close(io);
        var writer = try Writer.toFd(out.handle, .{ .format = .npz, .compress = true }, &diagnostics);
        defer writer.deinit();
        try writer.add("zeroes", &zeroes, &diagnostics);
        try writer.finish(&diagnostics);
        try expect(try out.length(io) < 10_000);
    }
    try baseline.expectSame();
}

test "metadata has types, and arrays are slices of the language" {
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};
    errdefer std.debug.print("{f}\n", .{&diagnostics});
    var image: std.Io.Writer.Allocating = .init(gpa);
    defer image.deinit();
    {
        var writer = try hurray.TensorFileWriter.toWriter(&image.writer, .{ .format = .hrry }, &diagnostics);
        defer writer.deinit();
        try writer.setMetadata("text\x00\u{e4}", "\u{2192}", &diagnostics);
        try writer.setMetadataValue("int", .{ .int64 = std.math.minInt(i64) }, &diagnostics);
        try writer.setMetadataValue("uint", .{ .uint64 = std.math.maxInt(u64) }, &diagnostics);
        try writer.setMetadataValue("float", .{ .float64 = 1 }, &diagnostics);
        try writer.setMetadataValue("float", .{ .float64 = -0.25 }, &diagnostics);
        try writer.setMetadataValue("yes", .{ .bool = true }, &diagnostics);
        try writer.setMetadataValue("bytes", .{ .bytes = "\xff\x00\xfe" }, &diagnostics);
        try writer.setMetadataArray(gpa, "words", .string, &.{ .{ .string = "" }, .{ .string = "b\x00" } }, &diagnostics);
        try writer.setMetadataArray(gpa, "numbers", .int64, &.{ .{ .int64 = -1 }, .{ .int64 = 7 } }, &diagnostics);
        try writer.setMetadataArray(gpa, "truths", .bool, &.{ .{ .bool = false }, .{ .bool = true } }, &diagnostics);
        try writer.setMetadataArray(gpa, "nothing", .float64, &.{}, &diagnostics);
        // An element of another type, an array in an array, a value of no type.
        try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", writer.setMetadataArray(gpa, "mixed", .int64, &.{ .{ .int64 = 1 }, .{ .bool = true } }, &diagnostics), &diagnostics);
        const nested: Value = .{ .array = .{ .element_type = .int64, .count = 0 } };
        try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "array", writer.setMetadataArray(gpa, "nested", .array, &.{nested}, &diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "array", writer.setMetadataValue("nested", nested, &diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "unknown", writer.setMetadataValue("x", .{ .unknown = @enumFromInt(77) }, &diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", writer.setMetadataArray(gpa, "x", @enumFromInt(77), &.{}, &diagnostics), &diagnostics);
        try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", writer.setMetadata("\xff", "", &diagnostics), &diagnostics);
        try writeValues(&writer, &diagnostics);
    }
    var lent = try hurray.Buffer.fromOwned(gpa, try gpa.dupe(u8, image.written()), &diagnostics);
    defer lent.buffer.deinit();
    // .fromOwned rounds down to 64 bytes; the file is what lies behind the prefix.
    var file = try hurray.TensorFile.openBuffer(&lent.buffer, .{}, &diagnostics);
    defer file.deinit();
    try expectEqual(10, (try file.info(&diagnostics)).metadata_count);
    try expectEqualStrings("\u{2192}", (try file.metadataByKey("text\x00\u{e4}", &diagnostics)).?.string);
    try expectEqual(std.math.minInt(i64), (try file.metadataByKey("int", &diagnostics)).?.int64);
    try expectEqual(std.math.maxInt(u64), (try file.metadataByKey("uint", &diagnostics)).?.uint64);
    try expectEqual(-0.25, (try file.metadataByKey("float", &diagnostics)).?.float64);
    try expectEqual(true, (try file.metadataByKey("yes", &diagnostics)).?.bool);
    try expectEqualStrings("\xff\x00\xfe", (try file.metadataByKey("bytes", &diagnostics)).?.bytes);
    const words_at = (try file.findMetadata("words", &diagnostics)).?;
    try expectEqual(Value.Array{ .element_type = .string, .count = 2 }, (try file.metadata(words_at, &diagnostics)).value.array);
    const words = try file.metadataArray([]const u8, gpa, words_at, &diagnostics);
    defer gpa.free(words);
    try expectEqualStrings("", words[0]);
    try expectEqualStrings("b\x00", words[1]);
    const numbers_at = (try file.findMetadata("numbers", &diagnostics)).?;
    const numbers = try file.metadataArray(i64, gpa, numbers_at, &diagnostics);
    defer gpa.free(numbers);
    try std.testing.expectEqualSlices(i64, &.{ -1, 7 }, numbers);
    const truths = try file.metadataArray(bool, gpa, (try file.findMetadata("truths", &diagnostics)).?, &diagnostics);
    defer gpa.free(truths);
    try std.testing.expectEqualSlices(bool, &.{ false, true }, truths);
    const nothing = try file.metadataArray(f64, gpa, (try file.findMetadata("nothing", &diagnostics)).?, &diagnostics);
    defer gpa.free(nothing);
    try expectEqual(0, nothing.len);

    try expectEqual(null, try file.findMetadata("absent", &diagnostics));
    try expectEqual(null, try file.metadataByKey("absent", &diagnostics));
    try expectEqual(hurray.Status.ok, diagnostics.code());
    // A negative number is no u64, a text no number, a number no array.
    try support.expectFailure(error.HurrayInvalidType, .invalid_type, "element 0", file.metadataArray(u64, gpa, numbers_at, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidType, .invalid_type, "string", file.metadataArray(f64, gpa, words_at, &diagnostics), &diagnostics);
    const int_at = (try file.findMetadata("int", &diagnostics)).?;
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "int64", file.metadataArray(i64, gpa, int_at, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", file.metadataElement(int_at, 0, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "", file.metadataElement(words_at, 2, &diagnostics), &diagnostics);
    lent.buffer.deinit();
    file.deinit();
    try baseline.expectSame();
}

test "formats without metadata, or without a type of it, refuse it" {
    var diagnostics: hurray.Diagnostics = .{};
    var sink: std.Io.Writer.Discarding = .init(&.{});
    var npy = try hurray.TensorFileWriter.toWriter(&sink.writer, .{ .format = .npy }, null);
    defer npy.deinit();
    try support.expectFailure(error.HurrayUnsupported, .unsupported, "", npy.setMetadata("a", "b", &diagnostics), &diagnostics);
    var safetensors = try hurray.TensorFileWriter.toWriter(&sink.writer, .{ .format = .safetensors }, null);
    defer safetensors.deinit();
    try support.expectFailure(error.HurrayUnsupported, .unsupported, "", safetensors.setMetadataValue("a", .{ .int64 = 1 }, &diagnostics), &diagnostics);
}

/// Makes one tensor, or fails, and counts.
const Source = struct {
    calls: u32 = 0,
    failure: ?anyerror = null,
    message: ?[]const u8 = null,
    shape: []const u64 = &.{ 2, 3 },

    fn make(self: *Source, diagnostics: *hurray.Diagnostics) anyerror!hurray.Tensor {
        self.calls += 1;
        if (self.message != null) {
            var file = try hurray.TensorFile.open("absent file", .{}, diagnostics);
            file.deinit();
        }
        if (self.failure) |failure| return failure;
        return hurray.Tensor.fromStatic(values, self.shape, .{}, diagnostics);
    }

    fn descriptor() !hurray.Descriptor {
        var builder = try hurray.DescriptorBuilder.init(.float32, .row_major, &.{ 2, 3 }, null);
        defer builder.deinit();
        try builder.addBuffer(.{ .byte_size = 24 }, null);
        return builder.build(null);
    }
};

test "tensors are made when they are written, once each" {
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};
    errdefer std.debug.print("{f}\n", .{&diagnostics});
    var announced = try Source.descriptor();
    defer announced.deinit();
    for (formats) |format| {
        var image: std.Io.Writer.Allocating = .init(gpa);
        defer image.deinit();
        var source: Source = .{};
        var writer = try hurray.TensorFileWriter.toWriter(&image.writer, .{ .format = format }, &diagnostics);
        defer writer.deinit();
        try writer.addSource("data", &announced, &source, Source.make, &diagnostics);
        try writer.finish(&diagnostics);
        try expectEqual(1, source.calls);
        var expected = try imageOf(format);
        defer expected.deinit();
        try std.testing.expectEqualSlices(u8, expected.written(), image.written());
    }
    announced.deinit();
    try baseline.expectSame();
}

test "errors of sources and writers are typed, and say what the program said" {
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};
    var announced = try Source.descriptor();
    defer announced.deinit();
    const Case = struct { source: Source, expected: hurray.Error, code: hurray.Status, text: []const u8 };
    for (formats) |format| for ([_]Case{
        .{ .source = .{ .failure = error.HurrayNotFound }, .expected = error.HurrayNotFound, .code = .not_found, .text = "HurrayNotFound" },
        .{ .source = .{ .failure = error.OutOfMemory }, .expected = error.HurrayOutOfMemory, .code = .out_of_memory, .text = "OutOfMemory" },
        .{ .source = .{ .failure = error.TheirOwn }, .expected = error.HurrayInternalPanic, .code = .internal_panic, .text = "TheirOwn" },
        // What a call within it reported comes out.
        .{ .source = .{ .message = "" }, .expected = error.HurrayNotFound, .code = .not_found, .text = "absent file" },
        .{ .source = .{ .shape = &.{ 3, 2 } }, .expected = error.HurrayInvalidArgument, .code = .invalid_argument, .text = "" },
    }) |case| {
        var source = case.source;
        var sink: std.Io.Writer.Discarding = .init(&.{});
        var writer = try hurray.TensorFileWriter.toWriter(&sink.writer, .{ .format = format }, null);
        defer writer.deinit();
        const result = if (writer.addSource("data", &announced, &source, Source.make, &diagnostics)) writer.finish(&diagnostics) else |err| err;
        try support.expectFailure(case.expected, case.code, case.text, result, &diagnostics);
        try expectEqual(1, source.calls);
    };
    // A writer without room.
    for (formats) |format| {
        var room: [60]u8 = undefined;
        var full: std.Io.Writer = .fixed(&room);
        var writer = try hurray.TensorFileWriter.toWriter(&full, .{ .format = format }, null);
        defer writer.deinit();
        try support.expectFailure(error.HurrayIo, .io, "WriteFailed", writeValues(&writer, &diagnostics), &diagnostics);
        // Afterwards it can only be ended.
        try expect(std.meta.isError(writer.finish(null)));
    }
    announced.deinit();
    try baseline.expectSame();
}

test "composites go through .hrry files whole, and through no other" {
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};
    errdefer std.debug.print("{f}\n", .{&diagnostics});
    var built = try support.sumOfTwo(values, &diagnostics);
    defer built.deinit();
    for (formats) |format| if (format != .hrry) {
        var sink: std.Io.Writer.Discarding = .init(&.{});
        var writer = try hurray.TensorFileWriter.toWriter(&sink.writer, .{ .format = format }, null);
        defer writer.deinit();
        try support.expectFailure(error.HurrayUnsupported, .unsupported, "", writer.addComposite("data", &built, &diagnostics), &diagnostics);
    };
    var tmp = std.testing.tmpDir(.{});
    defer tmp.cleanup();
    const path = try support.pathIn(&tmp, "composite.hrry");
    defer gpa.free(path);
    {
        var writer = try hurray.TensorFileWriter.create(path, .hrry, &diagnostics);
        defer writer.deinit();
        try writer.addComposite("sum", &built, &diagnostics);
        try writer.finish(&diagnostics);
    }
    built.deinit();
    try std.testing.expectError(error.HurrayClosed, built.info(null));
    var file = try hurray.TensorFile.open(path, .{}, &diagnostics);
    defer file.deinit();
    try expectEqual(3, (try file.info(&diagnostics)).tensor_count);
    var composite = try file.composite((try file.find("sum", &diagnostics)).?, &diagnostics);
    defer composite.deinit();
    file.deinit();
    const info = try composite.info(&diagnostics);
    try expectEqual(hurray.CompositionRule.overlay, info.rule);
    try expectEqual(hurray.CombineOp.add, info.combine_op);
    try expectEqual(2, info.member_count);
    try expectEqual(3, info.descriptor_count);
    try std.testing.expectEqualSlices(u64, &.{ 2, 3 }, (try composite.head(&diagnostics)).shape);
    try expectEqual(2, (try composite.layoutFields(&diagnostics)).composite.member_count);
    var member = try composite.member(1, &diagnostics);
    defer member.deinit();
    try support.expectFailure(error.HurrayIndexOutOfBounds, .index_out_of_bounds, "", composite.member(2, &diagnostics), &diagnostics);
    composite.deinit();
    try std.testing.expectEqualSlices(u8, std.mem.sliceAsBytes(values), try (try member.tensor.view(&diagnostics)).bytes(&diagnostics));
    member.deinit();
    try baseline.expectSame();
}

/// A file of the folder of shared data; null, and a line about it, where there is none.
fn sharedFile(comptime name: []const u8) !?[]u8 {
    const shared = std.c.getenv("HURRAY_SHARED") orelse {
        std.debug.print("left out: HURRAY_SHARED does not name the folder of shared data\n", .{});
        return null;
    };
    const path = try std.fs.path.join(gpa, &.{ std.mem.span(shared), "data", name });
    errdefer gpa.free(path);
    std.Io.Dir.cwd().access(io, path, .{}) catch |err| {
        if (err != error.FileNotFound) return err;
        std.debug.print("left out: {s} is not there\n", .{path});
        gpa.free(path);
        return null;
    };
    return path;
}

test "real GGUF files: blocks as they lie, dequantized as their own library does it, or refused" {
    const path = try sharedFile("gguf/k_quants.gguf") orelse return error.SkipZigTest;
    defer gpa.free(path);
    const expected_path = try sharedFile("gguf/k_quants.f32") orelse return error.SkipZigTest;
    defer gpa.free(expected_path);
    const expected = try std.Io.Dir.cwd().readFileAlloc(io, expected_path, gpa, .unlimited);
    defer gpa.free(expected);
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};
    errdefer std.debug.print("{f}\n", .{&diagnostics});
    var raw = try hurray.TensorFile.open(path, .{}, &diagnostics);
    defer raw.deinit();
    var numbers = try hurray.TensorFile.open(path, .{ .inexact_blocks = .float32 }, &diagnostics);
    defer numbers.deinit();
    const info = try raw.info(&diagnostics);
    try expectEqual(.gguf, info.format);
    try expect(info.tensor_count > 0 and info.metadata_count > 0);
    for (0..@intCast(info.metadata_count)) |i| try expect((try raw.metadata(i, &diagnostics)).key.len > 0);
    var seen: usize = 0;
    for (0..@intCast(info.tensor_count)) |i| {
        const stored = try raw.tensorInfo(i, &diagnostics);
        try expect(std.mem.endsWith(u8, stored.stored_type, "_K"));
        try expectEqual(.uint8, stored.element_type);
        // A private scheme, which this package has no name for.
        try expect(std.enums.tagName(hurray.Scheme, stored.scheme.?) == null);
        var tensor = try numbers.tensor(i, &diagnostics);
        defer tensor.deinit();
        const bytes = try (try tensor.view(&diagnostics)).bytes(&diagnostics);
        try expectEqual(.float32, (try tensor.view(&diagnostics)).elementType());
        try std.testing.expectEqualSlices(u8, expected[seen..][0..bytes.len], bytes);
        seen += bytes.len;
    }
    try expectEqual(expected.len, seen);
    try expectEqual(seen, (try numbers.info(&diagnostics)).copied_bytes);
    try std.testing.expectError(error.HurrayUnsupported, refused(path));
    raw.deinit();
    numbers.deinit();
    try baseline.expectSame();
}

fn refused(path: []const u8) !void {
    var file = try hurray.TensorFile.open(path, .{ .inexact_blocks = .refuse }, null);
    defer file.deinit();
    var tensor = try file.tensor(0, null);
    tensor.deinit();
}

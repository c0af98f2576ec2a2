//! The code of the README. `test` blocks run it.

const std = @import("std");

// sample: import
const hurray = @import("hurray");
// end sample

const Allocator = std.mem.Allocator;

// sample: wrap
fn average(gpa: Allocator, report: ?*hurray.Diagnostics) !f32 {
    const weights = try gpa.alloc(f32, 6);
    for (weights, 1..) |*weight, i| weight.* = @floatFromInt(i);

    // Nothing is copied. From here on the memory belongs to the tensor: its last share frees it with `gpa`.
    var tensor = hurray.Tensor.fromOwned(gpa, weights, &.{ 2, 3 }, .{}, report) catch |err| {
        gpa.free(weights); // it did not get so far
        return err;
    };
    defer tensor.deinit();

    const view = try tensor.view(report);
    var sum: f32 = 0;
    for (try view.slice(f32, report)) |weight| sum += weight; // []align(1) const f32
    return sum / @as(f32, @floatFromInt(view.elementCount()));
}
// end sample

// sample: lend
const Pool = struct {
    in_use: usize = 0,

    fn giveBack(pool: *Pool, items: []const u16) void {
        pool.in_use -= items.len;
    }
};

fn lend(gpa: Allocator, pool: *Pool, items: []const u16) !hurray.Tensor {
    pool.in_use += items.len;
    errdefer pool.in_use -= items.len;
    // Runs `Pool.giveBack(pool, items)` once, when nobody needs the memory any more. A slice of constants is read-only.
    return hurray.Tensor.fromBorrowed(gpa, items, &.{items.len}, .{}, pool, Pool.giveBack, null);
}
// end sample

// sample: strided
fn corner(report: ?*hurray.Diagnostics) !i32 {
    const numbers: []const i32 = &.{ 1, 2, 3, 4, 5, 6 };
    var tensor = try hurray.Tensor.fromStatic(numbers, &.{ 3, 2 }, .{ .strides = &.{ 1, 3 } }, report);
    defer tensor.deinit();

    const elements = try (try tensor.view(report)).strided(i32, report);
    var all = elements.iterator(); // in row-major order of the indices
    while (all.next()) |number| std.debug.assert(number != 0);
    return elements.at(&.{ 2, 1 }, report);
}
// end sample

// sample: files
fn writeModel(path: []const u8, report: ?*hurray.Diagnostics) !void {
    var writer = try hurray.TensorFileWriter.create(path, .safetensors, report);
    defer writer.deinit(); // without `finish` before it, nothing of the file remains

    const bias: []const f64 = &.{ 0.5, -0.5 };
    var tensor = try hurray.Tensor.fromStatic(bias, &.{2}, .{}, report);
    defer tensor.deinit();
    try writer.add("bias", &tensor, report);
    try writer.setMetadata("made by", "a sample", report);
    try writer.finish(report);
}

fn readModel(path: []const u8, out: *std.Io.Writer, report: ?*hurray.Diagnostics) !void {
    var file = try hurray.TensorFile.open(path, .{}, report); // mapped: no tensor data is read
    defer file.deinit();
    for (0..(try file.info(report)).tensor_count) |i| {
        const entry = try file.tensorInfo(i, report);
        var tensor = try file.tensor(i, report);
        defer tensor.deinit();
        const view = try tensor.view(report);
        try out.print("{s} {t} {any}: {d} bytes\n", .{ entry.name, entry.element_type, entry.shape, (try view.bytes(report)).len });
    }
}
// end sample

// sample: formats
fn toHrry(from: []const u8, out: *std.Io.Writer, report: ?*hurray.Diagnostics) !void {
    var file = try hurray.TensorFile.open(from, .{}, report); // GGUF, .npz, ...: recognised by the content
    defer file.deinit();
    var writer = try hurray.TensorFileWriter.toWriter(out, .{ .format = .hrry }, report);
    defer writer.deinit();
    for (0..(try file.info(report)).tensor_count) |i| {
        var tensor = try file.tensor(i, report);
        defer tensor.deinit();
        try writer.add((try file.tensorInfo(i, report)).name, &tensor, report); // written from where it lies
    }
    for (0..(try file.info(report)).metadata_count) |i| {
        const entry = try file.metadata(i, report);
        switch (entry.value) {
            .array => {}, // `metadataArray` makes a slice of one
            else => try writer.setMetadataValue(entry.key, entry.value, report),
        }
    }
    try writer.finish(report);
    try out.flush();
}
// end sample

// sample: stream
fn pass(from: std.posix.fd_t, to: std.posix.fd_t, report: ?*hurray.Diagnostics) !usize {
    var reader = try hurray.TensorStreamReader.fromFd(from, .{}, report);
    defer reader.deinit();
    var writer = try hurray.TensorStreamWriter.toFd(to, .borrow, report);
    defer writer.deinit();

    var count: usize = 0;
    while (try reader.next(report)) |received| : (count += 1) {
        var tensor = received;
        defer tensor.deinit();
        try writer.write(&tensor, report);
    }
    return count;
}
// end sample

// sample: channel
fn produce(socket: std.posix.fd_t, report: ?*hurray.Diagnostics) !void {
    var channel = try hurray.TensorChannel.fromFd(socket, .{ .fd = .close }, report); // or connect, or a listener's accept
    defer channel.deinit();
    var tensor = try hurray.Tensor.allocateShared(.float32, &.{ 2, 3 }, 0, report); // goes through without a copy
    defer tensor.deinit();
    for (try (try tensor.view(report)).sliceMutable(f32, report), 1..) |*weight, i| weight.* = @floatFromInt(i);
    try channel.send(&tensor, report); // sealed: from here on nobody can write to it
    try channel.finish(report);
}

fn consume(socket: std.posix.fd_t, report: ?*hurray.Diagnostics) !f32 {
    var channel = try hurray.TensorChannel.fromFd(socket, .{ .fd = .close, .max_tensor_bytes = 1 << 30 }, report);
    defer channel.deinit();
    var sum: f32 = 0;
    while (try channel.receive(.fromSeconds(10), report)) |received| {
        var tensor = received;
        defer tensor.deinit(); // the producer gets its memory back
        for (try (try tensor.view(report)).slice(f32, report)) |weight| sum += weight;
    }
    return sum;
}
// end sample

// sample: exchange
fn handOver(tensor: *const hurray.Tensor, report: ?*hurray.Diagnostics) !hurray.Tensor {
    var pair = try tensor.exportPair(report); // shares the memory: the tensor may go
    defer pair.deinit(); // ends what was not given away

    // HurrayBufferList * and HurrayTensorContext *, now somebody else's ...
    const list_pointer = try pair.list.intoRaw(report);
    const context_pointer = try pair.context.intoRaw(report);

    // ... who takes them over like this.
    var list = try hurray.BufferList.fromRaw(list_pointer, report);
    defer list.deinit();
    var context = try hurray.TensorContext.fromRaw(context_pointer, report);
    defer context.deinit();
    return hurray.Tensor.import(&list, &context, report);
}
// end sample

/// Stands for the runtime of a device, such as CUDA's.
const Gpu = struct {
    const Stream = struct { waits: u32 = 0, accesses: u32 = 0 };
    const Event = struct { recorded: bool = false, destroyed: bool = false };
    const Memory = struct { bytes: [256]u8 align(64) = @splat(0), freed: bool = false };

    event: Event = .{},

    fn record(gpu: *Gpu, _: *Stream) *Event {
        gpu.event.recorded = true;
        return &gpu.event;
    }

    fn wait(_: *Gpu, stream: *Stream, event: *const Event) void {
        std.debug.assert(event.recorded and !event.destroyed);
        stream.waits += 1;
    }

    fn order(_: *Gpu, stream: *Stream, after: *Stream) void {
        std.debug.assert(stream != after);
        stream.waits += 1;
    }

    fn launch(_: *Gpu, stream: *Stream, address: ?*anyopaque) void {
        std.debug.assert(address != null and stream.waits > 0);
        stream.accesses += 1;
    }

    fn destroyEvent(_: *Gpu, event: *Event) void {
        event.destroyed = true;
    }

    fn free(_: *Gpu, memory: *Memory) void {
        memory.freed = true;
    }
};

// sample: handoff
fn handOff(gpu: *Gpu, writing: *Gpu.Stream, memory: *Gpu.Memory, report: ?*hurray.Diagnostics) !hurray.Buffer {
    const event = gpu.record(writing); // after all writes, and before the handoff
    errdefer gpu.destroyEvent(event); // a handoff that fails calls nothing back
    return hurray.Buffer.handoff(
        .{ .byte_size = 256, .device = .cuda, .sync_mode = .event },
        .of(memory, gpu, Gpu.free), // Gpu.free(gpu, memory), once, when the last share goes
        .{ .event = .of(event, .cuda, gpu, Gpu.destroyEvent) },
        report,
    );
}

fn use(gpu: *Gpu, stream: *Gpu.Stream, tensor: *hurray.Tensor, report: ?*hurray.Diagnostics) !void {
    const event = try tensor.bufferEvent(0, report);
    gpu.wait(stream, @ptrCast(@alignCast(event.handle))); // every stream that is to touch the bytes
    try tensor.releaseBufferEvent(0, report); // once; the end of the tensor would do it, too
    gpu.launch(stream, (try tensor.view(report)).address());
}
// end sample

// sample: producer
const Weights = struct {
    gpu: *Gpu,
    writing: *Gpu.Stream,
    memory: *Gpu.Memory,

    fn exportTensor(weights: *Weights, stream: ?hurray.Stream, report: *hurray.Diagnostics) anyerror!hurray.Tensor.Exported {
        const consumer = stream orelse return error.HurrayUnsupported; // the consumer has no stream
        weights.gpu.order(@ptrCast(@alignCast(consumer.handle.?)), weights.writing); // its later work runs after our writes
        var buffer = try hurray.Buffer.handoff(
            .{ .byte_size = 256, .device = .cuda, .sync_mode = .consumer_stream },
            .of(weights.memory, weights.gpu, Gpu.free),
            .{ .stream = consumer },
            report,
        );
        defer buffer.deinit(); // empty once it has moved
        return .dense(.float32, &.{64}, &buffer, report);
    }

    fn release(_: *Weights) void {}
};

fn ask(weights: *Weights, stream: *Gpu.Stream, report: ?*hurray.Diagnostics) !hurray.Tensor {
    var producer: hurray.Producer = .init(weights, Weights.exportTensor, Weights.release);
    defer producer.deinit();
    // Other runtimes know it as `&producer.raw`, a HurrayProducer *. A consumer asks with its own stream.
    return hurray.Producer.requestFrom(&producer.raw, .{ .handle = stream, .device = .cuda }, report);
}
// end sample

// sample: describe
fn describeSparse(rows: u64, columns: u64, nnz: u64, report: ?*hurray.Diagnostics) !hurray.Descriptor {
    var builder = try hurray.DescriptorBuilder.init(.float32, .csr, &.{ rows, columns }, report);
    defer builder.deinit();
    try builder.setLayoutFields(.{ .csr = nnz }, report);
    // Values, column indices, row pointers.
    for ([_]u64{ 4 * nnz, 8 * nnz, 8 * (rows + 1) }) |size| try builder.addBuffer(.{ .byte_size = size }, report);
    return builder.build(report);
}

fn tellScales(tensor: *const hurray.Tensor, out: *std.Io.Writer, report: ?*hurray.Diagnostics) !void {
    const quantization = try tensor.quantization(report) orelse return out.writeAll("not quantized");
    switch (quantization.scheme) {
        .per_tensor_affine => |one| try out.print("{d} * (q - {d})", .{ one.scale, one.zero_point }),
        .per_channel_affine => |many| try out.print("buffer {d} has the scales of axis {d}", .{ many.parameters.scale_buffer, many.axis }),
        else => |other| try out.print("{t}", .{other}),
    }
}
// end sample

// sample: errors
fn explain(bytes: []const u8, out: *std.Io.Writer) !void {
    var report: hurray.Diagnostics = .{};
    var descriptor = hurray.Descriptor.decode(bytes, &report) catch |err| {
        try out.print("{s} at byte {?d}: {f}\n", .{ @errorName(err), report.offset(), &report });
        return;
    };
    descriptor.deinit();
}
// end sample

test "wrap" {
    var report: hurray.Diagnostics = .{};
    try std.testing.expectEqual(3.5, try average(std.testing.allocator, &report));
}

test "lend" {
    var pool: Pool = .{};
    const items = [_]u16{ 7, 8, 9 };
    var tensor = try lend(std.testing.allocator, &pool, &items);
    try std.testing.expectEqual(3, pool.in_use);
    tensor.deinit();
    try std.testing.expectEqual(0, pool.in_use);
}

test "strided" {
    try std.testing.expectEqual(6, try corner(null));
}

test "files" {
    var tmp = std.testing.tmpDir(.{});
    defer tmp.cleanup();
    var path_buffer: [100]u8 = undefined;
    const path = try std.fmt.bufPrint(&path_buffer, ".zig-cache/tmp/{s}/model.safetensors", .{tmp.sub_path});
    try writeModel(path, null);
    var text: [200]u8 = undefined;
    var out: std.Io.Writer = .fixed(&text);
    try readModel(path, &out, null);
    try std.testing.expectEqualStrings("bias float64 { 2 }: 16 bytes\n", out.buffered());
}

test "formats" {
    var tmp = std.testing.tmpDir(.{});
    defer tmp.cleanup();
    var path_buffer: [100]u8 = undefined;
    const path = try std.fmt.bufPrint(&path_buffer, ".zig-cache/tmp/{s}/model", .{tmp.sub_path});
    try writeModel(path, null);
    const io = std.testing.io;
    {
        const out = try tmp.dir.createFile(io, "model.hrry", .{});
        defer out.close(io);
        var memory: [1000]u8 = undefined;
        var writer = out.writer(io, &memory);
        try toHrry(path, &writer.interface, null);
    }
    const converted = try std.fmt.bufPrint(&path_buffer, ".zig-cache/tmp/{s}/model.hrry", .{tmp.sub_path});
    var file = try hurray.TensorFile.open(converted, .{}, null);
    defer file.deinit();
    try std.testing.expectEqual(.hrry, (try file.info(null)).format);
    try std.testing.expectEqualStrings("a sample", (try file.metadataByKey("made by", null)).?.string);
    var tensor = try file.tensorByName("bias", null);
    defer tensor.deinit();
    try std.testing.expectEqual(-0.5, (try (try tensor.view(null)).slice(f64, null))[1]);
}

test "channel" {
    var ends: [2]std.posix.fd_t = undefined;
    try std.testing.expectEqual(0, std.c.socketpair(std.posix.AF.UNIX, std.posix.SOCK.SEQPACKET, 0, &ends));
    // The same in one process: what is sent waits for who receives it.
    try produce(ends[0], null);
    try std.testing.expectEqual(21, try consume(ends[1], null));
}

test "stream" {
    var tmp = std.testing.tmpDir(.{});
    defer tmp.cleanup();
    const io = std.testing.io;
    const first = try tmp.dir.createFile(io, "first", .{ .read = true });
    defer first.close(io);
    const second = try tmp.dir.createFile(io, "second", .{ .read = true });
    defer second.close(io);
    {
        var writer = try hurray.TensorStreamWriter.toFd(first.handle, .borrow, null);
        defer writer.deinit();
        var tensor = try hurray.Tensor.fromBools(&.{ true, false }, &.{2}, null);
        defer tensor.deinit();
        try writer.write(&tensor, null);
        try writer.write(&tensor, null);
    }
    const again = try tmp.dir.openFile(io, "first", .{});
    defer again.close(io);
    try std.testing.expectEqual(2, try pass(again.handle, second.handle, null));
    try std.testing.expectEqual(try first.length(io), try second.length(io));
}

test "exchange" {
    const before = try hurray.liveHandles(.any, null);
    const items: []const u8 = "abc";
    var tensor = try hurray.Tensor.fromStatic(items, &.{3}, .{}, null);
    var other = try handOver(&tensor, null);
    tensor.deinit();
    try std.testing.expectEqualStrings("abc", try (try other.view(null)).bytes(null));
    other.deinit();
    try std.testing.expectEqual(before, try hurray.liveHandles(.any, null));
}

test "handoff" {
    const before = try hurray.liveHandles(.any, null);
    var gpu: Gpu = .{};
    var writing: Gpu.Stream = .{};
    var stream: Gpu.Stream = .{};
    var memory: Gpu.Memory = .{};
    var buffer = try handOff(&gpu, &writing, &memory, null);
    var pair: hurray.Tensor.Exported = try .dense(.float32, &.{64}, &buffer, null);
    var tensor = try hurray.Tensor.import(&pair.list, &pair.context, null);
    try std.testing.expect(!gpu.event.destroyed);
    try use(&gpu, &stream, &tensor, null);
    try std.testing.expect(gpu.event.destroyed and !memory.freed);
    tensor.deinit();
    try std.testing.expect(memory.freed);
    try std.testing.expectEqual(1, stream.accesses);
    try std.testing.expectEqual(before, try hurray.liveHandles(.any, null));
}

test "producer" {
    const before = try hurray.liveHandles(.any, null);
    var gpu: Gpu = .{};
    var writing: Gpu.Stream = .{};
    var stream: Gpu.Stream = .{};
    var memory: Gpu.Memory = .{};
    var weights: Weights = .{ .gpu = &gpu, .writing = &writing, .memory = &memory };
    var tensor = try ask(&weights, &stream, null);
    gpu.launch(&stream, (try tensor.view(null)).address());
    tensor.deinit();
    try std.testing.expect(memory.freed);
    try std.testing.expectEqual(before, try hurray.liveHandles(.any, null));
}

test "describe" {
    var sparse = try describeSparse(3, 4, 5, null);
    defer sparse.deinit();
    try std.testing.expectEqual(5, (try sparse.layoutFields(null)).csr);
    try std.testing.expectEqual(32, (try sparse.bufferEntry(2, null)).byte_size);

    const Case = struct { section: ?hurray.Quantization, sizes: []const u64, text: []const u8 };
    for ([_]Case{
        .{ .section = null, .sizes = &.{6}, .text = "not quantized" },
        .{
            .section = .{ .scheme = .{ .per_tensor_affine = .{ .scale = 0.5, .zero_point = -2 } } },
            .sizes = &.{6},
            .text = "0.5 * (q - -2)",
        },
        .{
            .section = .{ .scheme = .{ .per_channel_affine = .{ .axis = 1, .parameters = .{ .scale_buffer = 1 } } } },
            .sizes = &.{ 6, 12 },
            .text = "buffer 1 has the scales of axis 1",
        },
        .{
            .section = .{ .scheme = .{ .per_block_affine = .{ .axis = 0, .block_size = 2, .parameters = .{ .scale_buffer = 1 } } } },
            .sizes = &.{ 6, 12 },
            .text = "per_block_affine",
        },
    }) |case| {
        var builder = try hurray.DescriptorBuilder.init(.int8, .row_major, &.{ 2, 3 }, null);
        defer builder.deinit();
        if (case.section) |section| try builder.setQuantization(section, null);
        var buffers = try hurray.BufferList.init(null);
        defer buffers.deinit();
        for (case.sizes) |size| {
            try builder.addBuffer(.{ .byte_size = size }, null);
            var buffer = try hurray.Buffer.allocate(size, 0, null);
            defer buffer.deinit();
            try buffers.push(&buffer, null);
        }
        var descriptor = try builder.build(null);
        defer descriptor.deinit();
        var tensor = try hurray.Tensor.fromParts(&descriptor, &buffers, null);
        defer tensor.deinit();
        var text: [100]u8 = undefined;
        var out: std.Io.Writer = .fixed(&text);
        try tellScales(&tensor, &out, null);
        try std.testing.expectEqualStrings(case.text, out.buffered());
    }
}

test "errors" {
    var text: [400]u8 = undefined;
    var out: std.Io.Writer = .fixed(&text);
    try explain("HRRY\x09\x00\x14\x00\x00\x00 is what a descriptor starts with", &out);
    try std.testing.expectStringStartsWith(out.buffered(), "HurrayVersionMismatch at byte 4: VERSION_MISMATCH: ");
}

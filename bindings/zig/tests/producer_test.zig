//! Producers that are asked with a consumer's stream.

const std = @import("std");
const hurray = @import("hurray");
const support = @import("support.zig");

const gpa = support.gpa;
const expectEqual = std.testing.expectEqual;

/// Exports memory of a pretended device, as it is told.
const Source = struct {
    memory: [64]u8 align(64) = @splat(0),
    event: u8 = 0,
    mode: hurray.SyncMode = .producer_synced,
    /// In place of the consumer's stream.
    other_stream: ?hurray.Stream = null,
    abi_version: u32 = hurray.c_abi_version,
    failure: ?anyerror = null,
    fails_after_parts: bool = false,
    explains: bool = false,
    given_away: bool = false,
    asked: ?hurray.Stream = null,
    requests: u32 = 0,
    released: u32 = 0,
    events_released: u32 = 0,
    memory_released: u32 = 0,
    thread: std.Thread.Id = 0,

    fn exportTensor(self: *Source, stream: ?hurray.Stream, diagnostics: *hurray.Diagnostics) anyerror!hurray.Tensor.Exported {
        self.requests += 1;
        self.asked = stream;
        self.thread = std.Thread.getCurrentId();
        if (self.explains) {
            var refused = try hurray.Descriptor.decode("no descriptor at all, really not", diagnostics);
            refused.deinit();
        }
        if (self.failure) |failure| if (!self.fails_after_parts) return failure;
        const entry: hurray.BufferEntry = .{ .byte_size = 64, .device = .cuda, .sync_mode = self.mode };
        const payload: hurray.SyncPayload = switch (self.mode) {
            .event => .{ .event = .of(&self.event, .cuda, self, releaseEvent) },
            .consumer_stream => .{ .stream = self.other_stream orelse stream },
            else => .{},
        };
        var buffer = try hurray.Buffer.handoff(entry, .of(&self.memory, self, releaseMemory), payload, diagnostics);
        defer buffer.deinit();
        var exported = try hurray.Tensor.Exported.dense(.uint8, &.{64}, &buffer, diagnostics);
        errdefer exported.deinit();
        if (self.abi_version != hurray.c_abi_version) {
            const encoded = try gpa.dupe(u8, try exported.context.descriptor(diagnostics));
            defer gpa.free(encoded);
            exported.context.deinit();
            exported.context = try .initVersion(self.abi_version, encoded, diagnostics);
        }
        if (self.failure) |failure| return failure;
        if (self.given_away) exported.context.deinit();
        return exported;
    }

    fn releaseEvent(self: *Source, _: *u8) void {
        self.events_released += 1;
    }

    fn releaseMemory(self: *Source, _: *[64]u8) void {
        self.memory_released += 1;
    }

    fn release(self: *Source) void {
        self.released += 1;
    }

    fn producer(self: *Source) hurray.Producer {
        return .init(self, exportTensor, release);
    }
};

var some_stream: u8 = 0;
var another_stream: u8 = 0;
const own_stream: hurray.Stream = .{ .handle = &some_stream, .device = .cuda };

test "a request hands the consumer's stream to the producer, and the tensor to the consumer" {
    const baseline = try support.Baseline.begin();
    var source: Source = .{ .mode = .consumer_stream };
    var producer = source.producer();
    var tensor = try producer.request(own_stream, null);
    try expectEqual(own_stream, source.asked.?);
    try expectEqual(std.Thread.getCurrentId(), source.thread);
    try expectEqual(own_stream, try tensor.bufferStream(0, null));
    try expectEqual(@as(?*anyopaque, &source.memory), (try tensor.view(null)).address());
    // The tensor does not need its producer.
    producer.deinit();
    try expectEqual(1, source.released);
    try expectEqual(0, source.memory_released);
    tensor.deinit();
    try expectEqual(1, source.memory_released);
    try expectEqual(1, source.requests);
    try baseline.expectSame();
}

test "a consumer without a stream gets what needs none" {
    const baseline = try support.Baseline.begin();
    var source: Source = .{};
    var producer = source.producer();
    defer producer.deinit();
    for ([_]hurray.SyncMode{ .producer_synced, .event }) |mode| {
        source.mode = mode;
        var tensor = try producer.request(null, null);
        try expectEqual(null, source.asked);
        if (mode == .event) try tensor.releaseBufferEvent(0, null);
        tensor.deinit();
    }
    try expectEqual(1, source.events_released);
    try expectEqual(2, source.memory_released);
    // A stream that nobody gave.
    source.mode = .consumer_stream;
    source.other_stream = own_stream;
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurraySyncModeMismatch, .sync_mode_mismatch, "", producer.request(null, &diagnostics), &diagnostics);
    try expectEqual(3, source.memory_released);
    try baseline.expectSame();
}

test "a buffer that is ordered on another stream than the consumer's is refused, and everything is released" {
    const baseline = try support.Baseline.begin();
    var source: Source = .{ .mode = .consumer_stream, .other_stream = .{ .handle = &another_stream, .device = .cuda } };
    var producer = source.producer();
    defer producer.deinit();
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurraySyncModeMismatch, .sync_mode_mismatch, "", producer.request(own_stream, &diagnostics), &diagnostics);
    try expectEqual(1, source.memory_released);
    source.other_stream = null;
    // The same stream as if of another device: the handoff itself refuses it, and so does the producer.
    try support.expectFailure(error.HurraySyncModeMismatch, .sync_mode_mismatch, "", producer.request(.{ .handle = &some_stream, .device = .rocm }, &diagnostics), &diagnostics);
    try expectEqual(1, source.memory_released);
    try baseline.expectSame();
}

test "what a producer fails with reaches the consumer as a status and a message" {
    const baseline = try support.Baseline.begin();
    var source: Source = .{ .mode = .event };
    var producer = source.producer();
    defer producer.deinit();
    const Case = struct { failure: anyerror, seen: hurray.Error, code: hurray.Status };
    const cases = [_]Case{
        .{ .failure = error.DeviceOnFire, .seen = error.HurrayInternalPanic, .code = .internal_panic },
        .{ .failure = error.OutOfMemory, .seen = error.HurrayOutOfMemory, .code = .out_of_memory },
        .{ .failure = error.HurrayUnsupported, .seen = error.HurrayUnsupported, .code = .unsupported },
        .{ .failure = error.HurrayCancelled, .seen = error.HurrayCancelled, .code = .cancelled },
        .{ .failure = error.HurrayClosed, .seen = error.HurrayInvalidHandle, .code = .invalid_handle },
        .{ .failure = error.HurrayReadOnly, .seen = error.HurrayInvalidArgument, .code = .invalid_argument },
        .{ .failure = error.HurrayNotContiguous, .seen = error.HurrayUnsupported, .code = .unsupported },
        .{ .failure = error.HurrayLibraryNotFound, .seen = error.HurrayNotFound, .code = .not_found },
        .{ .failure = error.HurrayUnknownStatus, .seen = error.HurrayInternalPanic, .code = .internal_panic },
    };
    for (cases) |case| for ([_]bool{ false, true }) |after_parts| {
        source.failure = case.failure;
        source.fails_after_parts = after_parts;
        const before = source.memory_released;
        var diagnostics: hurray.Diagnostics = .{};
        try support.expectFailure(case.seen, case.code, @errorName(case.failure), producer.request(own_stream, &diagnostics), &diagnostics);
        try expectEqual(before + @intFromBool(after_parts), source.memory_released);
        try expectEqual(source.events_released, source.memory_released);
    };
    // Its own words, where it has some: with the place of the fault.
    source.failure = null;
    source.explains = true;
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayInvalidMagic, .invalid_magic, "", producer.request(own_stream, &diagnostics), &diagnostics);
    try expectEqual(0, diagnostics.offset());
    // And without anybody to listen.
    try std.testing.expectError(error.HurrayInvalidMagic, producer.request(own_stream, null));
    try baseline.expectSame();
}

test "a context of another version that a producer answers with is refused" {
    const baseline = try support.Baseline.begin();
    var source: Source = .{};
    var producer = source.producer();
    defer producer.deinit();
    for ([_]u32{ 3, 5 }) |version| {
        source.abi_version = version;
        var diagnostics: hurray.Diagnostics = .{};
        try support.expectFailure(error.HurrayVersionMismatch, .version_mismatch, "", producer.request(null, &diagnostics), &diagnostics);
    }
    try expectEqual(2, source.memory_released);
    try baseline.expectSame();
}

test "a producer that gives away what it has not got any more is an error" {
    const baseline = try support.Baseline.begin();
    var source: Source = .{ .given_away = true };
    var producer = source.producer();
    defer producer.deinit();
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayInvalidHandle, .invalid_handle, "tensor context", producer.request(null, &diagnostics), &diagnostics);
    try expectEqual(1, source.memory_released);
    try baseline.expectSame();
}

test "a producer's owner is released exactly once, whoever ends it" {
    const baseline = try support.Baseline.begin();
    var source: Source = .{};
    var producer = source.producer();
    producer.deinit();
    producer.deinit();
    try expectEqual(1, source.released);
    var diagnostics: hurray.Diagnostics = .{};
    if (std.debug.runtime_safety) {
        try support.expectFailure(error.HurrayClosed, .invalid_handle, "producer", producer.request(null, &diagnostics), &diagnostics);
    }
    // Another runtime knows it as a pointer.
    var other = source.producer();
    const pointer: *hurray.c.HurrayProducer = &other.raw;
    var tensor = try hurray.Producer.requestFrom(pointer, own_stream, null);
    tensor.deinit();
    try hurray.Producer.releaseRaw(pointer, null);
    try expectEqual(2, source.released);
    try hurray.Producer.releaseRaw(pointer, null);
    other.deinit();
    try expectEqual(2, source.released);
    try support.expectFailure(error.HurrayNullPointer, .null_pointer, "", hurray.Producer.requestFrom(pointer, own_stream, &diagnostics), &diagnostics);
    try expectEqual(1, source.requests);
    try support.expectFailure(error.HurrayNullPointer, .null_pointer, "producer", hurray.Producer.requestFrom(null, own_stream, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayNullPointer, .null_pointer, "producer", hurray.Producer.releaseRaw(null, &diagnostics), &diagnostics);
    try baseline.expectSame();
}

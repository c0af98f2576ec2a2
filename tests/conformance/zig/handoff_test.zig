//! Handoffs through the binding, as producer and as consumer, judged by the fake device.

const std = @import("std");
const hurray = @import("hurray");
const device_ = @import("device.zig");

const c = device_.c;
const Device = device_.Device;
const ok = device_.ok;
const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;
const expectError = std.testing.expectError;

// --- In order ---

test "PRODUCER_SYNCED: the host has waited before the handoff, then every stream may access" {
    const device = try Device.init();
    defer device.deinit();
    try device.write();
    try expectEqual(ok, c.fake_host_wait_stream(device.raw, device.producer));
    var buffer = try device.handOff(.producer_synced, null, null);
    var tensor = try Device.import(&buffer);
    try device.read(device.consumer, &tensor);
    try device.read(device.other, &tensor);
    tensor.deinit();
    try device.expectClean();
    try device.expectLog(
        \\write memory 1 on producer
        \\wait host for producer
        \\handoff begins memory 1 mode 0
        \\handoff returned memory 1 mode 0
        \\read memory 1 on consumer
        \\read memory 1 on other
        \\release memory 1
        \\
    );
}

test "EVENT: recorded before the handoff, waited for on every stream before access, released exactly once" {
    const device = try Device.init();
    defer device.deinit();
    try device.write();
    const event = try device.recordedEvent();
    var buffer = try device.handOff(.event, event, null);
    var tensor = try Device.import(&buffer);
    try device.wait(device.consumer, &tensor);
    try device.wait(device.other, &tensor);
    try tensor.releaseBufferEvent(0, null);
    try expectError(error.HurrayInvalidHandle, tensor.releaseBufferEvent(0, null));
    try expectError(error.HurrayInvalidHandle, tensor.bufferEvent(0, null));
    try device.read(device.consumer, &tensor);
    try device.read(device.other, &tensor);
    tensor.deinit();
    try expectEqual(1, c.fake_event_release_count(device.raw, event));
    try expectEqual(1, c.fake_memory_release_count(device.raw, device.memory));
    try device.expectClean();
    try device.expectLog(
        \\write memory 1 on producer
        \\record event 1 on producer
        \\handoff begins memory 1 mode 1 event 1
        \\handoff returned memory 1 mode 1 event 1
        \\wait consumer for event 1
        \\wait other for event 1
        \\release event 1
        \\read memory 1 on consumer
        \\read memory 1 on other
        \\release memory 1
        \\
    );
}

test "EVENT: a consumer that never releases it has it released by the end of the buffer, before the memory" {
    const device = try Device.init();
    defer device.deinit();
    try device.write();
    var buffer = try device.handOff(.event, try device.recordedEvent(), null);
    var tensor = try Device.import(&buffer);
    try device.wait(device.consumer, &tensor);
    try device.read(device.consumer, &tensor);
    tensor.deinit();
    try device.expectClean();
    try device.expectLog(
        \\write memory 1 on producer
        \\record event 1 on producer
        \\handoff begins memory 1 mode 1 event 1
        \\handoff returned memory 1 mode 1 event 1
        \\wait consumer for event 1
        \\read memory 1 on consumer
        \\release event 1
        \\release memory 1
        \\
    );
}

/// Exports the device's memory for work on the consumer's stream. `orders`: it makes that stream wait, when.
const Source = struct {
    device: *const Device,
    orders: enum { before, never } = .before,
    on: ?*anyopaque = null,
    released: u32 = 0,

    fn exportTensor(self: *Source, stream: ?hurray.Stream, diagnostics: *hurray.Diagnostics) anyerror!hurray.Tensor.Exported {
        const device = self.device;
        const target = self.on orelse stream.?.handle.?;
        _ = c.fake_stream_write(device.raw, device.producer, device.memory);
        if (self.orders == .before) _ = c.fake_stream_wait_stream(device.raw, target, device.producer);
        var buffer = try device.handOff(.consumer_stream, target, diagnostics);
        errdefer buffer.deinit();
        return Device.pairOf(&buffer, diagnostics);
    }

    fn release(self: *Source) void {
        self.released += 1;
    }
};

test "CONSUMER_STREAM: the dependency is issued before the handoff returns; another stream waits before it accesses" {
    const device = try Device.init();
    defer device.deinit();
    var source: Source = .{ .device = &device };
    var producer: hurray.Producer = .init(&source, Source.exportTensor, Source.release);
    var tensor = try producer.request(device.stream(device.consumer), null);
    producer.deinit();
    try expectEqual(1, source.released);
    const ordered = try tensor.bufferStream(0, null);
    try expectEqual(device.stream(device.consumer), ordered);
    try device.read(ordered.handle.?, &tensor);
    try expectEqual(ok, c.fake_stream_wait_stream(device.raw, device.other, ordered.handle));
    try device.read(device.other, &tensor);
    tensor.deinit();
    try device.expectClean();
    try device.expectLog(
        \\write memory 1 on producer
        \\wait consumer for producer
        \\handoff begins memory 1 mode 2 consumer
        \\handoff returned memory 1 mode 2 consumer
        \\read memory 1 on consumer
        \\wait other for consumer
        \\read memory 1 on other
        \\release memory 1
        \\
    );
}

test "a deferred end releases the event on the thread that ends, the memory on the thread that drains" {
    const device = try Device.init();
    defer device.deinit();
    try device.write();
    const event = try device.recordedEvent();
    var buffer = try device.handOff(.event, event, null);
    var tensor = try Device.import(&buffer);
    const Collector = struct {
        fn run(ended: *hurray.Tensor, thread: *u64) void {
            thread.* = c.fake_current_thread();
            ended.deinitDeferred();
        }
    };
    var collector_thread: u64 = 0;
    const collector = try std.Thread.spawn(.{}, Collector.run, .{ &tensor, &collector_thread });
    collector.join();
    try expectEqual(collector_thread, c.fake_event_release_thread(device.raw, event));
    try expectEqual(0, c.fake_memory_release_count(device.raw, device.memory));
    try expectEqual(1, try hurray.drainReleases(null));
    try expectEqual(c.fake_current_thread(), c.fake_memory_release_thread(device.raw, device.memory));
    try expect(collector_thread != c.fake_current_thread());
    try device.expectClean();
}

test "a handoff whose mode and payload do not belong together moves nothing" {
    const device = try Device.init();
    defer device.deinit();
    try device.write();
    const event = try device.recordedEvent();
    try expectEqual(ok, c.fake_host_wait_stream(device.raw, device.producer));
    try expectEqual(ok, c.fake_stream_wait_stream(device.raw, device.consumer, device.producer));
    const with_event: hurray.SyncPayload = .{ .event = .of(event, .cuda, device.raw, Device.releaseEvent) };
    const elsewhere: hurray.SyncPayload = .{ .event = .of(event, .rocm, device.raw, Device.releaseEvent) };
    const with_stream: hurray.SyncPayload = .{ .stream = device.stream(device.consumer) };
    try expectError(error.HurraySyncModeMismatch, device.handOffWith(.producer_synced, null, with_event, null));
    try expectError(error.HurraySyncModeMismatch, device.handOffWith(.producer_synced, null, with_stream, null));
    try expectError(error.HurraySyncModeMismatch, device.handOffWith(.event, event, .{}, null));
    try expectError(error.HurraySyncModeMismatch, device.handOffWith(.event, event, with_stream, null));
    try expectError(error.HurraySyncModeMismatch, device.handOffWith(.event, event, elsewhere, null));
    try expectError(error.HurraySyncModeMismatch, device.handOffWith(.consumer_stream, device.consumer, .{}, null));
    try expectError(error.HurraySyncModeMismatch, device.handOffWith(.consumer_stream, device.consumer, with_event, null));
    try expectEqual(0, c.fake_events_outstanding(device.raw));
    try expectEqual(0, c.fake_memory_outstanding(device.raw));
    // They are the producer's still.
    c.fake_event_release(event, device.raw);
    try device.expectClean();
}

// --- Violations: done wrongly on purpose, and named by the device ---

test "violation: PRODUCER_SYNCED without a wait of the host" {
    const device = try Device.init();
    defer device.deinit();
    try device.write();
    var buffer = try device.handOff(.producer_synced, null, null);
    buffer.deinit();
    try device.expectViolations(&.{c.FAKE_HANDOFF_UNSYNCED});
    try device.expectClean();
}

test "violation: EVENT that nobody recorded" {
    const device = try Device.init();
    defer device.deinit();
    try device.write();
    const event = device.newEvent();
    var buffer = try device.handOff(.event, event, null);
    try device.expectViolations(&.{c.FAKE_HANDOFF_EVENT_UNRECORDED});
    // The consumer's wait would hang.
    var tensor = try Device.import(&buffer);
    try device.wait(device.consumer, &tensor);
    try device.expectViolations(&.{c.FAKE_WAIT_UNRECORDED});
    tensor.deinit();
    try device.expectClean();
}

test "violation: EVENT recorded after its handoff" {
    const device = try Device.init();
    defer device.deinit();
    try device.write();
    const event = device.newEvent();
    var buffer = try device.handOff(.event, event, null);
    try expectEqual(@as(u32, c.FAKE_EVENT_RECORDED_LATE), c.fake_event_record(device.raw, event, device.producer));
    buffer.deinit();
    try device.expectViolations(&.{ c.FAKE_HANDOFF_EVENT_UNRECORDED, c.FAKE_EVENT_RECORDED_LATE });
    try device.expectClean();
}

test "violation: EVENT recorded before the write" {
    const device = try Device.init();
    defer device.deinit();
    const event = try device.recordedEvent();
    try device.write();
    var buffer = try device.handOff(.event, event, null);
    buffer.deinit();
    try device.expectViolations(&.{c.FAKE_HANDOFF_EVENT_MISSES_WRITE});
    try device.expectClean();
}

test "violation: EVENT, an access without a wait" {
    const device = try Device.init();
    defer device.deinit();
    try device.write();
    var buffer = try device.handOff(.event, try device.recordedEvent(), null);
    var tensor = try Device.import(&buffer);
    try device.read(device.consumer, &tensor);
    try device.expectViolations(&.{c.FAKE_UNORDERED_READ});
    try device.writeInto(device.consumer, &tensor);
    try device.expectViolations(&.{c.FAKE_UNORDERED_WRITE});
    tensor.deinit();
    try device.expectClean();
}

test "violation: EVENT, a wait on one stream and an access on another" {
    const device = try Device.init();
    defer device.deinit();
    try device.write();
    var buffer = try device.handOff(.event, try device.recordedEvent(), null);
    var tensor = try Device.import(&buffer);
    try device.wait(device.consumer, &tensor);
    try device.read(device.consumer, &tensor);
    try device.expectViolations(&.{});
    try device.read(device.other, &tensor);
    try device.expectViolations(&.{c.FAKE_UNORDERED_READ});
    tensor.deinit();
    try device.expectClean();
}

test "violation: EVENT, a wait after the release" {
    const device = try Device.init();
    defer device.deinit();
    try device.write();
    var buffer = try device.handOff(.event, try device.recordedEvent(), null);
    var tensor = try Device.import(&buffer);
    const kept = (try tensor.bufferEvent(0, null)).handle;
    try tensor.releaseBufferEvent(0, null);
    try expectEqual(@as(u32, c.FAKE_EVENT_USED_AFTER_RELEASE), c.fake_stream_wait_event(device.raw, device.consumer, kept));
    tensor.deinit();
    try device.expectViolations(&.{c.FAKE_EVENT_USED_AFTER_RELEASE});
    try device.expectClean();
}

test "violation: EVENT released past the binding, which releases it, too" {
    const device = try Device.init();
    defer device.deinit();
    try device.write();
    var buffer = try device.handOff(.event, try device.recordedEvent(), null);
    c.fake_event_release((try buffer.event(null)).handle, device.raw);
    try buffer.releaseEvent(null);
    try device.expectViolations(&.{c.FAKE_EVENT_RELEASED_TWICE});
    buffer.deinit();
    try device.expectClean();
}

test "violation: a buffer that never ends keeps event and memory" {
    const device = try Device.init();
    defer device.deinit();
    try device.write();
    var buffer = try device.handOff(.event, try device.recordedEvent(), null);
    _ = c.fake_device_finish(device.raw);
    try expectEqual(1, c.fake_violation_count_of(device.raw, c.FAKE_EVENT_NEVER_RELEASED));
    try expectEqual(1, c.fake_violation_count_of(device.raw, c.FAKE_MEMORY_NEVER_RELEASED));
    try expectEqual(2, c.fake_violation_count(device.raw));
    c.fake_violations_clear(device.raw);
    buffer.deinit();
    try device.expectClean();
}

test "violation: an access after the last share has ended" {
    const device = try Device.init();
    defer device.deinit();
    var buffer = try device.handOff(.producer_synced, null, null);
    var tensor = try Device.import(&buffer);
    const address = (try tensor.view(null)).address();
    var share = try tensor.share(null);
    tensor.deinit();
    _ = c.fake_stream_read(device.raw, device.consumer, address);
    try device.expectViolations(&.{});
    share.deinit();
    _ = c.fake_stream_read(device.raw, device.consumer, address);
    try device.expectViolations(&.{c.FAKE_MEMORY_USED_AFTER_RELEASE});
    try device.expectClean();
}

test "violation: CONSUMER_STREAM without a dependency" {
    const device = try Device.init();
    defer device.deinit();
    var source: Source = .{ .device = &device, .orders = .never };
    var producer: hurray.Producer = .init(&source, Source.exportTensor, Source.release);
    defer producer.deinit();
    var tensor = try producer.request(device.stream(device.consumer), null);
    try device.expectViolations(&.{c.FAKE_HANDOFF_NO_DEPENDENCY});
    // Too late: whoever accesses it first has been racing.
    try device.read(device.consumer, &tensor);
    try device.expectViolations(&.{c.FAKE_UNORDERED_READ});
    try expectEqual(ok, c.fake_stream_wait_stream(device.raw, device.consumer, device.producer));
    try device.read(device.consumer, &tensor);
    tensor.deinit();
    try device.expectClean();
}

test "violation: CONSUMER_STREAM, an access on another stream without a wait" {
    const device = try Device.init();
    defer device.deinit();
    var source: Source = .{ .device = &device };
    var producer: hurray.Producer = .init(&source, Source.exportTensor, Source.release);
    defer producer.deinit();
    var tensor = try producer.request(device.stream(device.consumer), null);
    try device.read(device.other, &tensor);
    try device.expectViolations(&.{c.FAKE_UNORDERED_READ});
    tensor.deinit();
    try device.expectClean();
}

test "CONSUMER_STREAM on a stream that the consumer did not name is refused before anybody can use it" {
    const device = try Device.init();
    defer device.deinit();
    var source: Source = .{ .device = &device, .on = device.other };
    var producer: hurray.Producer = .init(&source, Source.exportTensor, Source.release);
    defer producer.deinit();
    var diagnostics: hurray.Diagnostics = .{};
    try expectError(error.HurraySyncModeMismatch, producer.request(device.stream(device.consumer), &diagnostics));
    try expectEqual(hurray.Status.sync_mode_mismatch, diagnostics.code());
    try expectEqual(1, c.fake_memory_release_count(device.raw, device.memory));
    try device.expectClean();
}

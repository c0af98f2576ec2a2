//! Release callbacks run exactly once, and never for what was not handed over.

const std = @import("std");
const hurray = @import("hurray");
const support = @import("support.zig");

const gpa = support.gpa;
const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;
const Tensor = hurray.Tensor;

const Witness = struct {
    released: std.atomic.Value(u32) = .init(0),
    items: []const f32 = &.{},
    thread: std.Thread.Id = 0,

    fn release(self: *Witness, items: []f32) void {
        _ = self.released.fetchAdd(1, .monotonic);
        self.items = items;
        self.thread = std.Thread.getCurrentId();
    }

    fn count(self: *const Witness) u32 {
        return self.released.load(.monotonic);
    }
};

test "memory of an allocator is freed exactly once, by the last share" {
    const baseline = try support.Baseline.begin();
    // The testing allocator finds memory that is freed twice or never.
    const items = try gpa.alloc(f32, 6);
    @memset(items, 1.5);
    var tensor = try Tensor.fromOwned(gpa, items, &.{ 2, 3 }, .{}, null);
    var share = try tensor.share(null);
    tensor.deinit();
    try expectEqual(1.5, (try (try share.view(null)).slice(f32, null))[5]);
    share.deinit();
    const empty = try gpa.alloc(f32, 0);
    var nothing = try Tensor.fromOwned(gpa, empty, &.{0}, .{}, null);
    nothing.deinit();
    const aligned = try gpa.alignedAlloc(f32, hurray.buffer_alignment, 4);
    @memset(aligned, 0);
    var tidy = try Tensor.fromOwned(gpa, aligned, &.{4}, .{ .alignment = .require }, null);
    tidy.deinit();
    const lent_items = try gpa.alloc(u16, 4);
    @memset(lent_items, 0);
    var lent = try hurray.Buffer.fromOwned(gpa, lent_items, null);
    lent.buffer.deinit();
    try baseline.expectSame();
}

test "borrowed memory is given back exactly as it was lent" {
    const baseline = try support.Baseline.begin();
    var witness: Witness = .{};
    var memory = [_]f32{ 1, 2, 3 };
    const items: []f32 = &memory;
    var tensor = try Tensor.fromBorrowed(gpa, items, &.{3}, .{}, &witness, Witness.release, null);
    var pair = try tensor.exportPair(null);
    var share = try tensor.share(null);
    var pinned = try share.pin(null);
    tensor.deinit();
    share.deinit();
    pair.deinit();
    try expectEqual(0, witness.count());
    try expectEqual(2, (try pinned.view.slice(f32, null))[1]);
    pinned.deinit();
    try expectEqual(1, witness.count());
    try expectEqual(items.ptr, witness.items.ptr);
    try expectEqual(items.len, witness.items.len);
    tensor.deinit();
    share.deinit();
    pinned.deinit();
    try expectEqual(1, witness.count());
    var lent = try hurray.Buffer.fromBorrowed(gpa, items, &witness, Witness.release, null);
    lent.buffer.deinit();
    try expectEqual(2, witness.count());
    try baseline.expectSame();
}

test "nothing is released when creating fails" {
    const baseline = try support.Baseline.begin();
    var witness: Witness = .{};
    var memory = [_]f32{ 1, 2, 3 };
    const items: []f32 = &memory;
    var diagnostics: hurray.Diagnostics = .{};
    const refused = [_]struct { []const u64, Tensor.HostOptions }{
        .{ &.{4}, .{} },
        .{ &.{3}, .{ .byte_offset = 1 << 40 } },
        .{ &.{3}, .{ .strides = &.{ 1, 1 } } },
        .{ &.{3}, .{ .element_type = .float64 } },
        .{ &.{4}, .{ .alignment = .copy } },
    };
    for (refused) |case| {
        if (Tensor.fromBorrowed(gpa, items, case[0], case[1], &witness, Witness.release, &diagnostics)) |_| {
            return error.TestUnexpectedResult;
        } else |_| {}
        try expectEqual(0, witness.count());
    }
    var failing: std.testing.FailingAllocator = .init(gpa, .{ .fail_index = 0 });
    try std.testing.expectError(error.OutOfMemory, Tensor.fromBorrowed(failing.allocator(), items, &.{3}, .{}, &witness, Witness.release, null));
    try std.testing.expectError(error.OutOfMemory, hurray.Buffer.fromBorrowed(failing.allocator(), items, &witness, Witness.release, null));
    try expectEqual(0, witness.count());
    // Memory of an allocator stays the caller's, too.
    const owned = try gpa.alloc(f32, 3);
    try std.testing.expectError(error.HurrayInvalidLayout, Tensor.fromOwned(gpa, owned, &.{4}, .{}, null));
    gpa.free(owned);
    try baseline.expectSame();
}

test "memory that is copied is released at once" {
    const baseline = try support.Baseline.begin();
    var witness: Witness = .{};
    const memory = try gpa.alignedAlloc(f32, hurray.buffer_alignment, 8);
    defer gpa.free(memory);
    @memset(memory, 4);
    const items: []f32 = memory[1..4];
    var tensor = try Tensor.fromBorrowed(gpa, items, &.{3}, .{ .alignment = .copy }, &witness, Witness.release, null);
    defer tensor.deinit();
    try expectEqual(1, witness.count());
    @memset(memory, 5);
    try expectEqual(4, (try (try tensor.view(null)).slice(f32, null))[2]);
    tensor.deinit();
    try expectEqual(1, witness.count());
    try baseline.expectSame();
}

test "a deferred end releases when somebody drains" {
    const baseline = try support.Baseline.begin();
    var witness: Witness = .{};
    var memory = [_]f32{ 1, 2, 3 };
    const items: []f32 = &memory;
    var tensor = try Tensor.fromBorrowed(gpa, items, &.{3}, .{}, &witness, Witness.release, null);
    const collector = try std.Thread.spawn(.{}, Tensor.deinitDeferred, .{&tensor});
    collector.join();
    try expectEqual(0, witness.count());
    try expectEqual(1, try hurray.pendingReleases(null));
    try expectEqual(1, try hurray.drainReleases(null));
    try expectEqual(1, witness.count());
    try expectEqual(std.Thread.getCurrentId(), witness.thread);
    try expectEqual(0, try hurray.drainReleases(null));
    // Lending new memory drains, too.
    tensor = try Tensor.fromBorrowed(gpa, items, &.{3}, .{}, &witness, Witness.release, null);
    tensor.deinitDeferred();
    tensor.deinitDeferred();
    try expectEqual(1, witness.count());
    var next = try Tensor.fromOwned(gpa, try gpa.alloc(u8, 1), &.{1}, .{}, null);
    next.deinit();
    try expectEqual(2, witness.count());
    // Buffers and contexts take the same way.
    var lent = try hurray.Buffer.fromBorrowed(gpa, items, &witness, Witness.release, null);
    lent.buffer.deinitDeferred();
    try expectEqual(2, witness.count());
    try expectEqual(1, try hurray.drainReleases(null));
    try expectEqual(3, witness.count());
    try baseline.expectSame();
}

test "a queue of one's own" {
    const baseline = try support.Baseline.begin();
    var witness: Witness = .{};
    var memory = [_]f32{ 1, 2, 3 };
    const items: []f32 = &memory;
    var queue = try hurray.ReleaseQueue.init(null);
    var tensors: [3]Tensor = undefined;
    for (&tensors) |*tensor| {
        tensor.* = try Tensor.fromBorrowed(gpa, items, &.{3}, .{ .release_queue = &queue }, &witness, Witness.release, null);
    }
    for (&tensors) |*tensor| tensor.deinitDeferred();
    try expectEqual(0, try hurray.drainReleases(null));
    try expectEqual(3, try queue.pending(null));
    try expectEqual(2, try queue.drain(2, null));
    try expectEqual(2, witness.count());
    // The end of the queue releases what waits.
    queue.deinit();
    try expectEqual(3, witness.count());
    try std.testing.expectError(error.HurrayClosed, queue.pending(null));
    var lent = try hurray.Buffer.fromBorrowed(gpa, items, &witness, Witness.release, null);
    try lent.buffer.setReleaseAnyThread(null);
    lent.buffer.deinitDeferred();
    try expectEqual(4, witness.count());
    try baseline.expectSame();
}

fn useShares(tensor: Tensor, sum: *f64) void {
    var mine = tensor;
    defer mine.deinit();
    for (0..200) |_| {
        var share = mine.share(null) catch unreachable;
        defer share.deinit();
        const view = share.view(null) catch unreachable;
        for (view.slice(f32, null) catch unreachable) |value| sum.* += value;
    }
}

test "shares are used and ended by many threads" {
    const baseline = try support.Baseline.begin();
    var witness: Witness = .{};
    var memory: [100]f32 = @splat(0.25);
    const items: []f32 = &memory;
    var tensor = try Tensor.fromBorrowed(std.heap.smp_allocator, items, &.{100}, .{}, &witness, Witness.release, null);
    var threads: [8]std.Thread = undefined;
    var sums: [8]f64 = @splat(0);
    for (&threads, &sums) |*thread, *sum| {
        thread.* = try std.Thread.spawn(.{}, useShares, .{ try tensor.share(null), sum });
    }
    tensor.deinit();
    for (threads) |thread| thread.join();
    for (sums) |sum| try expectEqual(200 * 25, sum);
    try expectEqual(1, witness.count());
    try baseline.expectSame();
}

fn releaseAndUse(allocator: std.mem.Allocator, items: []f32) void {
    allocator.free(items);
    var tensor = Tensor.allocate(.float32, &.{4}, 0, null) catch unreachable;
    tensor.deinit();
}

test "a release may use the package" {
    const baseline = try support.Baseline.begin();
    const items = try gpa.alloc(f32, 2);
    var tensor = try Tensor.fromBorrowed(gpa, items, &.{2}, .{}, gpa, releaseAndUse, null);
    tensor.deinit();
    try baseline.expectSame();
}

//! The child of a fork: it may end what it inherited, and nothing is called back there.

const std = @import("std");
const hurray = @import("hurray");
const support = @import("support.zig");

const gpa = support.gpa;
const expectEqual = std.testing.expectEqual;

const Witness = struct {
    released: u32 = 0,

    fn release(self: *Witness, _: []f32) void {
        self.released += 1;
    }

    fn releaseOwner(self: *Witness) void {
        self.released += 1;
    }
};

/// Runs a function in a child and expects that it returned true.
fn inChild(comptime body: anytype, arguments: anytype) !void {
    try support.expectGood(try support.spawn(body, arguments));
}

fn endAll(tensors: []hurray.Tensor, context: *hurray.TensorContext, queue: *hurray.ReleaseQueue, witness: *const Witness) !bool {
    tensors[0].deinit();
    tensors[1].deinitDeferred();
    try tensors[2].end(null);
    context.deinit();
    _ = try hurray.drainReleases(null);
    _ = try queue.drain(100, null);
    queue.deinit();
    return witness.released == 0;
}

test "the child of a fork ends what it inherited, and runs no callback of its parent" {
    const baseline = try support.Baseline.begin();
    var witness: Witness = .{};
    var memory = [_]f32{ 1, 2, 3 };
    var queue = try hurray.ReleaseQueue.init(null);
    var tensors: [5]hurray.Tensor = undefined;
    for (&tensors) |*tensor| tensor.* = try .fromBorrowed(gpa, @as([]f32, &memory), &.{3}, .{ .release_queue = &queue }, &witness, Witness.release, null);
    var context = try hurray.TensorContext.initOwner(gpa, "", &witness, Witness.releaseOwner, null);
    // One release waits already.
    tensors[4].deinitDeferred();

    try inChild(endAll, .{ tensors[0..4], &context, &queue, &witness });
    try expectEqual(0, witness.released);
    try expectEqual(1, try queue.pending(null));

    for (&tensors) |*tensor| tensor.deinit();
    context.deinit();
    queue.deinit();
    try expectEqual(6, witness.released);
    try baseline.expectSame();
}

fn lendAnew(memory: []f32) !bool {
    var witness: Witness = .{};
    // What the child lends is released there, at once or through its own queue.
    var first = try hurray.Tensor.fromBorrowed(std.heap.page_allocator, memory, &.{3}, .{}, &witness, Witness.release, null);
    first.deinit();
    var second = try hurray.Tensor.fromBorrowed(std.heap.page_allocator, memory, &.{3}, .{}, &witness, Witness.release, null);
    second.deinitDeferred();
    if (witness.released != 1 or try hurray.pendingReleases(null) != 1) return false;
    return try hurray.drainReleases(null) == 1 and witness.released == 2;
}

test "the child of a fork releases what it lent itself" {
    var memory = [_]f32{ 1, 2, 3 };
    _ = try hurray.drainReleases(null);
    try inChild(lendAnew, .{@as([]f32, &memory)});
    try expectEqual(0, try hurray.pendingReleases(null));
}

//! A program that ends, in the way that its argument names, while its memory is lent, while releases wait, and while a
//! thread holds a share. It says so when anything calls back.

const std = @import("std");
const hurray = @import("hurray");

const gpa = std.heap.page_allocator;
var memory: [8]f32 = @splat(1);

fn say(text: []const u8) void {
    std.debug.assert(std.c.write(1, text.ptr, text.len) == text.len);
}

fn given(_: *[8]f32, _: []f32) void {
    say("memory released\n");
}

fn ended(_: *[8]f32) void {
    say("owner released\n");
}

fn lend(queue: ?*const hurray.ReleaseQueue) !hurray.Tensor {
    return hurray.Tensor.fromBorrowed(gpa, @as([]f32, &memory), &.{8}, .{ .release_queue = queue }, &memory, given, null);
}

var holding: std.atomic.Value(bool) = .init(false);

fn hold(share: hurray.Tensor) void {
    var mine = share;
    _ = mine.view(null) catch unreachable;
    holding.store(true, .release);
    while (true) std.Thread.yield() catch {};
}

fn atExit() callconv(.c) void {
    say("exit handlers run\n");
}

extern "c" fn atexit(handler: *const fn () callconv(.c) void) c_int;

pub fn main(init: std.process.Init) !void {
    const arguments = try init.minimal.args.toSlice(init.arena.allocator());
    std.debug.assert(arguments.len == 2);
    const way = arguments[1];
    std.debug.assert(atexit(atExit) == 0);

    // Memory that was lent, memory of the library, and what was made of both.
    var lent = try lend(null);
    var exported = try lent.exportPair(null);
    var own = try hurray.Tensor.allocate(.float32, &.{8}, 0, null);
    _ = try own.pin(null);
    const encoded = try lent.encodeDescriptor(gpa, null);
    _ = try hurray.TensorContext.initOwner(gpa, encoded, &memory, ended, null);
    _ = try hurray.Tensor.import(&exported.list, &exported.context, null);
    // Releases that wait: on a queue of the program's, on the default queue in place of one that was ended, and on the
    // package's.
    var queue = try hurray.ReleaseQueue.init(null);
    var waiting = try lend(&queue);
    waiting.deinitDeferred();
    var closed = try hurray.ReleaseQueue.init(null);
    var late = try lend(&closed);
    closed.deinit();
    late.deinitDeferred();
    var last = try lend(null);
    var context = try hurray.TensorContext.initOwner(gpa, encoded, &memory, ended, null);
    context.deinitDeferred();
    last.deinitDeferred();
    std.debug.assert(try queue.pending(null) == 1);
    if (!std.mem.eql(u8, way, "drain")) {
        // Memory of the library needs no callback: it may be ended on any thread, at any time.
        own.deinitDeferred();
        const holder = try std.Thread.spawn(.{}, hold, .{try lent.share(null)});
        holder.detach();
        while (!holding.load(.acquire)) try std.Thread.yield();
    }

    say("ready\n");
    if (std.mem.eql(u8, way, "return")) return;
    if (std.mem.eql(u8, way, "exit")) std.process.exit(0);
    if (std.mem.eql(u8, way, "quick")) std.c._exit(0);
    // What would be said if somebody called back.
    std.debug.assert(std.mem.eql(u8, way, "drain"));
    _ = try hurray.drainReleases(null);
    _ = try queue.drain(1, null);
}

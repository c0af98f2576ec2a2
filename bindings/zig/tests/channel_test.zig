//! Channels between processes.

const std = @import("std");
const hurray = @import("hurray");
const support = @import("support.zig");

const gpa = support.gpa;
const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;
const Channel = hurray.TensorChannel;

/// Long enough for a machine with much to do; what is expected to time out waits for far less.
const patience: std.Io.Duration = .fromSeconds(60);
const moment: std.Io.Duration = .fromMilliseconds(2);

/// Both ends in this process. Each owns its socket.
const Pair = struct {
    near: Channel,
    far: Channel,

    fn init(options: Channel.Options, far_options: Channel.Options) !Pair {
        const ends = try support.socketPair();
        var near_options = options;
        near_options.fd = .close;
        var other_options = far_options;
        other_options.fd = .close;
        var near = try Channel.fromFd(ends[0], near_options, null);
        errdefer near.deinit();
        return .{ .near = near, .far = try Channel.fromFd(ends[1], other_options, null) };
    }

    fn deinit(self: *Pair) void {
        self.near.deinit();
        self.far.deinit();
    }
};

fn sharedFloats(comptime count: usize) !hurray.Tensor {
    var tensor = try hurray.Tensor.allocateShared(.float32, &.{count}, 0, null);
    errdefer tensor.deinit();
    for (try (try tensor.view(null)).sliceMutable(f32, null), 0..) |*value, i| value.* = @floatFromInt(i);
    return tensor;
}

/// A file of one tensor, `count` floats, and that tensor over the mapped file.
fn fileTensor(tmp: *const std.testing.TmpDir, comptime count: usize) !hurray.Tensor {
    const path = try support.pathIn(tmp, "model.safetensors");
    defer gpa.free(path);
    var values: [count]f32 = undefined;
    for (&values, 0..) |*value, i| value.* = @floatFromInt(i);
    {
        var written = try hurray.Tensor.fromStatic(@as([]const f32, &values), &.{count}, .{}, null);
        defer written.deinit();
        var writer = try hurray.TensorFileWriter.create(path, .safetensors, null);
        defer writer.deinit();
        try writer.add("t", &written, null);
        try writer.finish(null);
    }
    var file = try hurray.TensorFile.open(path, .{}, null);
    defer file.deinit();
    return file.tensorByName("t", null);
}

/// Whether the next tensor has `count` floats that count up.
fn receivesFloats(channel: *Channel, count: usize) !bool {
    var tensor = try channel.receive(patience, null) orelse return false;
    defer tensor.deinit();
    const view = try tensor.view(null);
    const values = try view.slice(f32, null);
    for (values, 0..) |value, i| if (value != @as(f32, @floatFromInt(i))) return false;
    return values.len == count and view.isReadOnly();
}

fn waitForReleases(channel: *Channel) !void {
    for (0..60_000) |_| {
        try channel.process(null);
        if ((try channel.info(null)).outstanding == 0) return;
        try std.Io.sleep(support.io, .fromMilliseconds(1), .awake);
    }
    return error.TestUnexpectedResult;
}

/// The other process of the next test: receives everything, then answers.
fn receiveAll(ends: [2]std.posix.fd_t) !bool {
    _ = std.c.close(ends[0]);
    var channel = try Channel.fromFd(ends[1], .{ .fd = .close }, null);
    defer channel.deinit();
    for ([_]usize{ 5000, 3000, 7 }) |count| if (!try receivesFloats(&channel, count)) return false;
    var scalar = (try channel.receive(patience, null)).?;
    defer scalar.deinit();
    try expectEqual(0, try (try (try scalar.view(null)).strided(i64, null)).at(&.{}, null));
    var nothing = (try channel.receive(patience, null)).?;
    defer nothing.deinit();
    try expectEqual(0, (try nothing.view(null)).elementCount());
    var bools = (try channel.receive(patience, null)).?;
    defer bools.deinit();
    try std.testing.expectEqualSlices(u8, &.{0b101}, try (try bools.view(null)).bytes(null));
    // The end, again and again.
    for (0..2) |_| if (try channel.receive(patience, null) != null) return false;
    const info = try channel.info(null);
    try expectEqual(6, info.received);
    // Not the one without bytes: there is nothing to give back of it.
    try expectEqual(2, info.held);
    if (!info.peer_finished or info.peer_gone) return false;
    // What was received is sent on as it is, not copied.
    try channel.send(&bools, null);
    const sent = try channel.info(null);
    try expectEqual(1, sent.passed_bytes);
    try expectEqual(0, sent.copied_bytes);
    try channel.finish(null);
    // Ended by the parent first.
    return try channel.receive(patience, null) == null;
}

test "tensors pass to another process: shared memory and mapped files are not copied, and releases come back" {
    const baseline = try support.Baseline.begin();
    var tmp = std.testing.tmpDir(.{});
    defer tmp.cleanup();
    const ends = try support.socketPair();
    const child = try support.spawn(receiveAll, .{ends});
    _ = std.c.close(ends[1]);
    var channel = try Channel.fromFd(ends[0], .{ .fd = .close }, null);
    defer channel.deinit();

    var shared = try sharedFloats(5000);
    defer shared.deinit();
    try channel.send(&shared, null);
    var mapped = try fileTensor(&tmp, 3000);
    defer mapped.deinit();
    try channel.send(&mapped, null);
    try expectEqual(0, (try channel.info(null)).copied_bytes);
    // Of the file that is the tensor's whole buffer, what lies before the elements included.
    try expectEqual(4 * 5000 + (try mapped.bufferInfo(0, null)).byte_size, (try channel.info(null)).passed_bytes);
    // The library holds what is out; ours may go.
    shared.deinit();
    mapped.deinit();

    const heap: []const f32 = &.{ 0, 1, 2, 3, 4, 5, 6 };
    var copied = try hurray.Tensor.fromStatic(heap, &.{7}, .{}, null);
    defer copied.deinit();
    try channel.send(&copied, null);
    try expectEqual(4 * 7, (try channel.info(null)).copied_bytes);
    var scalar = try hurray.Tensor.allocateShared(.int64, &.{}, 0, null);
    defer scalar.deinit();
    try channel.send(&scalar, null);
    var nothing = try hurray.Tensor.allocateShared(.float64, &.{ 3, 0 }, 0, null);
    defer nothing.deinit();
    try channel.send(&nothing, null);
    var bools = try hurray.Tensor.allocateShared(.bool, &.{3}, 0, null);
    defer bools.deinit();
    (try (try bools.view(null)).bytesMutable(null))[0] = 0b101;
    try channel.send(&bools, null);
    try expectEqual(4 * 7, (try channel.info(null)).copied_bytes);
    try channel.finish(null);
    try channel.finish(null);
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", channel.send(&copied, &diagnostics), &diagnostics);

    {
        var back = (try channel.receive(patience, null)).?;
        defer back.deinit();
        try std.testing.expectEqualSlices(u8, &.{0b101}, try (try back.view(null)).bytes(null));
        try expect((try back.bufferInfo(0, null)).sealed);
        // It is the memory that was sent: nobody can write it any more, here neither.
        try expect((try bools.bufferInfo(0, null)).sealed);
    }
    try expect(try channel.receive(patience, null) == null);
    try support.expectGood(child);
    try waitForReleases(&channel);
    const info = try channel.info(null);
    try expectEqual(6, info.sent);
    try expectEqual(1, info.received);
    try expectEqual(0, info.held);
    for ([_]*hurray.Tensor{ &copied, &scalar, &nothing, &bools }) |tensor| tensor.deinit();
    channel.deinit();
    try baseline.expectSame();
}

fn connectAndSend(path: []const u8) !bool {
    var channel = try Channel.connect(path, .{}, patience, null);
    defer channel.deinit();
    var tensor = try sharedFloats(100);
    defer tensor.deinit();
    try channel.send(&tensor, null);
    try channel.finish(null);
    // Until the other end has ended it.
    try waitForReleases(&channel);
    return try channel.receive(patience, null) == null;
}

test "two processes find each other at a path; the socket file is for its user alone, and goes with the listener" {
    const baseline = try support.Baseline.begin();
    var tmp = std.testing.tmpDir(.{});
    defer tmp.cleanup();
    const path = try support.pathIn(&tmp, "socket");
    defer gpa.free(path);
    var diagnostics: hurray.Diagnostics = .{};
    try support.expectFailure(error.HurrayTimedOut, .timed_out, "", Channel.connect(path, .{}, moment, &diagnostics), &diagnostics);
    // The one who connects may be there first.
    const child = try support.spawn(connectAndSend, .{@as([]const u8, path)});
    var listener = try hurray.TensorChannelListener.listen(path, .{}, null);
    defer listener.deinit();
    const stat = try tmp.dir.statFile(support.io, "socket", .{});
    try expectEqual(0o600, stat.permissions.toMode() & 0o777);
    var channel = try listener.accept(patience, null);
    defer channel.deinit();
    try support.expectFailure(error.HurrayTimedOut, .timed_out, "", listener.accept(moment, &diagnostics), &diagnostics);
    listener.deinit();
    try std.testing.expectError(error.FileNotFound, tmp.dir.statFile(support.io, "socket", .{}));
    try support.expectFailure(error.HurrayClosed, .invalid_handle, "ended before", listener.accept(.zero, &diagnostics), &diagnostics);
    try expectEqual(child, (try channel.info(null)).peer_pid);
    try expect(try receivesFloats(&channel, 100));
    try expect(try channel.receive(patience, null) == null);
    channel.deinit();
    try support.expectGood(child);
    try baseline.expectSame();
}

fn holdForEver(ends: [2]std.posix.fd_t) !bool {
    _ = std.c.close(ends[0]);
    var channel = try Channel.fromFd(ends[1], .{ .fd = .close }, null);
    var held = (try channel.receive(patience, null)).?;
    try channel.send(&held, null);
    // Until it is killed.
    while (true) try std.Io.sleep(support.io, .fromSeconds(100), .awake);
}

test "the death of the peer is told, what was out comes back at once, and what it sent stays" {
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};
    const ends = try support.socketPair();
    const child = try support.spawn(holdForEver, .{ends});
    _ = std.c.close(ends[1]);
    var channel = try Channel.fromFd(ends[0], .{ .fd = .close }, null);
    defer channel.deinit();
    var tensor = try sharedFloats(2000);
    defer tensor.deinit();
    try channel.send(&tensor, null);
    var back = (try channel.receive(patience, null)).?;
    defer back.deinit();
    try expectEqual(1, (try channel.info(null)).outstanding);
    try expectEqual(0, std.c.kill(child, .KILL));
    var status: c_int = undefined;
    try expectEqual(child, std.c.waitpid(child, &status, 0));
    try support.expectFailure(error.HurrayDisconnected, .disconnected, "", channel.receive(patience, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayDisconnected, .disconnected, "", channel.process(&diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayDisconnected, .disconnected, "", channel.send(&tensor, &diagnostics), &diagnostics);
    const info = try channel.info(null);
    try expect(info.peer_gone);
    try expectEqual(0, info.outstanding);
    try expectEqual(1999, (try (try back.view(null)).slice(f32, null))[1999]);
    back.deinit();
    tensor.deinit();
    channel.deinit();
    try baseline.expectSame();
}

test "tensors outlive the channel that they came through; what is out at the end comes back" {
    const baseline = try support.Baseline.begin();
    var pair = try Pair.init(.{}, .{});
    defer pair.deinit();
    var tensor = try sharedFloats(50);
    defer tensor.deinit();
    try pair.near.send(&tensor, null);
    var received = (try pair.far.receive(patience, null)).?;
    defer received.deinit();
    pair.far.deinit();
    pair.near.deinit();
    tensor.deinit();
    try expectEqual(49, (try (try received.view(null)).slice(f32, null))[49]);
    // On another thread, as any object that has moved.
    const thread = try std.Thread.spawn(.{}, hurray.Tensor.deinit, .{&received});
    thread.join();
    try baseline.expectSame();
}

test "a channel after its end is a typed error, and a second end a no-op" {
    var diagnostics: hurray.Diagnostics = .{};
    var pair = try Pair.init(.{}, .{});
    defer pair.deinit();
    var copy = pair.near;
    try pair.near.end(null);
    pair.near.deinit();
    pair.near.deinitDeferred();
    var tensor = try hurray.Tensor.allocate(.uint8, &.{1}, 0, null);
    defer tensor.deinit();
    try support.expectFailure(error.HurrayClosed, .invalid_handle, "the channel was ended", pair.near.send(&tensor, &diagnostics), &diagnostics);
    try std.testing.expectError(error.HurrayClosed, pair.near.receive(null, null));
    try std.testing.expectError(error.HurrayClosed, pair.near.process(null));
    try std.testing.expectError(error.HurrayClosed, pair.near.finish(null));
    try std.testing.expectError(error.HurrayClosed, pair.near.info(null));
    try std.testing.expectError(error.HurrayClosed, pair.near.fd(null));
    try std.testing.expectError(error.HurrayClosed, pair.near.end(null));
    if (std.debug.runtime_safety) try std.testing.expectError(error.HurrayClosed, copy.receive(null, null));
    // The other end is told as if it had finished, but sends fail.
    try expect(try pair.far.receive(patience, null) == null);
    try support.expectFailure(error.HurrayDisconnected, .disconnected, "", pair.far.send(&tensor, &diagnostics), &diagnostics);
    var ended = try hurray.Tensor.allocate(.uint8, &.{1}, 0, null);
    ended.deinit();
    try std.testing.expectError(error.HurrayClosed, pair.far.send(&ended, null));
    pair.far.deinitDeferred();
}

test "timeouts: of no time, of parts of a millisecond, and longer than the library can count" {
    var diagnostics: hurray.Diagnostics = .{};
    var pair = try Pair.init(.{}, .{});
    defer pair.deinit();
    for ([_]std.Io.Duration{ .zero, .fromSeconds(-1), .fromNanoseconds(1), moment }) |timeout| {
        try support.expectFailure(error.HurrayTimedOut, .timed_out, "", pair.far.receive(timeout, &diagnostics), &diagnostics);
    }
    const started: std.Io.Timestamp = .now(support.io, .awake);
    try std.testing.expectError(error.HurrayTimedOut, pair.far.receive(.fromMilliseconds(30), null));
    try expect(started.untilNow(support.io, .awake).nanoseconds >= 30 * std.time.ns_per_ms);
    var tensor = try sharedFloats(8);
    defer tensor.deinit();
    for ([_]?std.Io.Duration{ .max, null }) |timeout| {
        try pair.near.send(&tensor, null);
        var received = (try pair.far.receive(timeout, null)).?;
        received.deinit();
    }
}

test "the descriptor of the socket says when something has come" {
    var pair = try Pair.init(.{}, .{});
    defer pair.deinit();
    // The first packet of the other end is none that anybody waits for.
    try std.testing.expectError(error.HurrayTimedOut, pair.far.receive(.zero, null));
    var watched = [_]std.posix.pollfd{.{ .fd = try pair.far.fd(null), .events = std.posix.POLL.IN, .revents = 0 }};
    try expectEqual(0, try std.posix.poll(&watched, 0));
    var tensor = try sharedFloats(8);
    defer tensor.deinit();
    try pair.near.send(&tensor, null);
    try expectEqual(1, try std.posix.poll(&watched, 10_000));
    try expect(try receivesFloats(&pair.far, 8));
}

test "limits: a tensor that is too large is refused, and the next one comes; sends wait for no more than they are told" {
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};
    var pair = try Pair.init(.{ .max_outstanding = 2, .send_timeout = moment }, .{ .max_tensor_bytes = 1000, .max_alignment = 4096 });
    defer pair.deinit();
    var large = try sharedFloats(251);
    defer large.deinit();
    var good = try sharedFloats(250);
    defer good.deinit();
    try pair.near.send(&large, null);
    try pair.near.send(&good, null);
    // Neither was received yet.
    try support.expectFailure(error.HurrayLimitExceeded, .limit_exceeded, "", pair.near.send(&good, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayLimitExceeded, .limit_exceeded, "", pair.far.receive(patience, &diagnostics), &diagnostics);
    try expect(try receivesFloats(&pair.far, 250));
    var aligned = try hurray.Tensor.allocateShared(.uint8, &.{5}, 8192, null);
    defer aligned.deinit();
    try pair.near.send(&aligned, null);
    try support.expectFailure(error.HurrayLimitExceeded, .limit_exceeded, "", pair.far.receive(patience, &diagnostics), &diagnostics);
    var short = try Pair.init(.{}, .{ .max_descriptor_length = 40 });
    defer short.deinit();
    try short.near.send(&good, null);
    try support.expectFailure(error.HurrayLimitExceeded, .limit_exceeded, "", short.far.receive(patience, &diagnostics), &diagnostics);
    for ([_]*hurray.Tensor{ &large, &good, &aligned }) |tensor| tensor.deinit();
    pair.deinit();
    short.deinit();
    try baseline.expectSame();
}

test "files: passed, copied where the sender wants that, and refused where the receiver wants sealed memory" {
    const baseline = try support.Baseline.begin();
    var tmp = std.testing.tmpDir(.{});
    defer tmp.cleanup();
    var diagnostics: hurray.Diagnostics = .{};
    var tensor = try fileTensor(&tmp, 20);
    defer tensor.deinit();
    {
        var pair = try Pair.init(.{}, .{ .sealed_only = true });
        defer pair.deinit();
        try pair.near.send(&tensor, null);
        try expectEqual(0, (try pair.near.info(null)).copied_bytes);
        try support.expectFailure(error.HurrayUnsupported, .unsupported, "sealed", pair.far.receive(patience, &diagnostics), &diagnostics);
    }
    {
        var pair = try Pair.init(.{ .copy_files = true }, .{ .sealed_only = true });
        defer pair.deinit();
        try pair.near.send(&tensor, null);
        try expectEqual(80, (try pair.near.info(null)).copied_bytes);
        try expect(try receivesFloats(&pair.far, 20));
    }
    tensor.deinit();
    try baseline.expectSame();
}

test "shared memory is read-only once it was sent, and copied where others have it" {
    var pair = try Pair.init(.{}, .{});
    defer pair.deinit();
    var diagnostics: hurray.Diagnostics = .{};
    var tensor = try sharedFloats(16);
    defer tensor.deinit();
    try expect((try tensor.bufferInfo(0, null)).shared);
    try expect(!(try tensor.bufferInfo(0, null)).sealed);
    {
        var other = try tensor.share(null);
        defer other.deinit();
        try pair.near.send(&tensor, null);
        try expectEqual(64, (try pair.near.info(null)).copied_bytes);
        (try (try other.view(null)).sliceMutable(f32, null))[0] = 0;
    }
    try pair.near.send(&tensor, null);
    try expectEqual(64, (try pair.near.info(null)).passed_bytes);
    try expect((try tensor.bufferInfo(0, null)).sealed);
    try support.expectFailure(error.HurrayReadOnly, .invalid_argument, "", (try tensor.view(null)).sliceMutable(f32, &diagnostics), &diagnostics);
    for (0..2) |_| try expect(try receivesFloats(&pair.far, 16));
}

fn useInherited(pair: *Pair, tensor: *const hurray.Tensor) !bool {
    const refused = std.meta.isError(pair.near.process(null)) and
        pair.near.send(tensor, null) == error.HurrayForked and
        pair.far.receive(.zero, null) == error.HurrayForked and
        std.meta.isError(pair.near.info(null));
    pair.deinit();
    return refused;
}

test "the child of a fork has no channel, and its end of one disturbs nobody" {
    var pair = try Pair.init(.{}, .{});
    defer pair.deinit();
    var tensor = try hurray.Tensor.allocate(.float32, &.{1}, 0, null);
    defer tensor.deinit();
    try support.expectGood(try support.spawn(useInherited, .{ &pair, &tensor }));
    try pair.near.send(&tensor, null);
    try expect(try receivesFloats(&pair.far, 1));
}

test "a peer that talks nonsense ends the channel with a typed error, again and again" {
    const baseline = try support.Baseline.begin();
    var diagnostics: hurray.Diagnostics = .{};
    const hello = "HRCH\x01\x00\x00\x00\x18\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00";
    for ([_][]const []const u8{
        &.{"nonsense"},
        &.{"HRCH"},
        &.{hello[0..23]},
        &.{ hello, hello },
        &.{ hello, "HRCH\x09\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00" },
        // Gives back what was never sent.
        &.{ hello, "HRCH\x04\x00\x00\x00\x18\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00" },
        // A tensor of which the half is missing.
        &.{ hello, "HRCH\x02\x00\x00\x00\x18\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00" },
    }) |packets| {
        const ends = try support.socketPair();
        defer _ = std.c.close(ends[1]);
        var channel = try Channel.fromFd(ends[0], .{ .fd = .close }, null);
        defer channel.deinit();
        for (packets) |packet| try expectEqual(@as(isize, @intCast(packet.len)), std.c.write(ends[1], packet.ptr, packet.len));
        for (0..2) |_| {
            try expect(std.meta.isError(channel.receive(patience, &diagnostics)));
            try expect(diagnostics.code() != .timed_out and diagnostics.code() != .disconnected);
            try expect(diagnostics.message().len > 0);
        }
        try expect((try channel.info(null)).peer_gone);
    }
    try baseline.expectSame();
}

test "wrong arguments of channels are typed errors" {
    var diagnostics: hurray.Diagnostics = .{};
    var tmp = std.testing.tmpDir(.{});
    defer tmp.cleanup();
    const Listener = hurray.TensorChannelListener;
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "NUL", Listener.listen("a\x00b", .{}, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "NUL", Channel.connect("a\x00b", .{}, .zero, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", Listener.listen("a" ** 108, .{}, &diagnostics), &diagnostics);
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", Channel.fromFd(-1, .{}, &diagnostics), &diagnostics);
    // Something that is no socket is in the way, and stays there.
    try tmp.dir.writeFile(support.io, .{ .sub_path = "file", .data = "x" });
    const path = try support.pathIn(&tmp, "file");
    defer gpa.free(path);
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", Listener.listen(path, .{}, &diagnostics), &diagnostics);
    _ = try tmp.dir.statFile(support.io, "file", .{});
    // A pipe is no socket; on failure it stays the caller's.
    var ends: [2]std.posix.fd_t = undefined;
    try expectEqual(0, std.c.pipe(&ends));
    defer for (ends) |end| {
        _ = std.c.close(end);
    };
    try support.expectFailure(error.HurrayInvalidArgument, .invalid_argument, "", Channel.fromFd(ends[0], .{ .fd = .close }, &diagnostics), &diagnostics);
    try expect(std.c.fcntl(ends[0], std.c.F.GETFD) != -1);
    try support.expectFailure(error.HurrayInvalidLayout, .invalid_layout, "", hurray.Buffer.allocateShared(1, 3, &diagnostics), &diagnostics);
}

//! What the tests share.

const std = @import("std");
const hurray = @import("hurray");

pub const gpa = std.testing.allocator;
pub const io = std.testing.io;

/// Every Zig type that stands for elements of whole bytes.
pub const element_types = .{
    f16,  hurray.BFloat16,   f32,               f64,               i8,               u8,                i16, u16, i32, u32, i64, u64,
    f128, hurray.Float8E4M3, hurray.Float8E5M2, hurray.Float8E8M0, hurray.Complex64, hurray.Complex128,
};

/// Checks at its end that no handle is left that was not there at its beginning.
pub const Baseline = struct {
    before: hurray.LiveHandles,

    pub fn begin() !Baseline {
        return .{ .before = try hurray.liveHandles(.any, null) };
    }

    pub fn expectSame(self: Baseline) !void {
        const after = try hurray.liveHandles(.any, null);
        try std.testing.expectEqual(self.before.handles, after.handles);
        try std.testing.expectEqual(self.before.bytes, after.bytes);
    }
};

/// Expects an error, its code in the report, and a text in its message.
pub fn expectFailure(
    expected: hurray.Error,
    code: hurray.Status,
    text: []const u8,
    result: anytype,
    diagnostics: *const hurray.Diagnostics,
) !void {
    try std.testing.expectError(expected, result);
    try std.testing.expectEqual(code, diagnostics.code());
    if (std.mem.indexOf(u8, diagnostics.message(), text) == null) {
        std.debug.print("expected \"{s}\" in \"{s}\"\n", .{ text, diagnostics.message() });
        return error.TestUnexpectedResult;
    }
}

/// Bytes that look random and are the same every time.
pub fn fillPattern(bytes: []u8, seed: u64) void {
    var random: std.Random.DefaultPrng = .init(seed);
    random.random().bytes(bytes);
}

/// Strides of a row-major or column-major shape.
pub fn stridesOf(layout: hurray.Layout, shape: []const u64, out: []i64) []const i64 {
    var step: i64 = 1;
    for (0..shape.len) |i| {
        const k = if (layout == .col_major) i else shape.len - 1 - i;
        out[k] = step;
        step *= @intCast(shape[k]);
    }
    return out[0..shape.len];
}

/// The next index in row-major order; false after the last.
pub fn advance(index: []u64, shape: []const u64) bool {
    var k = shape.len;
    while (k > 0) {
        k -= 1;
        index[k] += 1;
        if (index[k] < shape[k]) return true;
        index[k] = 0;
    }
    return false;
}

/// Offset of an element in elements, computed from nothing but index and strides.
pub fn offsetOf(index: []const u64, strides: []const i64) i64 {
    var offset: i64 = 0;
    for (index, strides) |i, stride| offset += @as(i64, @intCast(i)) * stride;
    return offset;
}

/// A file name in a temporary folder.
pub fn pathIn(tmp: *const std.testing.TmpDir, name: []const u8) ![:0]u8 {
    return std.fmt.allocPrintSentinel(gpa, ".zig-cache/tmp/{s}/{s}", .{ tmp.sub_path, name }, 0);
}

/// Runs a function in a child of this process; it returns whether all was as it should be.
pub fn spawn(comptime body: anytype, arguments: anytype) !std.c.pid_t {
    const child = std.c.fork();
    if (child == 0) {
        const ok = @call(.auto, body, arguments) catch |err| {
            std.debug.print("in the child: {s}\n", .{@errorName(err)});
            std.c._exit(2);
        };
        std.c._exit(if (ok) 0 else 1);
    }
    try std.testing.expect(child > 0);
    return child;
}

/// Waits for a child, and expects that its function returned true.
pub fn expectGood(child: std.c.pid_t) !void {
    var status: c_int = undefined;
    try std.testing.expectEqual(child, std.c.waitpid(child, &status, 0));
    try std.testing.expectEqual(0, status);
}

/// Two ends of a connected socket, as channels are made of.
pub fn socketPair() ![2]std.posix.fd_t {
    var ends: [2]std.posix.fd_t = undefined;
    const kind = std.posix.SOCK.SEQPACKET | std.posix.SOCK.CLOEXEC;
    try std.testing.expectEqual(0, std.c.socketpair(std.posix.AF.UNIX, kind, 0, &ends));
    return ends;
}

/// A composite of shape 2 x 3: the sum of two tensors that both have the same six values.
pub fn sumOfTwo(values: []const f32, diagnostics: *hurray.Diagnostics) !hurray.Composite {
    var head_builder = try hurray.DescriptorBuilder.init(.float32, .composite, &.{ 2, 3 }, diagnostics);
    defer head_builder.deinit();
    try head_builder.setLayoutFields(.{ .composite = .{ .rule = .overlay, .combine_op = .add, .member_count = 2 } }, diagnostics);
    var head = try head_builder.build(diagnostics);
    defer head.deinit();
    var builder = try hurray.Composite.Builder.init(&head, diagnostics);
    defer builder.deinit();
    for ([_]hurray.MemberRole{ .base, .correction }) |role| {
        var member = try hurray.DescriptorBuilder.init(.float32, .row_major, &.{ 2, 3 }, diagnostics);
        defer member.deinit();
        try member.setMemberRole(role, diagnostics);
        try member.setShard(&.{ 2, 3 }, &.{ 0, 0 }, diagnostics);
        var lent = try hurray.Buffer.fromOwned(gpa, try gpa.dupe(f32, values), diagnostics);
        defer lent.buffer.deinit();
        try member.addBuffer(try lent.buffer.entry(diagnostics), diagnostics);
        try member.setByteOffset(lent.byte_offset, diagnostics);
        var described = try member.build(diagnostics);
        defer described.deinit();
        var list = try hurray.BufferList.init(diagnostics);
        defer list.deinit();
        try list.push(&lent.buffer, diagnostics);
        var tensor = try hurray.Tensor.fromParts(&described, &list, diagnostics);
        defer tensor.deinit();
        // Not complete before the last.
        try std.testing.expectError(error.HurrayInvalidComposite, builder.build(null));
        try builder.addTensor(&tensor, diagnostics);
    }
    return builder.build(diagnostics);
}

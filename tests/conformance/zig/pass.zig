//! Tensors of any kind from files, streams and channels to files, streams and channels, many times in one process.

const std = @import("std");
const hurray = @import("hurray");
const names_ = @import("names.zig");
const exchanged = @import("relay.zig").exchanged;
const transport_ = @import("transport.zig");

/// Reads pairs of ends from standard input, a tab between them; one JSON line each.
pub fn run(io: std.Io, gpa: std.mem.Allocator, names_path: []const u8, diagnostics: *hurray.Diagnostics) !void {
    var names = try names_.read(io, gpa, names_path);
    defer names.deinit();
    const before = (try hurray.liveHandles(.any, diagnostics)).handles;
    var in_buffer: [4096]u8 = undefined;
    var in = std.Io.File.stdin().reader(io, &in_buffer);
    var out_buffer: [256]u8 = undefined;
    var out = std.Io.File.stdout().writer(io, &out_buffer);
    while (try in.interface.takeDelimiter('\n')) |line| {
        const tab = std.mem.indexOfScalar(u8, line, '\t') orelse return unknown(line);
        var pass: Pass = .{ .io = io, .names = names.items, .diagnostics = diagnostics };
        try pass.start(line[0..tab], line[tab + 1 ..]);
        const after = (try hurray.liveHandles(.any, diagnostics)).handles;
        try out.interface.print("{{\"tensors\":{d},\"live_handles\":{d}}}\n", .{ pass.count, @as(i64, @intCast(after)) - @as(i64, @intCast(before)) });
        try out.interface.flush();
    }
}

fn unknown(end: []const u8) error{Explained} {
    std.debug.print("driver: no such end: {s}\n", .{end});
    return error.Explained;
}

/// What an end is after `kind` and the colon, or null when it is another kind.
fn whereOf(end: []const u8, kind: []const u8) ?[]const u8 {
    if (!std.mem.startsWith(u8, end, kind) or end.len <= kind.len or end[kind.len] != ':') return null;
    return end[kind.len + 1 ..];
}

/// One pair of ends on its way.
const Pass = struct {
    io: std.Io,
    names: []const []const u8,
    diagnostics: *hurray.Diagnostics,
    count: usize = 0,

    fn start(self: *Pass, from: []const u8, to: []const u8) !void {
        if (whereOf(to, "hrry")) |path| {
            var writer: hurray.TensorFileWriter = try .create(path, .hrry, self.diagnostics);
            defer writer.deinit();
            try self.readAll(from, .{ .file = &writer });
            return writer.finish(self.diagnostics);
        }
        if (whereOf(to, "stream")) |path| {
            const file = try std.Io.Dir.cwd().createFile(self.io, path, .{});
            defer file.close(self.io);
            var writer: hurray.TensorStreamWriter = try .toFd(file.handle, .borrow, self.diagnostics);
            defer writer.deinit();
            return self.readAll(from, .{ .stream = &writer });
        }
        if (whereOf(to, "channel")) |fd| {
            var output: transport_.Output = try .open(.{ .channel_out = try std.fmt.parseInt(u31, fd, 10) }, self.diagnostics);
            defer output.close();
            try self.readAll(from, .{ .channel = &output });
            return output.finish(self.diagnostics);
        }
        return unknown(to);
    }

    /// What takes tensors.
    const Target = union(enum) {
        file: *hurray.TensorFileWriter,
        stream: *hurray.TensorStreamWriter,
        channel: *transport_.Output,
    };

    fn readAll(self: *Pass, from: []const u8, target: Target) !void {
        if (whereOf(from, "hrry")) |path| {
            var file: hurray.TensorFile = try .open(path, .{}, self.diagnostics);
            defer file.deinit();
            const count = (try file.info(self.diagnostics)).tensor_count;
            for (0..count) |i| {
                var arrived = try file.tensor(i, self.diagnostics);
                defer arrived.deinit();
                try self.put((try file.tensorInfo(i, self.diagnostics)).name, &arrived, target);
            }
            return;
        }
        if (whereOf(from, "stream")) |path| {
            const file = try std.Io.Dir.cwd().openFile(self.io, path, .{});
            defer file.close(self.io);
            var reader: hurray.TensorStreamReader = try .fromFd(file.handle, .{}, self.diagnostics);
            defer reader.deinit();
            return self.readEach(&reader, target);
        }
        if (whereOf(from, "channel")) |fd| {
            var input: transport_.Input = try .open(.{ .channel_in = try std.fmt.parseInt(u31, fd, 10) }, self.diagnostics);
            defer input.close();
            return self.readEach(&input, target);
        }
        return unknown(from);
    }

    fn readEach(self: *Pass, source: anytype, target: Target) !void {
        while (try source.next(self.diagnostics)) |next| {
            var arrived = next;
            defer arrived.deinit();
            if (self.count == self.names.len) return error.MoreTensorsThanNames;
            try self.put(self.names[self.count], &arrived, target);
        }
    }

    fn put(self: *Pass, name: []const u8, arrived: *hurray.Tensor, target: Target) !void {
        var tensor = try exchanged(arrived, self.diagnostics);
        defer tensor.deinit();
        switch (target) {
            .file => |writer| try writer.add(name, &tensor, self.diagnostics),
            .stream => |writer| try writer.write(&tensor, self.diagnostics),
            .channel => |output| try output.put(&tensor, self.diagnostics),
        }
        self.count += 1;
    }
};

//! Where a stage of the relay gets its tensors from and where it hands them: a stream on standard input or output, or a channel on
//! a socket that it inherited.

const std = @import("std");
const hurray = @import("hurray");

/// Whoever is next may have to start first; nobody waits for ever.
const patience: std.Io.Duration = .fromSeconds(120);

/// The sockets of the channels; null: a stream.
pub const Transport = struct {
    channel_in: ?std.posix.fd_t = null,
    channel_out: ?std.posix.fd_t = null,

    /// Reads the options `--channel-in FD` and `--channel-out FD`, in either order.
    pub fn parse(options: []const [:0]const u8) error{Usage}!Transport {
        var transport: Transport = .{};
        if (options.len % 2 != 0) return error.Usage;
        var k: usize = 0;
        while (k < options.len) : (k += 2) {
            const fd = std.fmt.parseInt(u31, options[k + 1], 10) catch return error.Usage;
            const place = if (std.mem.eql(u8, options[k], "--channel-in"))
                &transport.channel_in
            else if (std.mem.eql(u8, options[k], "--channel-out"))
                &transport.channel_out
            else
                return error.Usage;
            if (place.* != null) return error.Usage;
            place.* = fd;
        }
        return transport;
    }
};

pub const Input = union(enum) {
    stream: hurray.TensorStreamReader,
    channel: hurray.TensorChannel,

    pub fn open(transport: Transport, diagnostics: *hurray.Diagnostics) !Input {
        if (transport.channel_in) |fd| return .{ .channel = try channelOver(fd, diagnostics) };
        return .{ .stream = try .fromFd(0, .{}, diagnostics) };
    }

    /// The next tensor; null at the end.
    pub fn next(self: *Input, diagnostics: *hurray.Diagnostics) !?hurray.Tensor {
        return switch (self.*) {
            .stream => |*reader| reader.next(diagnostics),
            .channel => |*channel| channel.receive(patience, diagnostics),
        };
    }

    /// What the channel has done; null for a stream.
    pub fn info(self: *const Input, diagnostics: *hurray.Diagnostics) !?hurray.TensorChannel.Info {
        return infoOf(self, diagnostics);
    }

    pub fn close(self: *Input) void {
        switch (self.*) {
            inline else => |*end| end.deinit(),
        }
    }
};

pub const Output = union(enum) {
    stream: hurray.TensorStreamWriter,
    channel: hurray.TensorChannel,

    pub fn open(transport: Transport, diagnostics: *hurray.Diagnostics) !Output {
        if (transport.channel_out) |fd| return .{ .channel = try channelOver(fd, diagnostics) };
        return .{ .stream = try .toFd(1, .borrow, diagnostics) };
    }

    pub fn put(self: *Output, tensor: *const hurray.Tensor, diagnostics: *hurray.Diagnostics) !void {
        return switch (self.*) {
            .stream => |*writer| writer.write(tensor, diagnostics),
            .channel => |*channel| channel.send(tensor, diagnostics),
        };
    }

    /// Says that no more come.
    pub fn finish(self: *Output, diagnostics: *hurray.Diagnostics) !void {
        switch (self.*) {
            .stream => {},
            .channel => |*channel| try channel.finish(diagnostics),
        }
    }

    /// What the channel has done; null for a stream.
    pub fn info(self: *const Output, diagnostics: *hurray.Diagnostics) !?hurray.TensorChannel.Info {
        return infoOf(self, diagnostics);
    }

    pub fn close(self: *Output) void {
        switch (self.*) {
            inline else => |*end| end.deinit(),
        }
    }
};

fn channelOver(fd: std.posix.fd_t, diagnostics: *hurray.Diagnostics) !hurray.TensorChannel {
    return hurray.TensorChannel.fromFd(fd, .{ .fd = .close, .send_timeout = patience }, diagnostics);
}

fn infoOf(end: anytype, diagnostics: *hurray.Diagnostics) !?hurray.TensorChannel.Info {
    return switch (end.*) {
        .stream => null,
        .channel => |*channel| try channel.info(diagnostics),
    };
}

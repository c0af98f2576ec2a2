//! Conformance driver of the Zig binding; see tests/conformance/README.md.

const std = @import("std");
const hurray = @import("hurray");
const about = @import("about.zig");
const golden = @import("golden.zig");
const pass = @import("pass.zig");
const relay = @import("relay.zig");
const Transport = @import("transport.zig").Transport;

const usage =
    \\usage: driver about
    \\       driver golden                 paths on standard input
    \\       driver pass NAMES             pairs of ends on standard input
    \\       driver relay NAMES REPORT [--channel-in FD] [--channel-out FD]
    \\                                     stream on standard input and output, or channels
    \\
;

pub fn main(init: std.process.Init) u8 {
    var diagnostics: hurray.Diagnostics = .{};
    run(init, &diagnostics) catch |err| switch (err) {
        error.Usage => {
            std.debug.print("{s}", .{usage});
            return 2;
        },
        // These have been explained where they happened.
        error.Explained => return 1,
        else => {
            if (diagnostics.code() != .ok) {
                std.debug.print("driver: {f}\n", .{&diagnostics});
            } else {
                std.debug.print("driver: {s}\n", .{@errorName(err)});
            }
            return 1;
        },
    };
    return 0;
}

fn run(init: std.process.Init, diagnostics: *hurray.Diagnostics) !void {
    const arguments = (try init.minimal.args.toSlice(init.arena.allocator()))[1..];
    const command = if (arguments.len == 0) "" else arguments[0];
    if (std.mem.eql(u8, command, "about") and arguments.len == 1) return about.run(init.io, diagnostics);
    if (std.mem.eql(u8, command, "golden") and arguments.len == 1) return golden.run(init.io, init.gpa, diagnostics);
    if (std.mem.eql(u8, command, "pass") and arguments.len == 2) return pass.run(init.io, init.gpa, arguments[1], diagnostics);
    if (std.mem.eql(u8, command, "relay") and arguments.len >= 3) {
        const transport: Transport = try .parse(arguments[3..]);
        return relay.run(init.io, init.gpa, arguments[1], arguments[2], transport, diagnostics);
    }
    return error.Usage;
}

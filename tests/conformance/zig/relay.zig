//! A stage of the relay: tensors from standard input or a channel to standard output or a channel, one at a time, with a report.

const std = @import("std");
const hurray = @import("hurray");
const measure = @import("measure.zig");
const names_ = @import("names.zig");
const Report = @import("report.zig").Report;
const transport_ = @import("transport.zig");

pub fn run(
    io: std.Io,
    gpa: std.mem.Allocator,
    names_path: []const u8,
    report_path: []const u8,
    transport: transport_.Transport,
    diagnostics: *hurray.Diagnostics,
) !void {
    const live_before = (try hurray.liveHandles(.any, diagnostics)).handles;
    var report: Report = undefined;
    try report.open(io, report_path);
    defer report.close();
    try passOn(io, gpa, names_path, &report, transport, diagnostics);
    const live_after = (try hurray.liveHandles(.any, diagnostics)).handles;
    try report.finish(@as(i64, @intCast(live_after)) - @as(i64, @intCast(live_before)), diagnostics);
}

fn passOn(
    io: std.Io,
    gpa: std.mem.Allocator,
    names_path: []const u8,
    report: *Report,
    transport: transport_.Transport,
    diagnostics: *hurray.Diagnostics,
) !void {
    var input: transport_.Input = try .open(transport, diagnostics);
    defer input.close();
    var output: transport_.Output = try .open(transport, diagnostics);
    defer output.close();
    var names: ?names_.Names = null;
    defer if (names) |*list| list.deinit();
    var count: usize = 0;
    while (true) : (count += 1) {
        var next = try input.next(diagnostics);
        // From here on the time is this stage's own: before, it waited for the one in front.
        const started: std.Io.Timestamp = .now(io, .awake);
        // The list is complete before the first tensor is sent, so it is read when that has arrived.
        if (names == null) names = try names_.read(io, gpa, names_path);
        const all = names.?.items;
        if (next) |*read| {
            defer read.deinit();
            if (count == all.len) return mismatch("more", all.len);
            var tensor = try exchanged(read, diagnostics);
            defer tensor.deinit();
            const view = try tensor.view(diagnostics);
            const digest = try measure.digestOf(&view, diagnostics);
            try report.add(all[count], &view, digest, started);
            try output.put(&tensor, diagnostics);
        } else {
            if (count != all.len) return mismatch("fewer", all.len);
            try output.finish(diagnostics);
            report.received = try input.info(diagnostics);
            report.sent = try output.info(diagnostics);
            return;
        }
    }
}

fn mismatch(what: []const u8, names: usize) error{Explained} {
    std.debug.print("driver: the stream has {s} tensors than the list of names, which has {d}\n", .{ what, names });
    return error.Explained;
}

/// Out through the exchange form and in again, as between two runtimes. The tensor is ended.
pub fn exchanged(tensor: *hurray.Tensor, diagnostics: *hurray.Diagnostics) !hurray.Tensor {
    var pair = try tensor.exportPair(diagnostics);
    defer pair.deinit();
    tensor.deinit();
    // As another runtime would hand them over: two addresses.
    var list = try hurray.BufferList.fromRaw(try pair.list.intoRaw(diagnostics), diagnostics);
    defer list.deinit();
    var context = try hurray.TensorContext.fromRaw(try pair.context.intoRaw(diagnostics), diagnostics);
    defer context.deinit();
    return hurray.Tensor.import(&list, &context, diagnostics);
}

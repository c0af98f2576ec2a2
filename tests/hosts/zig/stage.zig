//! The stage of Zig, a shared library that the host loads.

const std = @import("std");
const hurray = @import("hurray");

/// Takes list and context over, and puts others in their place.
export fn hosts_pass(list: *?*hurray.c.HurrayBufferList, context: *?*hurray.c.HurrayTensorContext, sum: *f64) i32 {
    var diagnostics: hurray.Diagnostics = .{};
    return report(pass(list, context, sum, &diagnostics), &diagnostics);
}

/// A tensor over memory of Zig.
export fn hosts_make(list: *?*hurray.c.HurrayBufferList, context: *?*hurray.c.HurrayTensorContext) i32 {
    var diagnostics: hurray.Diagnostics = .{};
    return report(make(list, context, &diagnostics), &diagnostics);
}

export fn hosts_settle() void {
    var diagnostics: hurray.Diagnostics = .{};
    _ = hurray.drainReleases(&diagnostics) catch {};
}

fn report(result: anyerror!void, diagnostics: *const hurray.Diagnostics) i32 {
    result catch |err| {
        std.debug.print("zig: {s}: {s}\n", .{ @errorName(err), diagnostics.message() });
        return 1;
    };
    return 0;
}

fn pass(
    list: *?*hurray.c.HurrayBufferList,
    context: *?*hurray.c.HurrayTensorContext,
    sum: *f64,
    diagnostics: *hurray.Diagnostics,
) !void {
    var buffers: hurray.BufferList = try .fromRaw(list.*, diagnostics);
    defer buffers.deinit();
    var described: hurray.TensorContext = try .fromRaw(context.*, diagnostics);
    defer described.deinit();
    var tensor: hurray.Tensor = try .import(&buffers, &described, diagnostics);
    defer tensor.deinit();
    const view = try tensor.view(diagnostics);
    for (try view.slice(f32, diagnostics)) |element| sum.* += element;
    return handOn(&tensor, list, context, diagnostics);
}

fn make(list: *?*hurray.c.HurrayBufferList, context: *?*hurray.c.HurrayTensorContext, diagnostics: *hurray.Diagnostics) !void {
    const values = try std.heap.c_allocator.alloc(f32, 12);
    for (values, 0..) |*value, i| value.* = @floatFromInt(i);
    var tensor = hurray.Tensor.fromOwned(std.heap.c_allocator, values, &.{ 3, 4 }, .{}, diagnostics) catch |err| {
        std.heap.c_allocator.free(values);
        return err;
    };
    defer tensor.deinit();
    return handOn(&tensor, list, context, diagnostics);
}

fn handOn(
    tensor: *hurray.Tensor,
    list: *?*hurray.c.HurrayBufferList,
    context: *?*hurray.c.HurrayTensorContext,
    diagnostics: *hurray.Diagnostics,
) !void {
    var pair = try tensor.exportPair(diagnostics);
    defer pair.deinit();
    list.* = try pair.list.intoRaw(diagnostics);
    context.* = try pair.context.intoRaw(diagnostics);
}

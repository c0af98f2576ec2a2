//! The list of names that travels beside a stream: a JSON string a line.

const std = @import("std");

pub const Names = struct {
    arena: std.heap.ArenaAllocator,
    items: []const []const u8,

    pub fn deinit(self: *Names) void {
        self.arena.deinit();
    }
};

pub fn read(io: std.Io, gpa: std.mem.Allocator, path: []const u8) !Names {
    var arena: std.heap.ArenaAllocator = .init(gpa);
    errdefer arena.deinit();
    const allocator = arena.allocator();
    const text = std.Io.Dir.cwd().readFileAlloc(io, path, allocator, .unlimited) catch |err| {
        std.debug.print("driver: cannot read the list of names {s}: {s}\n", .{ path, @errorName(err) });
        return error.Explained;
    };
    var items: std.ArrayList([]const u8) = .empty;
    var lines = std.mem.splitScalar(u8, text, '\n');
    while (lines.next()) |line| {
        if (line.len == 0) continue;
        const name = std.json.parseFromSliceLeaky([]const u8, allocator, line, .{}) catch |err| {
            std.debug.print("driver: the list of names: line {d} is no JSON string: {s}\n", .{ items.items.len + 1, @errorName(err) });
            return error.Explained;
        };
        try items.append(allocator, name);
    }
    return .{ .arena = arena, .items = items.items };
}

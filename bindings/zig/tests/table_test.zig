//! The generated table against the C header, function by function. This program is linked with the library, so that the
//! header's declarations may be looked at.

const std = @import("std");
const abi = @import("hurray_abi");

/// Whether two types are passed alike: integers of the same kind, or any two pointers.
fn alike(comptime A: type, comptime B: type) bool {
    return switch (@typeInfo(A)) {
        .int, .void => A == B,
        .pointer, .optional => @sizeOf(A) == @sizeOf(usize) and @sizeOf(B) == @sizeOf(usize) and
            (@typeInfo(B) == .pointer or @typeInfo(B) == .optional),
        else => false,
    };
}

/// What a pointer type leads to in the end, without const and optional.
fn Target(comptime T: type) type {
    return switch (@typeInfo(T)) {
        .optional => |optional| Target(optional.child),
        .pointer => |pointer| if (@typeInfo(pointer.child) == .@"fn") void else Target(pointer.child),
        else => T,
    };
}

fn depth(comptime T: type) usize {
    return switch (@typeInfo(T)) {
        .optional => |optional| depth(optional.child),
        .pointer => |pointer| 1 + depth(pointer.child),
        else => 0,
    };
}

fn constness(comptime T: type) []const bool {
    return switch (@typeInfo(T)) {
        .optional => |optional| constness(optional.child),
        .pointer => |pointer| if (@typeInfo(pointer.child) == .@"fn") &.{} else &[_]bool{pointer.is_const} ++ constness(pointer.child),
        else => &.{},
    };
}

test "the table says what the header says" {
    @setEvalBranchQuota(100_000);
    const fields = @typeInfo(abi.Table).@"struct".fields;
    comptime std.debug.assert(fields.len > 50);
    inline for (fields) |field| {
        const ours = @typeInfo(@typeInfo(field.type).pointer.child).@"fn";
        const theirs = @typeInfo(@TypeOf(@field(abi.c, abi.Table.prefix ++ field.name))).@"fn";
        const ok = comptime blk: {
            if (ours.params.len != theirs.params.len or ours.is_var_args or theirs.is_var_args) break :blk false;
            if (!std.meta.eql(ours.calling_convention, theirs.calling_convention)) break :blk false;
            for (ours.params, theirs.params) |a, b| {
                const A = a.type.?;
                const B = b.type.?;
                if (!alike(A, B) or depth(A) != depth(B) or Target(A) != Target(B)) break :blk false;
                if (!std.mem.eql(bool, constness(A), constness(B))) break :blk false;
            }
            break :blk alike(ours.return_type.?, theirs.return_type.?);
        };
        if (!ok) {
            std.debug.print("{s}: {s} here, {s} in the header\n", .{ field.name, @typeName(field.type), @typeName(@TypeOf(@field(abi.c, abi.Table.prefix ++ field.name))) });
            return error.TestUnexpectedResult;
        }
    }
}

const LinkedFinder = struct {
    handle: ?*anyopaque,

    pub fn find(self: LinkedFinder, name: [:0]const u8) ?*anyopaque {
        return std.c.dlsym(self.handle, name);
    }
};

test "every function of the table is in the library, at the address that the linker found" {
    var table: abi.Table = undefined;
    const missing = table.resolve(LinkedFinder{ .handle = std.c.dlopen(null, .{ .NOW = true }) });
    try std.testing.expectEqual(null, missing);
    inline for (@typeInfo(abi.Table).@"struct".fields) |field| {
        try std.testing.expectEqual(
            @intFromPtr(&@field(abi.c, abi.Table.prefix ++ field.name)),
            @intFromPtr(@field(table, field.name)),
        );
    }
}

const PartialFinder = struct {
    missing: []const u8,

    pub fn find(self: PartialFinder, name: [:0]const u8) ?*anyopaque {
        return if (std.mem.eql(u8, name, self.missing)) null else @ptrFromInt(0x1000);
    }
};

test "a function that is missing is named" {
    var table: abi.Table = undefined;
    try std.testing.expectEqualStrings("hurray_tensor_view", table.resolve(PartialFinder{ .missing = "hurray_tensor_view" }).?);
}

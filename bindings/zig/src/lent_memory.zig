//! Memory of the program that the library uses until it calls back.

const std = @import("std");
const diagnostics_ = @import("diagnostics.zig");

const Allocator = std.mem.Allocator;

/// Checks that something is a slice, and says of what.
pub fn SliceInfo(comptime Slice: type) type {
    const info = switch (@typeInfo(Slice)) {
        .pointer => |pointer| pointer,
        else => @compileError("hurray: expected a slice, got " ++ @typeName(Slice)),
    };
    if (info.size != .slice) @compileError("hurray: expected a slice (items[0..]), got " ++ @typeName(Slice));
    return struct {
        pub const Element = info.child;
        pub const read_only = info.is_const;
    };
}

/// First byte and length of a slice; no pointer for an empty one, which may point anywhere.
pub fn bytesOf(items: anytype) struct { ?*anyopaque, u64 } {
    if (items.len == 0) return .{ null, 0 };
    const size = std.mem.sliceAsBytes(items).len;
    return .{ @ptrCast(@constCast(items.ptr)), size };
}

/// What a release callback needs: allocated when memory is lent, freed by the callback, which runs exactly once. When
/// lending fails, `abandon` frees it and nothing is released.
pub fn Lease(comptime Slice: type, comptime Owner: type, comptime onRelease: fn (owner: Owner, items: Slice) void) type {
    return struct {
        const Self = @This();

        allocator: Allocator,
        owner: Owner,
        items: Slice,

        pub fn create(allocator: Allocator, owner: Owner, items: Slice) Allocator.Error!*Self {
            const lease = try allocator.create(Self);
            lease.* = .{ .allocator = allocator, .owner = owner, .items = items };
            return lease;
        }

        pub fn abandon(self: *Self) void {
            self.allocator.destroy(self);
        }

        pub fn release(buffer: ?*anyopaque, context: ?*anyopaque) callconv(.c) void {
            _ = buffer;
            const self: *Self = @ptrCast(@alignCast(context.?));
            const lease = self.*;
            // First the lease: the owner may be what keeps the allocator alive.
            self.allocator.destroy(self);
            onRelease(lease.owner, lease.items);
        }
    };
}

/// The release of memory that the allocator itself frees.
pub fn freeSlice(comptime Slice: type) fn (owner: Allocator, items: Slice) void {
    return struct {
        fn free(allocator: Allocator, items: Slice) void {
            allocator.free(items);
        }
    }.free;
}

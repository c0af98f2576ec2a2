//! Elements of whole bytes, by index, whatever their strides and their address.

const std = @import("std");
const diagnostics_ = @import("diagnostics.zig");
const index_walk = @import("index_walk.zig");

const View = @import("view.zig").View;
const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// The elements of a dense tensor as `T`. It lives as long as the view that it was made from.
pub fn StridedView(comptime T: type) type {
    return struct {
        const Self = @This();

        view: View,

        /// The element at an index, one number a dimension.
        ///
        /// Errors: HurrayIndexOutOfBounds; HurrayInvalidArgument: another number of dimensions; HurrayClosed.
        pub fn at(self: *const Self, index: []const u64, diagnostics: ?*Diagnostics) Error!T {
            const offset = try index_walk.offsetOf(&self.view, index, diagnostics);
            return elementAt(base(&self.view), offset).*;
        }

        /// Writes the element at an index. Errors as `at`, and HurrayReadOnly.
        pub fn set(self: *const Self, index: []const u64, value: T, diagnostics: ?*Diagnostics) Error!void {
            const offset = try index_walk.offsetOf(&self.view, index, diagnostics);
            if (self.view.isReadOnly()) return diagnostics_.fail(diagnostics, .invalid_argument, error.HurrayReadOnly, "tensor: its memory must not be written", .{});
            elementAt(base(&self.view), offset).* = value;
        }

        /// All elements in row-major order of their indices.
        pub fn iterator(self: *const Self) Iterator {
            return .{ .base = base(&self.view), .walk = .init(&self.view) };
        }

        /// Copies all elements in row-major order of their indices; `out` has room for exactly as many.
        pub fn copyRowMajor(self: *const Self, out: []T, diagnostics: ?*Diagnostics) Error!void {
            try self.view.requireAlive(diagnostics);
            if (out.len != self.view.elementCount()) return diagnostics_.fail(
                diagnostics,
                .invalid_argument,
                error.HurrayInvalidArgument,
                "out: expected room for {d} elements, got {d}",
                .{ self.view.elementCount(), out.len },
            );
            var elements = self.iterator();
            for (out) |*place| place.* = elements.next().?;
        }

        pub const Iterator = struct {
            base: usize,
            walk: index_walk.Walk,

            /// The next element; null after the last.
            pub inline fn next(self: *Iterator) ?T {
                return elementAt(self.base, self.walk.next() orelse return null).*;
            }
        };

        // Where there is an element there is memory, and all of it was found to lie within the buffer.
        inline fn elementAt(start: usize, offset: i64) *align(1) T {
            return @ptrFromInt(start +% @as(usize, @bitCast(offset *% @sizeOf(T))));
        }

        inline fn base(view: *const View) usize {
            return @intFromPtr(view.raw.data);
        }
    };
}

//! Elements that are smaller than a byte, least significant bit first.

const diagnostics_ = @import("diagnostics.zig");
const index_walk = @import("index_walk.zig");

const View = @import("view.zig").View;
const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// The elements of a packed dense tensor as `T`: bool, i2, u2, i4, u4 or u6. It lives as long as the view that it was made
/// from.
pub fn PackedView(comptime T: type) type {
    const bits = @bitSizeOf(T);
    const Bits = @Int(.unsigned, bits);
    return struct {
        const Self = @This();

        view: View,

        /// The element at an index, one number a dimension.
        ///
        /// Errors: HurrayIndexOutOfBounds; HurrayInvalidArgument: another number of dimensions; HurrayClosed.
        pub fn at(self: *const Self, index: []const u64, diagnostics: ?*Diagnostics) Error!T {
            const offset = try index_walk.offsetOf(&self.view, index, diagnostics);
            return elementAt(base(&self.view), offset);
        }

        /// All elements in row-major order of their indices.
        pub fn iterator(self: *const Self) Iterator {
            return .{ .base = base(&self.view), .walk = .init(&self.view) };
        }

        /// Copies all elements in row-major order of their indices, one a byte or more; `out` has room for exactly as
        /// many.
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
                return elementAt(self.base, self.walk.next() orelse return null);
            }
        };

        inline fn elementAt(start: usize, offset: i64) T {
            const first = offset * bits;
            const shift: u3 = @intCast(@mod(first, 8));
            const low = start +% @as(usize, @bitCast(@divFloor(first, 8)));
            var word: u16 = @as(*const u8, @ptrFromInt(low)).*;
            // Only six-bit elements lie across two bytes; the second is read only when it holds a part of this one.
            if (bits == 6 and shift > 2) {
                word |= @as(u16, @as(*const u8, @ptrFromInt(low + 1)).*) << 8;
            }
            const value: Bits = @truncate(word >> shift);
            return if (T == bool) value == 1 else @bitCast(value);
        }

        inline fn base(view: *const View) usize {
            return @intFromPtr(view.raw.data);
        }
    };
}

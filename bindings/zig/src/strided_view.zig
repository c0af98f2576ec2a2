//! Elements of whole bytes, by index, whatever their strides and their address.

const ElementView = @import("element_view.zig").ElementView;

/// The elements of a dense tensor as `T`. It lives as long as the view that it was made from.
pub fn StridedView(comptime T: type) type {
    return ElementView(T, Whole(T));
}

fn Whole(comptime T: type) type {
    return struct {
        pub inline fn load(start: usize, offset: i64) T {
            return place(start, offset).*;
        }

        pub inline fn store(start: usize, offset: i64, value: T) void {
            place(start, offset).* = value;
        }

        // Where there is an element there is memory, and all of it was found to lie within the buffer.
        inline fn place(start: usize, offset: i64) *align(1) T {
            return @ptrFromInt(start +% @as(usize, @bitCast(offset *% @sizeOf(T))));
        }
    };
}

//! Elements that are smaller than a byte, least significant bit first.

const ElementView = @import("element_view.zig").ElementView;

/// The elements of a packed dense tensor as `T`: bool, i2, u2, i4, u4 or u6. It lives as long as the view that it was made
/// from.
pub fn PackedView(comptime T: type) type {
    return ElementView(T, Packed(T));
}

fn Packed(comptime T: type) type {
    const bits = @bitSizeOf(T);
    const Bits = @Int(.unsigned, bits);
    return struct {
        pub inline fn load(start: usize, offset: i64) T {
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
    };
}

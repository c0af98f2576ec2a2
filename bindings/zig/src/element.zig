//! Element types and the Zig types that stand for them.

const std = @import("std");
const abi = @import("hurray_abi");

pub const ElementType = abi.constants.ElementType;

/// bfloat16: the upper half of an IEEE binary32.
pub const BFloat16 = extern struct {
    bits: u16,

    /// Its value, which binary32 holds exactly.
    pub fn toF32(self: BFloat16) f32 {
        return @bitCast(@as(u32, self.bits) << 16);
    }

    /// The nearest bfloat16, ties to even. NaN stays NaN.
    pub fn fromF32(value: f32) BFloat16 {
        const bits: u32 = @bitCast(value);
        if (std.math.isNan(value)) return .{ .bits = @intCast(bits >> 16 | 0x40) };
        const rounding = 0x7fff + (bits >> 16 & 1);
        return .{ .bits = @intCast((bits + rounding) >> 16) };
    }
};

/// The bits of an OCP float8 e4m3.
pub const Float8E4M3 = extern struct { bits: u8 };
/// The bits of an OCP float8 e5m2.
pub const Float8E5M2 = extern struct { bits: u8 };
/// The bits of an OCP e8m0 scale.
pub const Float8E8M0 = extern struct { bits: u8 };
/// Two f32.
pub const Complex64 = extern struct { re: f32, im: f32 };
/// Two f64.
pub const Complex128 = extern struct { re: f64, im: f64 };

/// The element type that a Zig type stands for. Other types, bool among them, are a compile error: truth values and what
/// is smaller than a byte is packed, and read through a PackedView.
pub fn elementTypeOf(comptime T: type) ElementType {
    return switch (T) {
        f16 => .float16,
        BFloat16 => .bfloat16,
        f32 => .float32,
        f64 => .float64,
        i8 => .int8,
        u8 => .uint8,
        i16 => .int16,
        u16 => .uint16,
        i32 => .int32,
        u32 => .uint32,
        i64 => .int64,
        u64 => .uint64,
        f128 => .float128,
        Float8E4M3 => .float8_e4m3,
        Float8E5M2 => .float8_e5m2,
        Float8E8M0 => .float8_e8m0,
        Complex64 => .complex64,
        Complex128 => .complex128,
        bool, u2, i2, u4, i4, u6 => @compileError("hurray: " ++ @typeName(T) ++ " is packed in a tensor; use packedView, or memory of bytes with an element type"),
        usize, isize, c_int, c_long => @compileError("hurray: " ++ @typeName(T) ++ " has no fixed width; use i64, u64, ..."),
        else => @compileError("hurray: no element type is like " ++ @typeName(T) ++ "; f16, BFloat16, f32, f64, i8 to u64, f128, Float8E4M3, Float8E5M2, Float8E8M0, Complex64 and Complex128 are there"),
    };
}

/// Whether packed elements of a type can be read as `T`: bool; i4, u4, i2, u2 for the integers; u4 and u6 also for the
/// bits of the small floats.
pub fn isPackedAs(comptime T: type, element_type: ElementType) bool {
    return switch (T) {
        bool => element_type == .bool,
        i4 => element_type == .int4,
        u4 => element_type == .uint4 or element_type == .float4_e2m1,
        i2 => element_type == .int2,
        u2 => element_type == .uint2,
        u6 => element_type == .float6_e2m3 or element_type == .float6_e3m2,
        else => @compileError("hurray: packed elements are bool, i2, u2, i4, u4 or u6, not " ++ @typeName(T)),
    };
}

/// Bits of one element; null for a type that this package does not know.
pub fn bitsOf(element_type: ElementType) ?u32 {
    return switch (element_type) {
        .bool => 1,
        .int2, .uint2 => 2,
        .int4, .uint4, .float4_e2m1 => 4,
        .float6_e2m3, .float6_e3m2 => 6,
        .int8, .uint8, .float8_e4m3, .float8_e5m2, .float8_e8m0 => 8,
        .int16, .uint16, .float16, .bfloat16 => 16,
        .int32, .uint32, .float32 => 32,
        .int64, .uint64, .float64, .complex64 => 64,
        .float128, .complex128 => 128,
        _ => null,
    };
}

/// Bytes that `count` elements take; null when that is above 2^64-1, or the type is not known.
pub fn byteSizeOf(element_type: ElementType, count: u64) ?u64 {
    const bits = bitsOf(element_type) orelse return null;
    // Six-bit elements come in groups of four that take three bytes.
    const bytes: u128 = if (bits == 6)
        (@as(u128, count) + 3) / 4 * 3
    else
        (@as(u128, count) * bits + 7) / 8;
    return std.math.cast(u64, bytes);
}

/// Number of elements of a shape; null when it is above 2^64-1. A dimension of 0 makes it 0, whatever the others are.
pub fn elementCountOf(shape: []const u64) ?u64 {
    var count: u64 = 1;
    var overflows = false;
    for (shape) |size| {
        if (size == 0) return 0;
        const product = @mulWithOverflow(count, size);
        count = product[0];
        overflows = overflows or product[1] != 0;
    }
    return if (overflows) null else count;
}

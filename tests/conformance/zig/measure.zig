//! What a driver computes of a tensor by reading every element through a view: a checksum and a sum.

const std = @import("std");
const hurray = @import("hurray");

pub const Digest = struct {
    /// CRC-32 over the element bytes in row-major order of their indices; packed types stay packed.
    crc32: u32,
    /// Bytes that went into it.
    bytes: u64,
    /// Sequential float64 sum in the same order; null for types without a plain value.
    sum: ?f64,
};

pub fn digestOf(view: *const hurray.View, diagnostics: *hurray.Diagnostics) !Digest {
    return switch (view.elementType()) {
        .float16 => digestAs(f16, view, diagnostics),
        .bfloat16 => digestAs(hurray.BFloat16, view, diagnostics),
        .float32 => digestAs(f32, view, diagnostics),
        .float64 => digestAs(f64, view, diagnostics),
        .int8 => digestAs(i8, view, diagnostics),
        .uint8 => digestAs(u8, view, diagnostics),
        .int16 => digestAs(i16, view, diagnostics),
        .uint16 => digestAs(u16, view, diagnostics),
        .int32 => digestAs(i32, view, diagnostics),
        .uint32 => digestAs(u32, view, diagnostics),
        .int64 => digestAs(i64, view, diagnostics),
        .uint64 => digestAs(u64, view, diagnostics),
        .float8_e4m3 => digestAs(hurray.Float8E4M3, view, diagnostics),
        .float8_e5m2 => digestAs(hurray.Float8E5M2, view, diagnostics),
        .float8_e8m0 => digestAs(hurray.Float8E8M0, view, diagnostics),
        .float128 => digestAs(f128, view, diagnostics),
        .complex64 => digestAs(hurray.Complex64, view, diagnostics),
        .complex128 => digestAs(hurray.Complex128, view, diagnostics),
        .bool => digestPacked(bool, view, diagnostics),
        .int2 => digestPacked(i2, view, diagnostics),
        .uint2 => digestPacked(u2, view, diagnostics),
        .int4 => digestPacked(i4, view, diagnostics),
        .uint4, .float4_e2m1 => digestPacked(u4, view, diagnostics),
        .float6_e2m3, .float6_e3m2 => digestPacked(u6, view, diagnostics),
        _ => {
            std.debug.print("driver: element type 0x{x} is not known\n", .{@intFromEnum(view.elementType())});
            return error.Explained;
        },
    };
}

/// The value of an element that has a plain one.
fn valueOf(element: anytype) ?f64 {
    return switch (@TypeOf(element)) {
        f16, f32, f64 => element,
        hurray.BFloat16 => element.toF32(),
        i8, u8, i16, u16, i32, u32, i64, u64 => @floatFromInt(element),
        bool => @floatFromInt(@intFromBool(element)),
        else => null,
    };
}

fn digestAs(comptime T: type, view: *const hurray.View, diagnostics: *hurray.Diagnostics) !Digest {
    var crc: std.hash.Crc32 = .init();
    var sum: f64 = 0;
    const has_sum = comptime valueOf(std.mem.zeroes(T)) != null;
    if (view.isContiguous()) {
        const elements = try view.slice(T, diagnostics);
        crc.update(std.mem.sliceAsBytes(elements));
        if (has_sum) for (elements) |element| {
            sum += valueOf(element).?;
        };
    } else {
        const strided = try view.strided(T, diagnostics);
        var elements = strided.iterator();
        var chunk: [1024]T = undefined;
        var filled: usize = 0;
        while (elements.next()) |element| {
            if (has_sum) sum += valueOf(element).?;
            chunk[filled] = element;
            filled += 1;
            if (filled == chunk.len) {
                crc.update(std.mem.sliceAsBytes(chunk[0..]));
                filled = 0;
            }
        }
        crc.update(std.mem.sliceAsBytes(chunk[0..filled]));
    }
    return .{
        .crc32 = crc.final(),
        .bytes = view.elementCount() * @sizeOf(T),
        .sum = if (has_sum) sum else null,
    };
}

/// Reads element by element and packs them again in row-major order: a byte at a time goes into the checksum.
fn digestPacked(comptime T: type, view: *const hurray.View, diagnostics: *hurray.Diagnostics) !Digest {
    const bits = @bitSizeOf(T);
    const has_sum = comptime valueOf(std.mem.zeroes(T)) != null;
    var crc: std.hash.Crc32 = .init();
    var sum: f64 = 0;
    var chunk: [4096]u8 = undefined;
    var filled: usize = 0;
    var bytes: u64 = 0;
    var pending: u16 = 0;
    var pending_bits: u4 = 0;
    const packed_view = try view.packedView(T, diagnostics);
    var elements = packed_view.iterator();
    const total = hurray.byteSizeOf(view.elementType(), view.elementCount()).?;
    while (bytes < total) {
        if (elements.next()) |element| {
            if (has_sum) sum += valueOf(element).?;
            const code: @Int(.unsigned, bits) = if (T == bool) @intFromBool(element) else @bitCast(element);
            pending |= @as(u16, code) << pending_bits;
            pending_bits += bits;
        } else {
            // The last byte, or what is missing of a group of three bytes, is filled with zeroes.
            pending_bits = 8;
        }
        if (pending_bits < 8) continue;
        chunk[filled] = @truncate(pending);
        filled += 1;
        bytes += 1;
        pending >>= 8;
        pending_bits -= 8;
        if (filled == chunk.len) {
            crc.update(&chunk);
            filled = 0;
        }
    }
    crc.update(chunk[0..filled]);
    return .{ .crc32 = crc.final(), .bytes = bytes, .sum = if (has_sum) sum else null };
}

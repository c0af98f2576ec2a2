//! Single elements of tensors and composites by their indices, whatever layout they have. A call crosses into the library
//! each time: whoever wants many elements of a dense tensor takes a view.

const std = @import("std");
const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const rankOf = @import("shape.zig").rankOf;

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;
const Complex = std.math.Complex(f64);

/// Where an element is.
pub const ElementAddress = struct {
    /// Number of the buffer.
    buffer: u32,
    /// The byte of the buffer in which the element starts.
    byte_offset: u64,
    /// The bit of that byte in which it starts, counted from the lowest; 0 for types of whole bytes.
    bit_offset: u32,
    /// Bits of the element.
    bits: u32,
};

/// The bits of an element as they are stored.
pub const ElementBits = struct {
    /// How many bits an element has, at most 128.
    bits: u32,
    /// An unsigned number of so many bits.
    value: u128,
};

// Each of these takes the function of the library that reads from a tensor or from a composite.

/// Calls a function with an index and the variables for its results.
fn call(function: anytype, handle: anytype, index: []const u64, out: anytype, diagnostics: ?*Diagnostics) Error!void {
    const rank = try rankOf(index.len, diagnostics);
    return diagnostics_.check(@call(.auto, function, .{ handle, index.ptr, rank } ++ out ++ .{diagnostics_.reportOf(diagnostics)}));
}

/// A single number, of the type that the function gives.
pub fn number(comptime T: type, function: anytype, handle: anytype, index: []const u64, diagnostics: ?*Diagnostics) Error!T {
    var value: T = undefined;
    try call(function, handle, index, .{&value}, diagnostics);
    return value;
}

/// A complex number.
pub fn complex128(function: anytype, handle: anytype, index: []const u64, diagnostics: ?*Diagnostics) Error!Complex {
    var value: Complex = undefined;
    try call(function, handle, index, .{ &value.re, &value.im }, diagnostics);
    return value;
}

/// The bits of an element.
pub fn bits(function: anytype, handle: anytype, index: []const u64, diagnostics: ?*Diagnostics) Error!ElementBits {
    var raw: abi.c.HurrayElementBits = .{ .struct_size = @sizeOf(abi.c.HurrayElementBits) };
    try call(function, handle, index, .{&raw}, diagnostics);
    return .{ .bits = raw.bits, .value = @as(u128, raw.high) << 64 | raw.low };
}

/// Where an element is; null for one that is not stored.
pub fn address(function: anytype, handle: anytype, index: []const u64, diagnostics: ?*Diagnostics) Error!?ElementAddress {
    var raw: abi.c.HurrayElementAddress = .{ .struct_size = @sizeOf(abi.c.HurrayElementAddress) };
    try call(function, handle, index, .{&raw}, diagnostics);
    if (raw.present == 0) return null;
    return .{ .buffer = raw.buffer, .byte_offset = raw.byte_offset, .bit_offset = raw.bit_offset, .bits = raw.bits };
}

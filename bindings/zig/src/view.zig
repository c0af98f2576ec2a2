//! Reading the elements of a dense tensor where they lie.

const std = @import("std");
const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const element = @import("element.zig");
const Guard = @import("guard.zig").Guard;
const PackedView = @import("packed_view.zig").PackedView;
const StridedView = @import("strided_view.zig").StridedView;

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;
const ElementType = element.ElementType;

/// What a dense tensor looks like in memory: one call of the library fills it, nothing is copied.
///
/// It borrows from its tensor and lives as long as that. In builds with safety checks its functions answer
/// error.HurrayClosed after the tensor's end. Slices that it gave out before cannot be taken back: they must not be
/// used any more then. `Tensor.pin` makes a view with a share of its own.
///
/// Threads: many may read through one view while the tensor lives.
pub const View = struct {
    raw: abi.c.HurrayView,
    guard: Guard,

    /// HURRAY_TYPE_ tag.
    pub fn elementType(self: *const View) ElementType {
        return @enumFromInt(self.raw.element_type);
    }

    pub fn layout(self: *const View) abi.constants.Layout {
        return @enumFromInt(self.raw.layout);
    }

    pub fn device(self: *const View) abi.constants.Device {
        return @enumFromInt(self.raw.device);
    }

    /// Sizes, one a dimension.
    pub fn shape(self: *const View) []const i64 {
        return if (self.raw.rank == 0) &.{} else self.raw.shape[0..self.raw.rank];
    }

    /// Strides in elements, one a dimension; null when the elements follow one another in row-major order.
    pub fn strides(self: *const View) ?[]const i64 {
        if (self.raw.strides == null) return null;
        return self.raw.strides[0..self.raw.rank];
    }

    /// Product of the shape.
    pub fn elementCount(self: *const View) u64 {
        return self.raw.element_count;
    }

    /// Bits of one element.
    pub fn bits(self: *const View) u32 {
        return self.raw.bits;
    }

    pub fn isReadOnly(self: *const View) bool {
        return self.flags().read_only;
    }

    /// Whether the elements follow one another in row-major order without gaps.
    pub fn isContiguous(self: *const View) bool {
        return self.flags().contiguous;
    }

    /// Whether the elements are smaller than a byte.
    pub fn isPacked(self: *const View) bool {
        return self.flags().@"packed";
    }

    /// Whether the tensor is quantized: the elements here are the stored values, to which the scheme is not applied.
    pub fn isQuantized(self: *const View) bool {
        return self.flags().quantized;
    }

    /// Address of element (0, ..., 0), one of the device when the memory is not the host's. Null when there are no
    /// elements and no memory.
    pub fn address(self: *const View) ?*anyopaque {
        return self.raw.data;
    }

    /// The elements of a contiguous tensor. They may lie at any address: hence `align(1)`, with which the compiler reads
    /// them right everywhere. See `tryAligned`.
    ///
    /// Errors: HurrayInvalidType: the elements are not `T`; HurrayNotContiguous; HurrayUnsupported: not the host's
    /// memory; HurrayClosed.
    pub fn slice(self: *const View, comptime T: type, diagnostics: ?*Diagnostics) Error![]align(1) const T {
        try self.requireType(T, diagnostics);
        try self.requireContiguous(diagnostics);
        const data = self.raw.data orelse return &.{};
        return @as([*]align(1) const T, @ptrCast(data))[0..try self.count(diagnostics)];
    }

    /// As `slice`, to write. Errors also: HurrayReadOnly.
    pub fn sliceMutable(self: *const View, comptime T: type, diagnostics: ?*Diagnostics) Error![]align(1) T {
        try self.requireType(T, diagnostics);
        try self.requireContiguous(diagnostics);
        try self.requireWritable(diagnostics);
        const data = self.raw.data orelse return &.{};
        return @as([*]align(1) T, @ptrCast(data))[0..try self.count(diagnostics)];
    }

    /// As `slice`, for code that wants a naturally aligned slice. Errors also: HurrayMisaligned: the elements lie at
    /// another address; use `slice`, or a copy of the tensor.
    pub fn tryAligned(self: *const View, comptime T: type, diagnostics: ?*Diagnostics) Error![]const T {
        const elements = try self.slice(T, diagnostics);
        if (elements.len == 0) return &.{};
        const start = @intFromPtr(elements.ptr);
        if (!std.mem.isAligned(start, @alignOf(T))) return diagnostics_.fail(
            diagnostics,
            .misaligned,
            error.HurrayMisaligned,
            "tensor: " ++ @typeName(T) ++ " wants an address that is a multiple of {d}, this one is {d} above",
            .{ @alignOf(T), start % @alignOf(T) },
        );
        return @alignCast(elements);
    }

    /// The bytes of a contiguous tensor of any element type; packed elements stay packed.
    pub fn bytes(self: *const View, diagnostics: ?*Diagnostics) Error![]const u8 {
        try self.requireHost(diagnostics);
        try self.requireContiguous(diagnostics);
        const data = self.raw.data orelse return &.{};
        return @as([*]const u8, @ptrCast(data))[0..try size(self.raw.byte_size, diagnostics)];
    }

    /// As `bytes`, to write. Errors also: HurrayReadOnly.
    pub fn bytesMutable(self: *const View, diagnostics: ?*Diagnostics) Error![]u8 {
        try self.requireHost(diagnostics);
        try self.requireContiguous(diagnostics);
        try self.requireWritable(diagnostics);
        const data = self.raw.data orelse return &.{};
        return @as([*]u8, @ptrCast(data))[0..try size(self.raw.byte_size, diagnostics)];
    }

    /// The elements by index, whatever their strides and their address.
    ///
    /// Errors: HurrayInvalidType: the elements are not `T`; HurrayUnsupported: not the host's memory; HurrayClosed.
    pub fn strided(self: *const View, comptime T: type, diagnostics: ?*Diagnostics) Error!StridedView(T) {
        try self.requireType(T, diagnostics);
        return .{ .view = self.* };
    }

    /// Elements that are smaller than a byte, whatever their strides: bool, i2, u2, i4, u4, or u6.
    ///
    /// Errors: HurrayInvalidType: the elements are not `T`; HurrayUnsupported: not the host's memory; HurrayClosed.
    pub fn packedView(self: *const View, comptime T: type, diagnostics: ?*Diagnostics) Error!PackedView(T) {
        try self.requireHost(diagnostics);
        if (!element.isPackedAs(T, self.elementType())) return self.wrongType(T, diagnostics);
        return .{ .view = self.* };
    }

    /// error.HurrayClosed when the tensor was ended.
    pub fn requireAlive(self: *const View, diagnostics: ?*Diagnostics) Error!void {
        if (!self.guard.alive()) return diagnostics_.fail(diagnostics, .invalid_handle, error.HurrayClosed, "the tensor of this view was ended", .{});
    }

    fn flags(self: *const View) abi.constants.ViewFlags {
        return @bitCast(self.raw.flags);
    }

    fn requireHost(self: *const View, diagnostics: ?*Diagnostics) Error!void {
        try self.requireAlive(diagnostics);
        if (self.device() != .cpu) return diagnostics_.fail(
            diagnostics,
            .unsupported,
            error.HurrayUnsupported,
            "tensor: its memory is that of device {d}, not the host's",
            .{self.raw.device},
        );
    }

    fn requireType(self: *const View, comptime T: type, diagnostics: ?*Diagnostics) Error!void {
        const expected = comptime element.elementTypeOf(T);
        try self.requireHost(diagnostics);
        if (self.elementType() != expected) return self.wrongType(T, diagnostics);
    }

    fn wrongType(self: *const View, comptime T: type, diagnostics: ?*Diagnostics) Error {
        return diagnostics_.fail(
            diagnostics,
            .invalid_type,
            error.HurrayInvalidType,
            "tensor: its elements are {s} (tag 0x{x:0>2}), which " ++ @typeName(T) ++ " does not stand for",
            .{ std.enums.tagName(ElementType, self.elementType()) orelse "of another type", self.raw.element_type },
        );
    }

    fn requireContiguous(self: *const View, diagnostics: ?*Diagnostics) Error!void {
        if (!self.isContiguous()) return diagnostics_.fail(
            diagnostics,
            .unsupported,
            error.HurrayNotContiguous,
            "tensor: its elements do not follow one another in row-major order; use strided, packedView, or a copy",
            .{},
        );
    }

    /// error.HurrayReadOnly when the memory must not be written.
    pub fn requireWritable(self: *const View, diagnostics: ?*Diagnostics) Error!void {
        if (self.isReadOnly()) return diagnostics_.fail(diagnostics, .invalid_argument, error.HurrayReadOnly, "tensor: its memory must not be written", .{});
    }

    fn count(self: *const View, diagnostics: ?*Diagnostics) Error!usize {
        return size(self.raw.element_count, diagnostics);
    }

    fn size(value: u64, diagnostics: ?*Diagnostics) Error!usize {
        return std.math.cast(usize, value) orelse
            diagnostics_.fail(diagnostics, .unsupported, error.HurrayUnsupported, "tensor: {d} is more than this platform can address", .{value});
    }
};

//! New tensors: over memory of the program, and in memory of the library.

const std = @import("std");
const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const element = @import("element.zig");
const lent_memory = @import("lent_memory.zig");
const library = @import("library.zig");
const rankOf = @import("shape.zig").rankOf;
const Buffer = @import("buffer.zig").Buffer;
const BufferList = @import("buffer_list.zig").BufferList;
const DescriptorBuilder = @import("descriptor_builder.zig").DescriptorBuilder;
const ReleaseQueue = @import("release_queue.zig").ReleaseQueue;
const Tensor = @import("tensor.zig").Tensor;

const Allocator = std.mem.Allocator;
const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// What the memory's own type does not say.
pub const HostOptions = struct {
    /// Row-major, column-major, or strided.
    layout: abi.constants.Layout = .row_major,
    /// Strides in elements, one a dimension; negative ones and 0 are legal. They make the layout strided.
    strides: ?[]const i64 = null,
    /// Offset of element (0, ..., 0) from the start of the memory, in bytes.
    byte_offset: u64 = 0,
    /// What the elements are, where the memory is a slice of bytes that hold something else: packed truth values, say.
    element_type: ?element.ElementType = null,
    /// Nobody may write to the memory. A slice of constants is always read-only.
    read_only: bool = false,
    /// What happens to memory that is not aligned to 64 bytes: used as it lies (a base rounded down, and byte_offset),
    /// copied (and released at once), or refused with HurrayMisaligned.
    alignment: abi.constants.AlignmentPolicy = .offset,
    /// Where a deferred release waits; null: the package's own queue.
    release_queue: ?*const ReleaseQueue = null,
};

/// Lends memory for ever: static memory, or memory that outlives every handle in every runtime. Nothing is copied. The
/// element type is that of the slice, known when compiling; see `elementTypeOf`.
///
/// Errors: HurrayInvalidLayout, HurrayInvalidArgument: the elements do not all lie in the memory, or shape and strides do
/// not belong together; HurrayMisaligned: as the options demand.
pub fn fromStatic(items: anytype, shape: []const u64, options: HostOptions, diagnostics: ?*Diagnostics) Error!Tensor {
    return lend(items, shape, options, null, null, diagnostics);
}

/// Hands memory of the allocator over: `allocator.free(items)` runs exactly once, when the last share goes. Nothing is
/// copied. On failure the memory stays the caller's. Errors as `fromStatic`, and OutOfMemory of the allocator.
///
/// Threads: the allocator is used by the thread that drops the last share.
pub fn fromOwned(
    allocator: Allocator,
    items: anytype,
    shape: []const u64,
    options: HostOptions,
    diagnostics: ?*Diagnostics,
) (Error || Allocator.Error)!Tensor {
    return fromBorrowed(allocator, items, shape, options, allocator, lent_memory.freeSlice(@TypeOf(items)), diagnostics);
}

/// Lends memory until `onRelease(owner, items)`, which runs exactly once, when the last share goes. Nothing is copied. On
/// failure nothing has moved and it does not run. What the callback needs is allocated with the allocator and freed before
/// it runs. Errors as `fromOwned`.
pub fn fromBorrowed(
    allocator: Allocator,
    items: anytype,
    shape: []const u64,
    options: HostOptions,
    owner: anytype,
    comptime onRelease: fn (owner: @TypeOf(owner), items: @TypeOf(items)) void,
    diagnostics: ?*Diagnostics,
) (Error || Allocator.Error)!Tensor {
    const Lease = lent_memory.Lease(@TypeOf(items), @TypeOf(owner), onRelease);
    const lease = try Lease.create(allocator, owner, items);
    errdefer lease.abandon();
    return lend(items, shape, options, Lease.release, lease, diagnostics);
}

fn lend(
    items: anytype,
    shape: []const u64,
    options: HostOptions,
    release: ?abi.callbacks.ReleaseCallback,
    context: ?*anyopaque,
    diagnostics: ?*Diagnostics,
) Error!Tensor {
    const Slice = lent_memory.SliceInfo(@TypeOf(items));
    const element_type = try elementTypeIn(Slice.Element, options.element_type, diagnostics);
    try library.ensure(diagnostics);
    const data, const byte_size = lent_memory.bytesOf(items);
    const aligned = std.mem.isAligned(@intFromPtr(data), 64);
    if (!aligned and options.alignment == .require) return diagnostics_.fail(
        diagnostics,
        .misaligned,
        error.HurrayMisaligned,
        "memory: expected an address that is a multiple of 64, this one is {d} above",
        .{@intFromPtr(data) % 64},
    );
    if (options.strides) |strides| if (strides.len != shape.len) return diagnostics_.fail(
        diagnostics,
        .invalid_argument,
        error.HurrayInvalidArgument,
        "strides: expected {d}, one a dimension, got {d}",
        .{ shape.len, strides.len },
    );
    const layout = if (options.strides != null and options.layout == .row_major) .strided else options.layout;
    const queue = if (options.release_queue) |q| try q.handle.get(diagnostics) else library.releaseQueue();
    // What collectors of other runtimes left is released where new memory is lent.
    if (release != null) _ = try library.drainReleases(diagnostics);
    const spec: abi.c.HurrayDenseSpec = .{
        .struct_size = @sizeOf(abi.c.HurrayDenseSpec),
        .element_type = @intFromEnum(element_type),
        .layout = @intFromEnum(layout),
        .read_only = @intFromBool(Slice.read_only or options.read_only),
        .rank = try rankOf(shape.len, diagnostics),
        .shape = shape.ptr,
        .strides = if (options.strides) |strides| strides.ptr else null,
        .byte_offset = options.byte_offset,
    };
    var out: ?*abi.c.HurrayTensor = null;
    const copying = !aligned and options.alignment == .copy;
    // A copy is made of memory that is only borrowed: when it fails, nothing has moved.
    const report = diagnostics_.reportOf(diagnostics);
    const lent_release = if (copying) null else release;
    try diagnostics_.check(library.table.tensor_from_host(&spec, data, byte_size, lent_release, context, queue, &out, report));
    var tensor: Tensor = .{ .handle = .init(out.?) };
    if (!copying) return tensor;
    const copied = copied: {
        defer tensor.deinit();
        break :copied try tensor.copy(0, diagnostics);
    };
    if (release) |run| run(data, context);
    return copied;
}

fn elementTypeIn(
    comptime Element: type,
    chosen: ?element.ElementType,
    diagnostics: ?*Diagnostics,
) Error!element.ElementType {
    const own = comptime element.elementTypeOf(Element);
    const other = chosen orelse return own;
    // Bytes may hold anything. Everything else says itself what it is.
    if (Element != u8 and other != own) return diagnostics_.fail(
        diagnostics,
        .invalid_type,
        error.HurrayInvalidType,
        "element_type: memory of " ++ @typeName(Element) ++ " holds {s}; lend it as bytes (std.mem.sliceAsBytes)",
        .{@tagName(own)},
    );
    return other;
}

/// A dense row-major tensor of zeroes in memory of the library. Alignment 0 means 64.
///
/// Errors: HurrayInvalidLayout: the shape has too many dimensions or elements; HurrayInvalidType; HurrayOutOfMemory.
pub fn allocate(element_type: element.ElementType, shape: []const u64, alignment: u32, diagnostics: ?*Diagnostics) Error!Tensor {
    const byte_size = try denseByteSize(element_type, shape, diagnostics);
    var buffer = try Buffer.allocate(byte_size, alignment, diagnostics);
    defer buffer.deinit();
    return denseOver(&buffer, element_type, shape, diagnostics);
}

/// As `allocate`, in memory that goes through a channel without a copy: see `Buffer.allocateShared`.
pub fn allocateShared(element_type: element.ElementType, shape: []const u64, alignment: u32, diagnostics: ?*Diagnostics) Error!Tensor {
    const byte_size = try denseByteSize(element_type, shape, diagnostics);
    var buffer = try Buffer.allocateShared(byte_size, alignment, diagnostics);
    defer buffer.deinit();
    return denseOver(&buffer, element_type, shape, diagnostics);
}

/// A dense row-major tensor over a buffer, which moves into it.
fn denseOver(buffer: *Buffer, element_type: element.ElementType, shape: []const u64, diagnostics: ?*Diagnostics) Error!Tensor {
    var builder = try DescriptorBuilder.init(element_type, .row_major, shape, diagnostics);
    defer builder.deinit();
    try builder.addBuffer(try buffer.entry(diagnostics), diagnostics);
    var descriptor = try builder.build(diagnostics);
    defer descriptor.deinit();
    var list = try BufferList.init(diagnostics);
    defer list.deinit();
    try list.push(buffer, diagnostics);
    return Tensor.fromParts(&descriptor, &list, diagnostics);
}

/// Packs truth values, given in row-major order, as a tensor of bits in memory of the library. This copies: Zig keeps a
/// byte for each.
///
/// Errors: HurrayInvalidArgument: shape and values differ in number; and those of `allocate`.
pub fn fromBools(values: []const bool, shape: []const u64, diagnostics: ?*Diagnostics) Error!Tensor {
    const count = element.elementCountOf(shape);
    if (count == null or count.? != values.len) return diagnostics_.fail(
        diagnostics,
        .invalid_argument,
        error.HurrayInvalidArgument,
        "values: expected as many as the shape has elements, got {d}",
        .{values.len},
    );
    var tensor = try allocate(.bool, shape, 0, diagnostics);
    errdefer tensor.deinit();
    const view = try tensor.view(diagnostics);
    const bytes = try view.bytesMutable(diagnostics);
    for (values, 0..) |value, i| bytes[i / 8] |= @as(u8, @intFromBool(value)) << @intCast(i % 8);
    return tensor;
}

fn denseByteSize(element_type: element.ElementType, shape: []const u64, diagnostics: ?*Diagnostics) Error!u64 {
    for (shape, 0..) |size, k| if (size == abi.constants.dimension_dynamic) return diagnostics_.fail(
        diagnostics,
        .invalid_layout,
        error.HurrayInvalidLayout,
        "shape[{d}]: expected a size, a dynamic dimension has no memory",
        .{k},
    );
    if (element.bitsOf(element_type) == null) return diagnostics_.fail(
        diagnostics,
        .invalid_type,
        error.HurrayInvalidType,
        "element_type: 0x{x:0>2} is not known",
        .{@intFromEnum(element_type)},
    );
    const too_large = "shape: its elements take more than 2^64-1 bytes";
    const count = element.elementCountOf(shape) orelse
        return diagnostics_.fail(diagnostics, .invalid_layout, error.HurrayInvalidLayout, too_large, .{});
    return element.byteSizeOf(element_type, count) orelse
        diagnostics_.fail(diagnostics, .invalid_layout, error.HurrayInvalidLayout, too_large, .{});
}

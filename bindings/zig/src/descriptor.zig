//! Descriptors: decode, read, encode.

const std = @import("std");
const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const library = @import("library.zig");
const Handle = @import("handle.zig").Handle;
const BufferEntry = @import("buffer_entry.zig").BufferEntry;
const layout_fields = @import("layout_fields.zig");
const sections = @import("sections.zig");

const Allocator = std.mem.Allocator;
const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// The fields of a descriptor. The slices belong to it and live as long as it does.
pub const DescriptorInfo = struct {
    version_major: u8,
    version_minor: u8,
    /// Flag bits of the fixed header.
    flags: u32,
    element_type: abi.constants.ElementType,
    layout: abi.constants.Layout,
    /// Bits of one element; 0 when the element type is not known.
    bits: u32,
    /// Number of entries of the buffer table.
    buffer_count: u32,
    /// Length of the encoded descriptor in bytes.
    descriptor_length: u64,
    /// Offset of the first element in buffer 0, in bytes.
    byte_offset: u64,
    /// Product of the shape; null where a dimension is dynamic.
    element_count: ?u64,
    /// Sizes, one a dimension; `dimension_dynamic` for one that is not known.
    shape: []const u64,
    /// Strides in elements, for the strided layout.
    strides: ?[]const i64,
    /// What the tensor is a part of, when it is a shard.
    shard: ?Shard,
    /// A permissive reader met a tag that it does not know: nobody may touch the data.
    is_opaque: bool,
    /// It is the layout that is not known: there are no layout fields, buffers and sections, whatever `flags` says; all of
    /// that is in `trailing`.
    is_unread: bool,
    /// What a later minor version put behind the sections, or what is unread; encoded again as it was.
    trailing: []const u8,

    pub const Shard = struct {
        /// Sizes of the whole tensor.
        parent_shape: []const u64,
        /// Where this part begins in it.
        shard_offset: []const u64,
    };

    pub fn rank(self: *const DescriptorInfo) usize {
        return self.shape.len;
    }
};

/// What a reader of descriptors accepts; the default is a strict reader.
pub const DecodeOptions = struct {
    /// Accepts private layouts, quantization schemes, devices and memory classes, upon which writer and reader have agreed.
    private_tags: bool = false,
    /// Accepts element types, layouts and quantization schemes that are not known: the descriptor is opaque then.
    permissive: bool = false,
    /// Longest descriptor accepted, in bytes; 0 means 16 MiB.
    max_length: u64 = 0,

    pub fn raw(self: DecodeOptions) abi.c.HurrayDecodeOptions {
        const flags: abi.constants.DecodeFlags = .{ .permissive = self.permissive, .private_tags = self.private_tags };
        return .{
            .struct_size = @sizeOf(abi.c.HurrayDecodeOptions),
            .flags = @bitCast(flags),
            .max_length = self.max_length,
        };
    }
};

/// A decoded, validated, immutable descriptor. (format: tensor descriptor)
///
/// Threads: used by one at a time; it may move between them.
pub const Descriptor = struct {
    handle: Handle(abi.c.HurrayDescriptor, "descriptor_destroy", "descriptor"),

    /// Decodes and fully validates a descriptor at any address. Bytes behind its descriptor_length are not looked at,
    /// and nothing of the memory is kept. The caller owns the result.
    ///
    /// Errors: HurrayInvalidMagic, HurrayVersionMismatch, HurrayInvalidLayout, HurrayInvalidType,
    /// HurrayInvalidSyncMode, HurrayUnsupported, HurrayLimitExceeded; the report has the byte offset.
    pub fn decode(bytes: []const u8, diagnostics: ?*Diagnostics) Error!Descriptor {
        try library.ensure(diagnostics);
        var out: ?*abi.c.HurrayDescriptor = null;
        try diagnostics_.check(library.table.descriptor_decode(bytes.ptr, bytes.len, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// As `decode`, by the options of the caller.
    pub fn decodeOptions(bytes: []const u8, options: DecodeOptions, diagnostics: ?*Diagnostics) Error!Descriptor {
        try library.ensure(diagnostics);
        const raw = options.raw();
        var out: ?*abi.c.HurrayDescriptor = null;
        try diagnostics_.check(library.table.descriptor_decode_options(bytes.ptr, bytes.len, &raw, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// The length of the descriptor that starts at `bytes`, from its first 20 bytes; for readers of streams.
    pub fn peekLength(bytes: []const u8, diagnostics: ?*Diagnostics) Error!u64 {
        try library.ensure(diagnostics);
        var length: u64 = 0;
        try diagnostics_.check(library.table.descriptor_peek_length(bytes.ptr, bytes.len, &length, diagnostics_.reportOf(diagnostics)));
        return length;
    }

    /// All fields, in one call.
    pub fn info(self: *const Descriptor, diagnostics: ?*Diagnostics) Error!DescriptorInfo {
        return infoOf(try self.handle.get(diagnostics), diagnostics);
    }

    /// The fields of the layout. Slices in them live as long as the descriptor.
    pub fn layoutFields(self: *const Descriptor, diagnostics: ?*Diagnostics) Error!layout_fields.LayoutFields {
        return layout_fields.read(try self.handle.get(diagnostics), diagnostics);
    }

    /// How the elements are quantized; null when they are not. Slices in it live as long as the descriptor.
    pub fn quantization(self: *const Descriptor, diagnostics: ?*Diagnostics) Error!?sections.Quantization {
        return sections.quantization(try self.handle.get(diagnostics), diagnostics);
    }

    /// The bytes of the quantization section behind its length; empty when there is none. They live as long as the
    /// descriptor.
    pub fn quantizationPayload(self: *const Descriptor, diagnostics: ?*Diagnostics) Error![]const u8 {
        return sections.quantizationPayload(try self.handle.get(diagnostics), diagnostics);
    }

    /// What the writer said about the values; null when nothing.
    pub fn statistics(self: *const Descriptor, diagnostics: ?*Diagnostics) Error!?sections.Statistics {
        return sections.statistics(try self.handle.get(diagnostics), diagnostics);
    }

    /// What the elements are, when their type is a private one.
    pub fn extensionType(self: *const Descriptor, diagnostics: ?*Diagnostics) Error!?sections.ExtensionType {
        return sections.extensionType(try self.handle.get(diagnostics), diagnostics);
    }

    /// The role of a member of an overlay; null for other tensors.
    pub fn memberRole(self: *const Descriptor, diagnostics: ?*Diagnostics) Error!?abi.constants.MemberRole {
        return sections.memberRole(try self.handle.get(diagnostics), diagnostics);
    }

    /// One entry of the buffer table. Errors: HurrayIndexOutOfBounds.
    pub fn bufferEntry(self: *const Descriptor, index: u32, diagnostics: ?*Diagnostics) Error!BufferEntry {
        return entryOf(try self.handle.get(diagnostics), index, diagnostics);
    }

    /// Encodes into `out` and returns the bytes written. Errors: HurrayBufferTooSmall: nothing was written;
    /// `DescriptorInfo.descriptor_length` bytes are needed.
    pub fn encode(self: *const Descriptor, out: []u8, diagnostics: ?*Diagnostics) Error![]u8 {
        var length: u64 = 0;
        const handle = try self.handle.get(diagnostics);
        try diagnostics_.check(library.table.descriptor_encode(handle, out.ptr, out.len, &length, diagnostics_.reportOf(diagnostics)));
        return out[0..@intCast(length)];
    }

    /// Encodes into memory of the allocator, which the caller frees.
    pub fn encodeAlloc(self: *const Descriptor, allocator: Allocator, diagnostics: ?*Diagnostics) (Error || Allocator.Error)![]u8 {
        return encodeAllocOf(try self.handle.get(diagnostics), allocator, diagnostics);
    }

    /// Ends the descriptor. A second end is a no-op.
    pub fn deinit(self: *Descriptor) void {
        self.handle.deinit();
    }
};

pub fn infoOf(handle: *const abi.c.HurrayDescriptor, diagnostics: ?*Diagnostics) Error!DescriptorInfo {
    var raw: abi.c.HurrayDescriptorInfo = .{ .struct_size = @sizeOf(abi.c.HurrayDescriptorInfo) };
    try diagnostics_.check(library.table.descriptor_info(handle, &raw, diagnostics_.reportOf(diagnostics)));
    const rank = raw.rank;
    const reading: abi.constants.DescriptorFlags = @bitCast(raw.reading);
    return .{
        .version_major = raw.version_major,
        .version_minor = raw.version_minor,
        .flags = raw.flags,
        .element_type = @enumFromInt(raw.element_type),
        .layout = @enumFromInt(raw.layout),
        .bits = raw.bits,
        .buffer_count = raw.buffer_count,
        .descriptor_length = raw.descriptor_length,
        .byte_offset = raw.byte_offset,
        .element_count = if (raw.element_count == abi.constants.dimension_dynamic) null else raw.element_count,
        .shape = if (rank == 0) &.{} else raw.shape[0..rank],
        .strides = if (raw.strides == null) null else raw.strides[0..rank],
        .shard = if (raw.parent_shape == null) null else .{
            .parent_shape = raw.parent_shape[0..rank],
            .shard_offset = raw.shard_offset[0..rank],
        },
        .is_opaque = reading.@"opaque",
        .is_unread = reading.unread,
        .trailing = layout_fields.slice(u8, raw.trailing, raw.trailing_length),
    };
}

pub fn entryOf(handle: *const abi.c.HurrayDescriptor, index: u32, diagnostics: ?*Diagnostics) Error!BufferEntry {
    var raw: abi.c.HurrayBufferHandleBytes = .{};
    try diagnostics_.check(library.table.descriptor_buffer(handle, index, &raw, diagnostics_.reportOf(diagnostics)));
    return .fromBytes(&raw.bytes);
}

pub fn encodeAllocOf(
    handle: *const abi.c.HurrayDescriptor,
    allocator: Allocator,
    diagnostics: ?*Diagnostics,
) (Error || Allocator.Error)![]u8 {
    const needed = (try infoOf(handle, diagnostics)).descriptor_length;
    const out = try allocator.alloc(u8, std.math.cast(usize, needed) orelse return error.OutOfMemory);
    errdefer allocator.free(out);
    var length: u64 = 0;
    try diagnostics_.check(library.table.descriptor_encode(handle, out.ptr, out.len, &length, diagnostics_.reportOf(diagnostics)));
    std.debug.assert(length == out.len);
    return out;
}

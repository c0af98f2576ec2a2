//! Makes descriptors field by field.

const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const library = @import("library.zig");
const Handle = @import("handle.zig").Handle;
const BufferEntry = @import("buffer_entry.zig").BufferEntry;
const Descriptor = @import("descriptor.zig").Descriptor;
const layout_fields = @import("layout_fields.zig");
const sections = @import("sections.zig");
const rankOf = @import("shape.zig").rankOf;

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// Collects the fields of a descriptor; `build` validates them all. Threads: used by one at a time.
pub const DescriptorBuilder = struct {
    handle: Handle(abi.c.HurrayDescriptorBuilder, "descriptor_builder_destroy", "descriptor builder"),
    layout: abi.constants.Layout,

    /// Starts a descriptor; `shape` is copied. Errors: HurrayInvalidArgument: more than 64 dimensions.
    pub fn init(
        element_type: abi.constants.ElementType,
        layout: abi.constants.Layout,
        shape: []const u64,
        diagnostics: ?*Diagnostics,
    ) Error!DescriptorBuilder {
        try library.ensure(diagnostics);
        var out: ?*abi.c.HurrayDescriptorBuilder = null;
        try diagnostics_.check(library.table.descriptor_builder_new(
            @intFromEnum(element_type),
            @intFromEnum(layout),
            shape.ptr,
            try rankOf(shape.len, diagnostics),
            &out,
            diagnostics_.reportOf(diagnostics),
        ));
        return .{ .handle = .init(out.?), .layout = layout };
    }

    /// Accepts private layouts, quantization schemes, devices and memory classes, upon which the readers have agreed; before
    /// buffers of such are added.
    pub fn allowPrivateTags(self: *DescriptorBuilder, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        try diagnostics_.check(library.table.descriptor_builder_allow_private_tags(handle, diagnostics_.reportOf(diagnostics)));
    }

    /// The fields of the layout that the builder was made for; copied. Once only for tiles: levels add up.
    ///
    /// Errors: HurrayInvalidArgument: fields of another layout. Whether they fit the shape and the buffers is checked by
    /// `build`.
    pub fn setLayoutFields(self: *DescriptorBuilder, fields: layout_fields.LayoutFields, diagnostics: ?*Diagnostics) Error!void {
        try layout_fields.set(try self.handle.get(diagnostics), self.layout, fields, diagnostics);
    }

    /// Says how the elements are quantized; copied. The buffers with scales and zero points are added as others are.
    pub fn setQuantization(self: *DescriptorBuilder, section: sections.Quantization, diagnostics: ?*Diagnostics) Error!void {
        try sections.setQuantization(try self.handle.get(diagnostics), section, diagnostics);
    }

    /// Says something about the values.
    pub fn setStatistics(self: *DescriptorBuilder, section: sections.Statistics, diagnostics: ?*Diagnostics) Error!void {
        try sections.setStatistics(try self.handle.get(diagnostics), section, diagnostics);
    }

    /// Says what the elements are; the element type is a private one then.
    pub fn setExtensionType(self: *DescriptorBuilder, section: sections.ExtensionType, diagnostics: ?*Diagnostics) Error!void {
        try sections.setExtensionType(try self.handle.get(diagnostics), section, diagnostics);
    }

    /// Makes the tensor a member of an overlay.
    pub fn setMemberRole(self: *DescriptorBuilder, role: abi.constants.MemberRole, diagnostics: ?*Diagnostics) Error!void {
        try sections.setMemberRole(try self.handle.get(diagnostics), role, diagnostics);
    }

    /// Offset of the first element in buffer 0, in bytes.
    pub fn setByteOffset(self: *DescriptorBuilder, byte_offset: u64, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        try diagnostics_.check(library.table.descriptor_builder_set_byte_offset(handle, byte_offset, diagnostics_.reportOf(diagnostics)));
    }

    /// Strides in elements, one a dimension, copied; for the strided layout.
    pub fn setStrides(self: *DescriptorBuilder, strides: []const i64, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        const rank = try rankOf(strides.len, diagnostics);
        try diagnostics_.check(library.table.descriptor_builder_set_strides(handle, strides.ptr, rank, diagnostics_.reportOf(diagnostics)));
    }

    /// Makes the tensor a shard: a part of a larger one. Both are copied, one number a dimension.
    pub fn setShard(self: *DescriptorBuilder, parent_shape: []const u64, shard_offset: []const u64, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        if (parent_shape.len != shard_offset.len) return diagnostics_.fail(
            diagnostics,
            .invalid_argument,
            error.HurrayInvalidArgument,
            "shard_offset: expected {d} numbers, as the parent shape has, got {d}",
            .{ parent_shape.len, shard_offset.len },
        );
        const rank = try rankOf(parent_shape.len, diagnostics);
        try diagnostics_.check(library.table.descriptor_builder_set_shard(handle, parent_shape.ptr, shard_offset.ptr, rank, diagnostics_.reportOf(diagnostics)));
    }

    /// Appends an entry to the buffer table.
    pub fn addBuffer(self: *DescriptorBuilder, entry: BufferEntry, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        const raw: abi.c.HurrayBufferHandleBytes = .{ .bytes = entry.toBytes() };
        try diagnostics_.check(library.table.descriptor_builder_add_buffer(handle, &raw, diagnostics_.reportOf(diagnostics)));
    }

    /// Validates what was collected and makes the descriptor, which the caller owns. The builder may be used again.
    pub fn build(self: *const DescriptorBuilder, diagnostics: ?*Diagnostics) Error!Descriptor {
        var out: ?*abi.c.HurrayDescriptor = null;
        const handle = try self.handle.get(diagnostics);
        try diagnostics_.check(library.table.descriptor_builder_build(handle, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Ends the builder. A second end is a no-op.
    pub fn deinit(self: *DescriptorBuilder) void {
        self.handle.deinit();
    }
};

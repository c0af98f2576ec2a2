//! Tensors on their way to another runtime.

const std = @import("std");
const diagnostics_ = @import("diagnostics.zig");
const Buffer = @import("buffer.zig").Buffer;
const BufferList = @import("buffer_list.zig").BufferList;
const Descriptor = @import("descriptor.zig").Descriptor;
const DescriptorBuilder = @import("descriptor_builder.zig").DescriptorBuilder;
const ElementType = @import("element.zig").ElementType;
const TensorContext = @import("tensor_context.zig").TensorContext;

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// A list and a context: the form in which a tensor travels between runtimes. Both are the caller's. (ABI: Tensor Context)
pub const Exported = struct {
    list: BufferList,
    context: TensorContext,

    /// The buffers of a tensor with their descriptor, which is copied. The list moves and is empty afterwards; on failure it
    /// stays the caller's. Whether the two belong together is checked by whoever imports them.
    pub fn of(described: *const Descriptor, buffers: *BufferList, diagnostics: ?*Diagnostics) Error!Exported {
        _ = try buffers.handle.get(diagnostics);
        const context = try contextOf(described, diagnostics);
        return .{ .list = .{ .handle = .init(buffers.handle.take().?) }, .context = context };
    }

    /// A dense row-major tensor over one buffer, as producers hand it off. The buffer moves and is empty afterwards; on failure
    /// it stays the caller's. Errors: those of `DescriptorBuilder.build`.
    pub fn dense(element_type: ElementType, shape: []const u64, buffer: *Buffer, diagnostics: ?*Diagnostics) Error!Exported {
        var builder = try DescriptorBuilder.init(element_type, .row_major, shape, diagnostics);
        defer builder.deinit();
        try builder.addBuffer(try buffer.entry(diagnostics), diagnostics);
        var described = try builder.build(diagnostics);
        defer described.deinit();
        var context = try contextOf(&described, diagnostics);
        errdefer context.deinit();
        var list = try BufferList.init(diagnostics);
        errdefer list.deinit();
        try list.push(buffer, diagnostics);
        return .{ .list = list, .context = context };
    }

    /// Ends both, if they were not imported or given away meanwhile.
    pub fn deinit(self: *Exported) void {
        self.list.deinit();
        self.context.deinit();
    }
};

fn contextOf(described: *const Descriptor, diagnostics: ?*Diagnostics) Error!TensorContext {
    // Nearly every descriptor is far smaller.
    var memory = std.heap.stackFallback(1024, std.heap.page_allocator);
    const allocator = memory.get();
    const encoded = described.encodeAlloc(allocator, diagnostics) catch |err| switch (err) {
        error.OutOfMemory => return diagnostics_.fail(diagnostics, .out_of_memory, error.HurrayOutOfMemory, "no memory for the encoded descriptor", .{}),
        else => |failure| return failure,
    };
    defer allocator.free(encoded);
    return TensorContext.init(encoded, diagnostics);
}

//! Tensors: a descriptor and its buffers as one object.

const std = @import("std");
const abi = @import("hurray_abi");
const buffer_ = @import("buffer.zig");
const descriptor_ = @import("descriptor.zig");
const diagnostics_ = @import("diagnostics.zig");
const handoff = @import("handoff.zig");
const layout_fields = @import("layout_fields.zig");
const library = @import("library.zig");
const sections = @import("sections.zig");
const tensor_create = @import("tensor_create.zig");
const tensor_work = @import("tensor_work.zig");
const Handle = @import("handle.zig").Handle;
const BufferList = @import("buffer_list.zig").BufferList;
const TensorContext = @import("tensor_context.zig").TensorContext;
const View = @import("view.zig").View;

const Allocator = std.mem.Allocator;
const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// A tensor of the caller's, who ends it with `deinit`.
///
/// Threads: used by one at a time; it may move between them. Two tensors that share memory may be used by two threads.
/// The memory is released by the thread that ends the last share.
pub const Tensor = struct {
    handle: Handle(abi.c.HurrayTensor, "tensor_destroy", "tensor"),

    pub const Exported = @import("exported.zig").Exported;
    pub const HostOptions = tensor_create.HostOptions;
    pub const fromStatic = tensor_create.fromStatic;
    pub const fromOwned = tensor_create.fromOwned;
    pub const fromBorrowed = tensor_create.fromBorrowed;
    pub const fromBools = tensor_create.fromBools;
    pub const allocate = tensor_create.allocate;
    pub const allocateShared = tensor_create.allocateShared;

    pub const QuantizeOptions = tensor_work.QuantizeOptions;
    pub const TranscodeOptions = tensor_work.TranscodeOptions;
    pub const computeStatistics = tensor_work.computeStatistics;
    pub const dequantize = tensor_work.dequantize;
    pub const elementAddress = tensor_work.elementAddress;
    pub const elementBits = tensor_work.elementBits;
    pub const elementComplex128 = tensor_work.elementComplex128;
    pub const elementDequantized = tensor_work.elementDequantized;
    pub const elementFloat64 = tensor_work.elementFloat64;
    pub const quantize = tensor_work.quantize;
    pub const transcode = tensor_work.transcode;
    pub const validate = tensor_work.validate;

    /// Makes a tensor of a descriptor and its buffers. The list moves into the tensor and is empty afterwards; on failure
    /// it stays the caller's. The descriptor is copied.
    ///
    /// Errors: HurrayInvalidLayout: another number of buffers; HurrayBufferTooSmall; HurrayMisaligned; HurrayInvalidType:
    /// another device; HurraySyncModeMismatch.
    pub fn fromParts(descriptor: *const descriptor_.Descriptor, buffers: *BufferList, diagnostics: ?*Diagnostics) Error!Tensor {
        const described = try descriptor.handle.get(diagnostics);
        var list: ?*abi.c.HurrayBufferList = try buffers.handle.get(diagnostics);
        var out: ?*abi.c.HurrayTensor = null;
        try diagnostics_.check(library.table.tensor_new(described, &list, &out, diagnostics_.reportOf(diagnostics)));
        _ = buffers.handle.take();
        return .{ .handle = .init(out.?) };
    }

    /// Takes a tensor over that was exported as a pair of list and context. Both move into the tensor and are empty
    /// afterwards; on failure both stay the caller's. (ABI: Tensor Context)
    ///
    /// Errors: HurrayVersionMismatch, with both numbers in the report: the context is of another version; and those of
    /// `Descriptor.decode` and `fromParts`. A context of a higher version is good when the copy of the library that made it
    /// vouches for this package's.
    pub fn import(buffers: *BufferList, context: *TensorContext, diagnostics: ?*Diagnostics) Error!Tensor {
        return importBy(null, buffers, context, diagnostics);
    }

    /// As `import`, and reads the descriptor by the options of the caller. Errors also: HurrayUnsupported: permissive, and
    /// the layout is not known.
    pub fn importOptions(
        buffers: *BufferList,
        context: *TensorContext,
        options: descriptor_.DecodeOptions,
        diagnostics: ?*Diagnostics,
    ) Error!Tensor {
        const raw = options.raw();
        return importBy(&raw, buffers, context, diagnostics);
    }

    fn importBy(
        options: ?*const abi.c.HurrayDecodeOptions,
        buffers: *BufferList,
        context: *TensorContext,
        diagnostics: ?*Diagnostics,
    ) Error!Tensor {
        var list: ?*abi.c.HurrayBufferList = try buffers.handle.get(diagnostics);
        var described: ?*abi.c.HurrayTensorContext = try context.handle.get(diagnostics);
        var out: ?*abi.c.HurrayTensor = null;
        // The library checks the context's version before it reads anything else of it.
        const status = library.table.tensor_import_options(&list, &described, options, &out, diagnostics_.reportOf(diagnostics));
        if (status == @intFromEnum(diagnostics_.Status.version_mismatch)) context.noteVersion(diagnostics);
        try diagnostics_.check(status);
        _ = buffers.handle.take();
        _ = context.handle.take();
        return .{ .handle = .init(out.?) };
    }

    /// Exports the tensor as a pair of list and context, which share its memory. The tensor stays as it is.
    ///
    /// Errors: HurraySyncModeMismatch: a device may still be writing a buffer (its sync mode is not producer_synced), and
    /// shares carry no event; hand such buffers off one by one (`Buffer.handoff`).
    pub fn exportPair(self: *const Tensor, diagnostics: ?*Diagnostics) Error!Exported {
        const handle = try self.handle.get(diagnostics);
        var list: ?*abi.c.HurrayBufferList = null;
        var context: ?*abi.c.HurrayTensorContext = null;
        try diagnostics_.check(library.table.tensor_export(handle, &list, &context, diagnostics_.reportOf(diagnostics)));
        return .{ .list = .{ .handle = .init(list.?) }, .context = .{ .handle = .init(context.?) } };
    }

    /// Takes a handle over that something else made, such as another runtime in this process; null is an error.
    pub fn fromRaw(pointer: ?*abi.c.HurrayTensor, diagnostics: ?*Diagnostics) Error!Tensor {
        try library.ensure(diagnostics);
        return .{ .handle = .init(pointer orelse return buffer_.nullHandle(diagnostics)) };
    }

    /// Gives the handle away; whoever gets it ends it. This object is empty afterwards.
    pub fn intoRaw(self: *Tensor, diagnostics: ?*Diagnostics) Error!*abi.c.HurrayTensor {
        _ = try self.handle.get(diagnostics);
        return self.handle.take().?;
    }

    /// A further tensor over the same memory, for another thread or another owner.
    pub fn share(self: *const Tensor, diagnostics: ?*Diagnostics) Error!Tensor {
        const handle = try self.handle.get(diagnostics);
        var out: ?*abi.c.HurrayTensor = null;
        try diagnostics_.check(library.table.tensor_share(handle, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Looks at the elements where they lie. The view borrows from this tensor: see there.
    ///
    /// Errors: HurrayUnsupported: the layout is not dense, the shape is dynamic, or a dimension is above 2^63-1.
    pub fn view(self: *const Tensor, diagnostics: ?*Diagnostics) Error!View {
        const handle = try self.handle.get(diagnostics);
        var raw: abi.c.HurrayView = .{ .struct_size = @sizeOf(abi.c.HurrayView) };
        try diagnostics_.check(library.table.tensor_view(handle, &raw, diagnostics_.reportOf(diagnostics)));
        return .{ .raw = raw, .guard = self.handle.guard };
    }

    /// A view with a share of its own: it may outlive this tensor.
    pub const Pinned = struct {
        view: View,
        tensor: Tensor,

        /// Ends the view's share of the memory.
        pub fn deinit(self: *Pinned) void {
            self.tensor.deinit();
        }
    };

    /// As `view`, with a share of its own, which the caller ends.
    pub fn pin(self: *const Tensor, diagnostics: ?*Diagnostics) Error!Pinned {
        var shared = try self.share(diagnostics);
        errdefer shared.deinit();
        return .{ .view = try shared.view(diagnostics), .tensor = shared };
    }

    /// Copies a dense tensor into new memory of the library: row-major, aligned. Alignment 0 means 64.
    ///
    /// Errors: HurrayUnsupported: the layout is not dense, the shape is dynamic, or not host memory; HurrayOutOfMemory.
    pub fn copy(self: *const Tensor, alignment: u32, diagnostics: ?*Diagnostics) Error!Tensor {
        const handle = try self.handle.get(diagnostics);
        var out: ?*abi.c.HurrayTensor = null;
        var copied: u64 = 0;
        try diagnostics_.check(library.table.tensor_copy(handle, alignment, &out, &copied, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// All fields of the descriptor; the slices belong to the tensor and live as long as it does.
    pub fn descriptorInfo(self: *const Tensor, diagnostics: ?*Diagnostics) Error!descriptor_.DescriptorInfo {
        return descriptor_.infoOf(try self.borrowDescriptor(diagnostics), diagnostics);
    }

    /// The fields of the layout. Slices in them live as long as the tensor.
    pub fn layoutFields(self: *const Tensor, diagnostics: ?*Diagnostics) Error!layout_fields.LayoutFields {
        return layout_fields.read(try self.borrowDescriptor(diagnostics), diagnostics);
    }

    /// How the elements are quantized; null when they are not. Slices in it live as long as the tensor.
    pub fn quantization(self: *const Tensor, diagnostics: ?*Diagnostics) Error!?sections.Quantization {
        return sections.quantization(try self.borrowDescriptor(diagnostics), diagnostics);
    }

    /// What the writer said about the values; null when nothing. See `computeStatistics` for what they are.
    pub fn statistics(self: *const Tensor, diagnostics: ?*Diagnostics) Error!?sections.Statistics {
        return sections.statistics(try self.borrowDescriptor(diagnostics), diagnostics);
    }

    /// What the elements are, when their type is a private one.
    pub fn extensionType(self: *const Tensor, diagnostics: ?*Diagnostics) Error!?sections.ExtensionType {
        return sections.extensionType(try self.borrowDescriptor(diagnostics), diagnostics);
    }

    /// The role of a member of an overlay; null for other tensors.
    pub fn memberRole(self: *const Tensor, diagnostics: ?*Diagnostics) Error!?abi.constants.MemberRole {
        return sections.memberRole(try self.borrowDescriptor(diagnostics), diagnostics);
    }

    /// One entry of the descriptor's buffer table. Errors: HurrayIndexOutOfBounds.
    pub fn bufferEntry(self: *const Tensor, index: u32, diagnostics: ?*Diagnostics) Error!@import("buffer_entry.zig").BufferEntry {
        return descriptor_.entryOf(try self.borrowDescriptor(diagnostics), index, diagnostics);
    }

    /// The encoded descriptor, in memory of the allocator, which the caller frees.
    pub fn encodeDescriptor(self: *const Tensor, allocator: Allocator, diagnostics: ?*Diagnostics) (Error || Allocator.Error)![]u8 {
        return descriptor_.encodeAllocOf(try self.borrowDescriptor(diagnostics), allocator, diagnostics);
    }

    /// A share of one of the buffers, which the caller owns. Errors: HurrayIndexOutOfBounds.
    pub fn shareBuffer(self: *const Tensor, index: u32, diagnostics: ?*Diagnostics) Error!buffer_.Buffer {
        return buffer_.shareOf(try self.borrowBuffer(index, diagnostics), diagnostics);
    }

    /// What one of the buffers stands for. Errors: HurrayIndexOutOfBounds.
    pub fn bufferInfo(self: *const Tensor, index: u32, diagnostics: ?*Diagnostics) Error!buffer_.BufferInfo {
        return buffer_.infoOf(try self.borrowBuffer(index, diagnostics), diagnostics);
    }

    /// The event of one of the buffers, as `Buffer.event`. Errors also: HurrayIndexOutOfBounds.
    pub fn bufferEvent(self: *const Tensor, index: u32, diagnostics: ?*Diagnostics) Error!handoff.Event {
        return buffer_.eventOf(try self.borrowBuffer(index, diagnostics), diagnostics);
    }

    /// Gives the event of one of the buffers back, as `Buffer.releaseEvent`. Errors also: HurrayIndexOutOfBounds.
    pub fn releaseBufferEvent(self: *Tensor, index: u32, diagnostics: ?*Diagnostics) Error!void {
        return buffer_.releaseEventOf(try self.borrowBuffer(index, diagnostics), diagnostics);
    }

    /// The stream that one of the buffers is ordered on, as `Buffer.stream`. Errors also: HurrayIndexOutOfBounds.
    pub fn bufferStream(self: *const Tensor, index: u32, diagnostics: ?*Diagnostics) Error!handoff.Stream {
        return buffer_.streamOf(try self.borrowBuffer(index, diagnostics), diagnostics);
    }

    /// Ends the tensor; the last share releases the memory on this thread. A second end is a no-op.
    pub fn deinit(self: *Tensor) void {
        self.handle.deinit();
    }

    /// As `deinit`, and says what went wrong; the object is empty afterwards all the same.
    ///
    /// Errors: HurrayClosed: it was empty before; HurrayInvalidHandle: the handle is borrowed or, where handles are checked,
    /// was destroyed before; HurrayInternalPanic: a release callback threw an exception, after which everything has ended.
    pub fn end(self: *Tensor, diagnostics: ?*Diagnostics) Error!void {
        return self.handle.end(diagnostics);
    }

    /// Ends the tensor on a thread that must not run release callbacks: they wait on a queue.
    pub fn deinitDeferred(self: *Tensor) void {
        self.handle.deinitDeferred();
    }

    fn borrowDescriptor(self: *const Tensor, diagnostics: ?*Diagnostics) Error!*const abi.c.HurrayDescriptor {
        const handle = try self.handle.get(diagnostics);
        var borrowed: ?*const abi.c.HurrayDescriptor = null;
        try diagnostics_.check(library.table.tensor_descriptor(handle, &borrowed, diagnostics_.reportOf(diagnostics)));
        return borrowed.?;
    }

    fn borrowBuffer(self: *const Tensor, index: u32, diagnostics: ?*Diagnostics) Error!*abi.c.HurrayBuffer {
        const handle = try self.handle.get(diagnostics);
        var borrowed: ?*abi.c.HurrayBuffer = null;
        try diagnostics_.check(library.table.tensor_buffer(handle, index, &borrowed, diagnostics_.reportOf(diagnostics)));
        return borrowed.?;
    }
};

//! Model files: open, list, and take tensors out without copying.

const std = @import("std");
const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const library = @import("library.zig");
const file_metadata = @import("file_metadata.zig");
const Buffer = @import("buffer.zig").Buffer;
const Composite = @import("composite.zig").Composite;
const Descriptor = @import("descriptor.zig").Descriptor;
const Handle = @import("handle.zig").Handle;
const Tensor = @import("tensor.zig").Tensor;
const TerminatedPath = @import("path.zig").TerminatedPath;

const Allocator = std.mem.Allocator;
const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// An opened model file: safetensors, .hrry, GGUF, .npy or .npz. A mapped file must not change while it, or a tensor of it, is in
/// use: when somebody else cuts it, whoever reads the missing part gets SIGBUS. With `Options.access` of `.read` a file that is
/// cut is an error. Tensors keep the mapping alive; the file may be ended before them.
///
/// Threads: used by one at a time.
pub const TensorFile = struct {
    handle: Handle(abi.c.HurrayFile, "file_destroy", "file"),

    /// How to open a file.
    pub const Options = struct {
        /// The format; `.auto`: whatever the content says.
        format: abi.constants.FileFormat = .auto,
        /// What happens to tensors whose data is not aligned to 64 bytes in the file: handed over as they lie (a base
        /// rounded down, and byte_offset), copied and counted, or refused with HurrayMisaligned.
        alignment: abi.constants.AlignmentPolicy = .offset,
        /// Whether the file is mapped, or read into memory of the library, which is counted as copied: for network file systems,
        /// and for files that somebody else may cut. Of no meaning for a file in memory.
        access: abi.constants.FileAccess = .map,
        /// Longest header, index or metadata section accepted, in bytes; 0: the default of the format (safetensors:
        /// 100,000,000).
        header_limit: u64 = 0,
        /// GGUF: what becomes of quantized blocks that are no exact scheme of Hurray's format: bytes as they lie, dequantized, or
        /// refused with HurrayUnsupported.
        inexact_blocks: abi.constants.InexactBlocks = .raw,
        /// GGUF: treats blocks that are an exact scheme (Q4_0, Q8_0, MXFP4) as `inexact_blocks` says, too.
        no_exact_schemes: bool = false,
        /// .hrry: accepts private layouts and quantization schemes, upon which writer and reader have agreed.
        private_tags: bool = false,
        /// .hrry: accepts element types, layouts and quantization schemes that are not known.
        permissive: bool = false,

        fn raw(self: Options) abi.c.HurrayFileOptions {
            const flags: abi.constants.FileFlags = .{
                .private_tags = self.private_tags,
                .permissive = self.permissive,
                .no_exact_schemes = self.no_exact_schemes,
            };
            return .{
                .struct_size = @sizeOf(abi.c.HurrayFileOptions),
                .format = @intFromEnum(self.format),
                .alignment = @intFromEnum(self.alignment),
                .access = @intFromEnum(self.access),
                .header_limit = self.header_limit,
                .inexact_blocks = @intFromEnum(self.inexact_blocks),
                .flags = @bitCast(flags),
            };
        }
    };

    /// Facts about the file.
    pub const Info = struct {
        format: abi.constants.FileFormat,
        tensor_count: u64,
        metadata_count: u64,
        /// Size of the file in bytes.
        file_size: u64,
        /// Bytes of tensor data copied so far (packing, alignment, repacking, decompression, reading without a map); 0 as long
        /// as all is mapped.
        copied_bytes: u64,
    };

    /// One tensor, without touching its data. The slices belong to the file.
    pub const TensorInfo = struct {
        /// UTF-8; may hold NUL characters.
        name: []const u8,
        element_type: abi.constants.ElementType,
        layout: abi.constants.Layout,
        /// How the elements are quantized; null when they are not.
        scheme: ?abi.constants.Scheme,
        shape: []const u64,
        /// Bits of one element, as the tensor will have them.
        bits: u32,
        /// Offset of the data in the file, in bytes.
        file_offset: u64,
        /// Bytes that the data takes in the file, as it lies there.
        byte_size: u64,
        /// The format's own word for the type ("F32", "Q4_K", "<f4"); empty for .hrry.
        stored_type: []const u8,
    };

    /// A part of the file, in bytes.
    pub const Range = struct { offset: u64, size: u64 };

    /// One metadata entry. The slices belong to the file.
    pub const Metadata = struct {
        /// UTF-8; may hold NUL characters.
        key: []const u8,
        value: file_metadata.MetadataValue,
    };

    /// Opens a file and checks every name, type, shape and range (.hrry: descriptors when they are asked for); no tensor data is
    /// read. The caller owns the result.
    ///
    /// Errors: HurrayIo, HurrayNotFound, HurrayInvalidFormat, HurrayLimitExceeded, HurrayUnsupported,
    /// HurrayInvalidArgument; the report has the byte offset in the file.
    pub fn open(path: []const u8, options: Options, diagnostics: ?*Diagnostics) Error!TensorFile {
        try library.ensure(diagnostics);
        var terminated: TerminatedPath = .{};
        const raw = options.raw();
        var out: ?*abi.c.HurrayFile = null;
        const name = try terminated.set(path, diagnostics);
        try diagnostics_.check(library.table.file_open(name, &raw, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Opens a file whose bytes lie in a buffer, which it shares: the buffer may be ended at once. Its tensors lie there, too. The
    /// memory must not change while the file, or a tensor of it, is in use. For a slice see `Buffer.fromStatic` and its likes.
    ///
    /// Errors: those of `open`; HurrayUnsupported: not host memory; HurrayInvalidSyncMode: not `producer_synced`.
    pub fn openBuffer(buffer: *const Buffer, options: Options, diagnostics: ?*Diagnostics) Error!TensorFile {
        const handle = try buffer.handle.get(diagnostics);
        const raw = options.raw();
        var out: ?*abi.c.HurrayFile = null;
        try diagnostics_.check(library.table.file_open_buffer(handle, &raw, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    pub fn info(self: *const TensorFile, diagnostics: ?*Diagnostics) Error!Info {
        const handle = try self.handle.get(diagnostics);
        var raw: abi.c.HurrayFileInfo = .{ .struct_size = @sizeOf(abi.c.HurrayFileInfo) };
        try diagnostics_.check(library.table.file_info(handle, &raw, diagnostics_.reportOf(diagnostics)));
        return .{
            .format = @enumFromInt(raw.format),
            .tensor_count = raw.tensor_count,
            .metadata_count = raw.metadata_count,
            .file_size = raw.file_size,
            .copied_bytes = raw.copied_bytes,
        };
    }

    /// Facts about the tensor at an index, in the order of the file's header. Errors: HurrayIndexOutOfBounds.
    pub fn tensorInfo(self: *const TensorFile, index: u64, diagnostics: ?*Diagnostics) Error!TensorInfo {
        const handle = try self.handle.get(diagnostics);
        var raw: abi.c.HurrayFileTensorInfo = .{ .struct_size = @sizeOf(abi.c.HurrayFileTensorInfo) };
        try diagnostics_.check(library.table.file_tensor_info(handle, index, &raw, diagnostics_.reportOf(diagnostics)));
        return .{
            .name = text(raw.name, raw.name_length),
            .element_type = @enumFromInt(raw.element_type),
            .layout = @enumFromInt(raw.layout),
            .scheme = if (raw.scheme == 0) null else @enumFromInt(raw.scheme),
            .shape = if (raw.rank == 0) &.{} else raw.shape[0..raw.rank],
            .bits = raw.bits,
            .file_offset = raw.file_offset,
            .byte_size = raw.byte_size,
            .stored_type = text(raw.stored_type, raw.stored_type_length),
        };
    }

    /// The index of a tensor; null when there is none of that name.
    pub fn find(self: *const TensorFile, name: []const u8, diagnostics: ?*Diagnostics) Error!?u64 {
        const handle = try self.handle.get(diagnostics);
        var index: u64 = 0;
        const status = library.table.file_find(handle, name.ptr, name.len, &index, diagnostics_.reportOf(diagnostics));
        return if (try found(status, diagnostics)) index else null;
    }

    /// The descriptor of a tensor, without touching its data, which the caller owns. Where data that is not aligned is handed over
    /// as it lies, the tensor's own may differ from it in byte_offset and in the size of buffer 0, by the bytes in front.
    ///
    /// Errors: HurrayIndexOutOfBounds; .hrry: those of `Descriptor.decode`.
    pub fn descriptor(self: *const TensorFile, index: u64, diagnostics: ?*Diagnostics) Error!Descriptor {
        const handle = try self.handle.get(diagnostics);
        var out: ?*abi.c.HurrayDescriptor = null;
        try diagnostics_.check(library.table.file_descriptor(handle, index, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Where in the file the bytes of a tensor's buffer come from: for programs that read the file themselves. What is repacked or
    /// compressed has its range as it lies there. Errors: as `descriptor`.
    pub fn bufferRange(self: *const TensorFile, index: u64, buffer: u64, diagnostics: ?*Diagnostics) Error!Range {
        const handle = try self.handle.get(diagnostics);
        var range: Range = undefined;
        try diagnostics_.check(library.table.file_buffer_range(handle, index, buffer, &range.offset, &range.size, diagnostics_.reportOf(diagnostics)));
        return range;
    }

    /// The tensor at an index, over the mapped bytes. Nothing is copied, except where the file's form is not that of the
    /// format (truth values of a byte each, blocks that are repacked, big-endian numbers, compressed data), where the options ask
    /// for aligned copies, or where the file is not mapped. The caller owns the result, which keeps the mapping alive. Of a
    /// composite's head this is the head alone: see `composite`.
    ///
    /// Errors: HurrayIndexOutOfBounds; HurrayMisaligned: as the options demand; HurrayInvalidFormat: data that is
    /// none of its type, or a file that was cut; HurrayUnsupported; HurrayIo; HurrayOutOfMemory.
    pub fn tensor(self: *const TensorFile, index: u64, diagnostics: ?*Diagnostics) Error!Tensor {
        const handle = try self.handle.get(diagnostics);
        var out: ?*abi.c.HurrayTensor = null;
        try diagnostics_.check(library.table.file_tensor(handle, index, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// The tensor of a name. Errors: HurrayNotFound; and those of `tensor`.
    pub fn tensorByName(self: *const TensorFile, name: []const u8, diagnostics: ?*Diagnostics) Error!Tensor {
        const index = try self.find(name, diagnostics) orelse
            return diagnostics_.fail(diagnostics, .not_found, error.HurrayNotFound, "name: the file has no tensor \"{s}\"", .{name});
        return self.tensor(index, diagnostics);
    }

    /// The metadata entry at an index, in the order of the file. Errors: HurrayIndexOutOfBounds.
    pub fn metadata(self: *const TensorFile, index: u64, diagnostics: ?*Diagnostics) Error!Metadata {
        const handle = try self.handle.get(diagnostics);
        var raw: abi.c.HurrayFileMetadata = .{ .struct_size = @sizeOf(abi.c.HurrayFileMetadata) };
        try diagnostics_.check(library.table.file_metadata(handle, index, &raw, diagnostics_.reportOf(diagnostics)));
        return .{ .key = text(raw.key, raw.key_length), .value = .fromRaw(&raw) };
    }

    /// The index of a metadata entry; null when there is none of that key.
    pub fn findMetadata(self: *const TensorFile, key: []const u8, diagnostics: ?*Diagnostics) Error!?u64 {
        const handle = try self.handle.get(diagnostics);
        var index: u64 = 0;
        const status = library.table.file_find_metadata(handle, key.ptr, key.len, &index, diagnostics_.reportOf(diagnostics));
        return if (try found(status, diagnostics)) index else null;
    }

    /// The metadata value of a key; null when there is none.
    pub fn metadataByKey(self: *const TensorFile, key: []const u8, diagnostics: ?*Diagnostics) Error!?file_metadata.MetadataValue {
        const index = try self.findMetadata(key, diagnostics) orelse return null;
        return (try self.metadata(index, diagnostics)).value;
    }

    /// One element of an array among the metadata. Errors: HurrayIndexOutOfBounds; HurrayInvalidArgument: not an array.
    pub fn metadataElement(self: *const TensorFile, index: u64, element: u64, diagnostics: ?*Diagnostics) Error!file_metadata.MetadataValue {
        const handle = try self.handle.get(diagnostics);
        var raw: abi.c.HurrayFileMetadata = .{ .struct_size = @sizeOf(abi.c.HurrayFileMetadata) };
        try diagnostics_.check(library.table.file_metadata_element(handle, index, element, &raw, diagnostics_.reportOf(diagnostics)));
        return .fromRaw(&raw);
    }

    /// All elements of an array among the metadata, in memory of the allocator, which the caller frees; `T` is []const u8 (for
    /// strings and bytes, which belong to the file), i64, u64, f64 or bool.
    ///
    /// Errors: those of `metadataElement`; HurrayInvalidType: an element is no `T`.
    pub fn metadataArray(
        self: *const TensorFile,
        comptime T: type,
        allocator: Allocator,
        index: u64,
        diagnostics: ?*Diagnostics,
    ) (Error || Allocator.Error)![]T {
        const value = (try self.metadata(index, diagnostics)).value;
        const count = switch (value) {
            .array => |array| array.count,
            else => return diagnostics_.fail(diagnostics, .invalid_argument, error.HurrayInvalidArgument, "index: expected an array, got {t}", .{value}),
        };
        const items = try allocator.alloc(T, std.math.cast(usize, count) orelse return error.OutOfMemory);
        errdefer allocator.free(items);
        for (items, 0..) |*item, k| {
            const element = try self.metadataElement(index, k, diagnostics);
            item.* = file_metadata.elementFrom(T, element) orelse return diagnostics_.fail(
                diagnostics,
                .invalid_type,
                error.HurrayInvalidType,
                "element {d}: expected one that is {s}, got {t}",
                .{ k, @typeName(T), element },
            );
        }
        return items;
    }

    /// A composite of its head, at an index, and all its members. The caller owns the result, which keeps the mapping alive.
    ///
    /// Errors: those of `tensor`; HurrayInvalidArgument: no head of a composite; HurrayInvalidComposite.
    pub fn composite(self: *const TensorFile, index: u64, diagnostics: ?*Diagnostics) Error!Composite {
        const handle = try self.handle.get(diagnostics);
        var out: ?*abi.c.HurrayComposite = null;
        try diagnostics_.check(library.table.file_composite(handle, index, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Ends the file; one in memory may have the last share of it, and then releases it on this thread. A second end is a no-op.
    pub fn deinit(self: *TensorFile) void {
        self.handle.deinit();
    }

    /// Ends the file on a thread that must not run release callbacks: they wait on a queue.
    pub fn deinitDeferred(self: *TensorFile) void {
        self.handle.deinitDeferred();
    }

    const text = file_metadata.text;
};

/// Whether a search found something. Nothing to find is no failure.
fn found(status: i32, diagnostics: ?*Diagnostics) Error!bool {
    if (status == @intFromEnum(diagnostics_.Status.not_found)) {
        if (diagnostics) |d| d.* = .{};
        return false;
    }
    try diagnostics_.check(status);
    return true;
}

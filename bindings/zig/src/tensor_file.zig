//! Model files: open, list, and take tensors out without copying.

const std = @import("std");
const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const library = @import("library.zig");
const Handle = @import("handle.zig").Handle;
const Tensor = @import("tensor.zig").Tensor;
const TerminatedPath = @import("path.zig").TerminatedPath;

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// An opened, mapped model file. It must not change while it, or a tensor of it, is in use: when somebody else cuts it,
/// whoever reads the missing part gets SIGBUS. Tensors keep the mapping alive; the file may be ended before them.
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
        /// Longest header accepted, in bytes; 0: 100,000,000.
        header_limit: u64 = 0,
    };

    /// Facts about the file.
    pub const Info = struct {
        format: abi.constants.FileFormat,
        tensor_count: u64,
        metadata_count: u64,
        /// Size of the file in bytes.
        file_size: u64,
        /// Bytes of tensor data copied so far; 0 as long as all is mapped.
        copied_bytes: u64,
    };

    /// One tensor, without touching its data. The slices belong to the file.
    pub const TensorInfo = struct {
        /// UTF-8; may hold NUL characters.
        name: []const u8,
        element_type: abi.constants.ElementType,
        layout: abi.constants.Layout,
        shape: []const u64,
        /// Bits of one element, as the tensor will have them.
        bits: u32,
        /// Offset of the data in the file, in bytes.
        file_offset: u64,
        /// Bytes that the data takes in the file.
        byte_size: u64,
    };

    /// One metadata entry, UTF-8. The slices belong to the file.
    pub const Metadata = struct { key: []const u8, value: []const u8 };

    /// Opens a file and checks every name, type, shape and range; no tensor data is read. The caller owns the result.
    ///
    /// Errors: HurrayIo, HurrayNotFound, HurrayInvalidFormat, HurrayLimitExceeded, HurrayUnsupported,
    /// HurrayInvalidArgument; the report has the byte offset in the file.
    pub fn open(path: []const u8, options: Options, diagnostics: ?*Diagnostics) Error!TensorFile {
        try library.ensure(diagnostics);
        var terminated: TerminatedPath = .{};
        const raw: abi.c.HurrayFileOptions = .{
            .struct_size = @sizeOf(abi.c.HurrayFileOptions),
            .format = @intFromEnum(options.format),
            .alignment = @intFromEnum(options.alignment),
            .header_limit = options.header_limit,
        };
        var out: ?*abi.c.HurrayFile = null;
        const name = try terminated.set(path, diagnostics);
        try diagnostics_.check(library.table.file_open(name, &raw, &out, diagnostics_.reportOf(diagnostics)));
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
            .shape = if (raw.rank == 0) &.{} else raw.shape[0..raw.rank],
            .bits = raw.bits,
            .file_offset = raw.file_offset,
            .byte_size = raw.byte_size,
        };
    }

    /// The index of a tensor; null when there is none of that name.
    pub fn find(self: *const TensorFile, name: []const u8, diagnostics: ?*Diagnostics) Error!?u64 {
        const handle = try self.handle.get(diagnostics);
        var index: u64 = 0;
        const status = library.table.file_find(handle, name.ptr, name.len, &index, diagnostics_.reportOf(diagnostics));
        if (status == @intFromEnum(diagnostics_.Status.not_found)) {
            if (diagnostics) |d| d.* = .{};
            return null;
        }
        try diagnostics_.check(status);
        return index;
    }

    /// The tensor at an index, over the mapped bytes. Nothing is copied, except where the file's form is not that of the
    /// format (truth values of a byte each) or the options ask for aligned copies. The caller owns the result, which keeps
    /// the mapping alive.
    ///
    /// Errors: HurrayIndexOutOfBounds; HurrayMisaligned: as the options demand; HurrayInvalidFormat: a truth value is
    /// neither 0 nor 1; HurrayUnsupported; HurrayOutOfMemory.
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
        return .{ .key = text(raw.key, raw.key_length), .value = text(raw.value, raw.value_length) };
    }

    /// Ends the file. A second end is a no-op.
    pub fn deinit(self: *TensorFile) void {
        self.handle.deinit();
    }

    fn text(first: [*c]const u8, length: u64) []const u8 {
        return if (length == 0) &.{} else first[0..@intCast(length)];
    }
};

//! Streams of tensors over file descriptors and memory. (format: stream)

const std = @import("std");
const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const library = @import("library.zig");
const Handle = @import("handle.zig").Handle;
const Buffer = @import("buffer.zig").Buffer;
const Tensor = @import("tensor.zig").Tensor;

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// What becomes of a file descriptor when its reader or writer ends.
pub const FdOwnership = enum {
    /// It stays the caller's.
    borrow,
    /// It is closed.
    close,
};

/// Reads a stream. Threads: used by one at a time.
pub const TensorStreamReader = struct {
    handle: Handle(abi.c.HurrayReader, "reader_destroy", "stream reader"),

    pub const Options = struct {
        /// What becomes of the file descriptor; not used for memory.
        fd: FdOwnership = .borrow,
        /// Longest descriptor accepted, in bytes; 0: 16 MiB.
        max_descriptor_length: u64 = 0,
        /// Largest tensor accepted, in bytes over all its buffers; 0: no limit.
        max_tensor_bytes: u64 = 0,
        /// Accepts private layouts and quantization schemes, upon which writer and reader have agreed.
        private_tags: bool = false,
        /// Accepts element types and quantization schemes that are not known. A layout that is not known ends the stream
        /// with HurrayUnsupported: nobody knows where the next tensor starts.
        permissive: bool = false,

        fn raw(self: Options) abi.c.HurrayStreamOptions {
            const flags: abi.constants.StreamFlags = .{
                .close_fd = self.fd == .close,
                .private_tags = self.private_tags,
                .permissive = self.permissive,
            };
            return .{
                .struct_size = @sizeOf(abi.c.HurrayStreamOptions),
                .flags = @bitCast(flags),
                .max_descriptor_length = self.max_descriptor_length,
                .max_tensor_bytes = self.max_tensor_bytes,
            };
        }
    };

    /// Reads from a pipe, socket or file, from where it stands. The caller owns the result.
    pub fn fromFd(fd: std.posix.fd_t, options: Options, diagnostics: ?*Diagnostics) Error!TensorStreamReader {
        try library.ensure(diagnostics);
        const raw = options.raw();
        var out: ?*abi.c.HurrayReader = null;
        try diagnostics_.check(library.table.reader_from_fd(fd, &raw, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Reads from memory, which must stay as it is until the reader's end. Tensors are copied out of it. The caller owns
    /// the result.
    pub fn fromMemory(bytes: []const u8, options: Options, diagnostics: ?*Diagnostics) Error!TensorStreamReader {
        try library.ensure(diagnostics);
        const raw = options.raw();
        var out: ?*abi.c.HurrayReader = null;
        try diagnostics_.check(library.table.reader_from_memory(bytes.ptr, bytes.len, &raw, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// The next tensor, which the caller owns; null at the clean end of the stream.
    ///
    /// Errors: those of `Descriptor.decode`; HurrayInvalidFormat: the stream ends within a tensor; HurrayLimitExceeded;
    /// HurrayIo; HurrayOutOfMemory. The byte offset is that in the stream. After an error the reader can only be ended.
    pub fn next(self: *TensorStreamReader, diagnostics: ?*Diagnostics) Error!?Tensor {
        const handle = try self.handle.get(diagnostics);
        var out: ?*abi.c.HurrayTensor = null;
        try diagnostics_.check(library.table.reader_next(handle, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out orelse return null) };
    }

    /// Ends the reader; tensors that it gave out are not affected. A second end is a no-op.
    pub fn deinit(self: *TensorStreamReader) void {
        self.handle.deinit();
    }
};

/// Writes a stream. Threads: used by one at a time.
pub const TensorStreamWriter = struct {
    handle: Handle(abi.c.HurrayWriter, "writer_destroy", "stream writer"),

    /// Writes to a file descriptor. A pipe that nobody reads is an error, not a signal. The caller owns the result.
    pub fn toFd(fd: std.posix.fd_t, ownership: FdOwnership, diagnostics: ?*Diagnostics) Error!TensorStreamWriter {
        try library.ensure(diagnostics);
        const options: TensorStreamReader.Options = .{ .fd = ownership };
        const raw = options.raw();
        var out: ?*abi.c.HurrayWriter = null;
        try diagnostics_.check(library.table.writer_to_fd(fd, &raw, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Writes into memory that grows; see `take`. The caller owns the result.
    pub fn toMemory(diagnostics: ?*Diagnostics) Error!TensorStreamWriter {
        try library.ensure(diagnostics);
        var out: ?*abi.c.HurrayWriter = null;
        try diagnostics_.check(library.table.writer_to_memory(&out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Writes a tensor: its descriptor and the bytes of its buffers.
    ///
    /// Errors: HurrayIo; HurrayUnsupported: not host memory, or not PRODUCER_SYNCED. After an error in the middle of a
    /// tensor the writer can only be ended.
    pub fn write(self: *TensorStreamWriter, tensor: *const Tensor, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        const written = try tensor.handle.get(diagnostics);
        try diagnostics_.check(library.table.writer_write(handle, written, diagnostics_.reportOf(diagnostics)));
    }

    /// What was written into memory so far, as a buffer of the caller's; the writer goes on with an empty one.
    ///
    /// Errors: HurrayInvalidArgument: the writer does not write into memory.
    pub fn take(self: *TensorStreamWriter, diagnostics: ?*Diagnostics) Error!Buffer {
        const handle = try self.handle.get(diagnostics);
        var out: ?*abi.c.HurrayBuffer = null;
        try diagnostics_.check(library.table.writer_take(handle, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Ends the writer. What was written stays written. A second end is a no-op.
    pub fn deinit(self: *TensorStreamWriter) void {
        self.handle.deinit();
    }
};

//! Streams of tensors over file descriptors, memory, and the language's own readers and writers. (format: stream)

const std = @import("std");
const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const library = @import("library.zig");
const own_streams = @import("own_streams.zig");
const Handle = @import("handle.zig").Handle;
const Buffer = @import("buffer.zig").Buffer;
const Composite = @import("composite.zig").Composite;
const Descriptor = @import("descriptor.zig").Descriptor;
const Tensor = @import("tensor.zig").Tensor;

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;
const Watch = @import("callback_failure.zig").Watch;

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
        /// What becomes of the file descriptor; not used for other sources.
        fd: FdOwnership = .borrow,
        /// Longest descriptor accepted, in bytes; 0: 16 MiB.
        max_descriptor_length: u64 = 0,
        /// Largest tensor accepted, in bytes over all its buffers; 0: no limit.
        max_tensor_bytes: u64 = 0,
        /// Largest alignment of a buffer accepted, in bytes; 0: 2 MiB.
        max_alignment: u32 = 0,
        /// Accepts private layouts and quantization schemes, upon which writer and reader have agreed.
        private_tags: bool = false,
        /// Accepts element types and quantization schemes that are not known. A layout that is not known ends the stream
        /// with HurrayUnsupported: nobody knows where the next tensor starts.
        permissive: bool = false,
        /// What is read is no stream but a .hrry file, from its start and in sequence: from a pipe or socket, which cannot be
        /// mapped. Tensors come in the order in which they were written; see `TensorStreamReader.name`.
        hrry_file: bool = false,

        fn raw(self: Options) abi.c.HurrayStreamOptions {
            const flags: abi.constants.StreamFlags = .{
                .close_fd = self.fd == .close,
                .private_tags = self.private_tags,
                .permissive = self.permissive,
                .hrry_file = self.hrry_file,
            };
            return .{
                .struct_size = @sizeOf(abi.c.HurrayStreamOptions),
                .flags = @bitCast(flags),
                .max_descriptor_length = self.max_descriptor_length,
                .max_tensor_bytes = self.max_tensor_bytes,
                .max_alignment = self.max_alignment,
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

    /// Reads from a reader, on the threads that use this object, and never bytes beyond the tensor that was asked for. It must stay
    /// where it is until the end of this object. When it fails, so does the call that reads, with HurrayIo. The caller owns the
    /// result.
    pub fn fromReader(reader: *std.Io.Reader, options: Options, diagnostics: ?*Diagnostics) Error!TensorStreamReader {
        try library.ensure(diagnostics);
        const raw = options.raw();
        var out: ?*abi.c.HurrayReader = null;
        try diagnostics_.check(library.table.reader_from_callback(own_streams.read, reader, &raw, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// The next tensor, which the caller owns; null at the clean end of the stream.
    ///
    /// Errors: those of `Descriptor.decode`; HurrayInvalidFormat: the stream ends within a tensor; HurrayLimitExceeded;
    /// HurrayIo; HurrayOutOfMemory. The byte offset is that in the stream. After an error the reader can only be ended, but for
    /// HurrayInvalidArgument, a tensor that was begun is not complete: then nothing has changed.
    pub fn next(self: *TensorStreamReader, diagnostics: ?*Diagnostics) Error!?Tensor {
        const handle = try self.handle.get(diagnostics);
        var out: ?*abi.c.HurrayTensor = null;
        const watch: Watch = .begin();
        try watch.check(library.table.reader_next(handle, &out, diagnostics_.reportOf(diagnostics)), diagnostics);
        return .{ .handle = .init(out orelse return null) };
    }

    /// The next tensor or, where a head comes, the whole composite, which the caller owns; null at the clean end of the stream. A
    /// reader is used with this function or with `next`, which gives heads and members as tensors.
    ///
    /// Errors: those of `next`; HurrayInvalidComposite: a composite that is torn, or whose members do not fit (a permissive reader
    /// gives what came of it as tensors); HurrayLimitExceeded: more than 2^20 descriptors. (format: stream, composite)
    pub fn nextItem(self: *TensorStreamReader, diagnostics: ?*Diagnostics) Error!?Composite.Member {
        const handle = try self.handle.get(diagnostics);
        var tensor: ?*abi.c.HurrayTensor = null;
        var composite: ?*abi.c.HurrayComposite = null;
        const watch: Watch = .begin();
        try watch.check(library.table.reader_next_item(handle, &tensor, &composite, diagnostics_.reportOf(diagnostics)), diagnostics);
        return Composite.Member.fromRaw(tensor, composite);
    }

    /// Begins the next tensor: its descriptor, checked, which the caller owns, before any of its data is there; null at the clean
    /// end of the stream. Its data follows with `read`, or is passed over with `skip`; one of them must have come to its end before
    /// the next tensor. Heads and members of composites are begun each in its turn.
    ///
    /// Errors: those of `next`; HurrayInvalidComposite.
    pub fn begin(self: *TensorStreamReader, diagnostics: ?*Diagnostics) Error!?Descriptor {
        const handle = try self.handle.get(diagnostics);
        var out: ?*abi.c.HurrayDescriptor = null;
        const watch: Watch = .begin();
        try watch.check(library.table.reader_begin(handle, &out, diagnostics_.reportOf(diagnostics)), diagnostics);
        return .{ .handle = .init(out orelse return null) };
    }

    /// Reads the next bytes of the tensor that was begun, and returns that part of `into`: those of its buffers in the order of its
    /// table, never of two buffers in one call. Waits for the first byte and gives what is there; nothing: the tensor is complete,
    /// or `into` is empty.
    ///
    /// Errors: HurrayInvalidArgument: no tensor was begun; HurrayInvalidFormat: the stream ends within it; HurrayIo.
    pub fn read(self: *TensorStreamReader, into: []u8, diagnostics: ?*Diagnostics) Error![]u8 {
        const handle = try self.handle.get(diagnostics);
        var count: u64 = 0;
        const watch: Watch = .begin();
        try watch.check(library.table.reader_read(handle, into.ptr, into.len, &count, diagnostics_.reportOf(diagnostics)), diagnostics);
        return into[0..@intCast(count)];
    }

    /// Passes over what is left of the tensor that was begun; in a regular file nothing is read for it. Errors: as `read`.
    pub fn skip(self: *TensorStreamReader, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        const watch: Watch = .begin();
        return watch.check(library.table.reader_skip(handle, diagnostics_.reportOf(diagnostics)), diagnostics);
    }

    /// The name of a tensor of a .hrry file, by its place in the order in which they came; heads and members of composites count
    /// each. Names stand at the end of the file: they are there once `next` or `begin` has told the end. The slice belongs to the
    /// reader.
    ///
    /// Errors: HurrayInvalidArgument: no .hrry file, or the end was not reached; HurrayIndexOutOfBounds.
    pub fn name(self: *const TensorStreamReader, index: u64, diagnostics: ?*Diagnostics) Error![]const u8 {
        const handle = try self.handle.get(diagnostics);
        var first: ?[*]const u8 = null;
        var length: u64 = 0;
        try diagnostics_.check(library.table.reader_name(handle, index, &first, &length, diagnostics_.reportOf(diagnostics)));
        return if (length == 0) &.{} else first.?[0..@intCast(length)];
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

    /// Writes to a writer, on the threads that use this object. It must stay where it is until the end of this object, and the
    /// caller flushes it. When it fails, so does the call that writes, with HurrayIo. The caller owns the result.
    pub fn toWriter(writer: *std.Io.Writer, diagnostics: ?*Diagnostics) Error!TensorStreamWriter {
        try library.ensure(diagnostics);
        var out: ?*abi.c.HurrayWriter = null;
        try diagnostics_.check(library.table.writer_to_callback(own_streams.write, writer, null, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Writes a tensor: its descriptor and the bytes of its buffers.
    ///
    /// Errors: HurrayIo; HurrayUnsupported: not host memory, or not PRODUCER_SYNCED. After an error in the middle of a
    /// tensor the writer can only be ended.
    pub fn write(self: *TensorStreamWriter, tensor: *const Tensor, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        const written = try tensor.handle.get(diagnostics);
        const watch: Watch = .begin();
        return watch.check(library.table.writer_write(handle, written, diagnostics_.reportOf(diagnostics)), diagnostics);
    }

    /// Writes a composite: its head, and behind it its members, those of inner composites behind their heads.
    ///
    /// Errors: as `write`. (format: stream, composite)
    pub fn writeComposite(self: *TensorStreamWriter, composite: *const Composite, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        const written = try composite.handle.get(diagnostics);
        const watch: Watch = .begin();
        return watch.check(library.table.writer_write_composite(handle, written, diagnostics_.reportOf(diagnostics)), diagnostics);
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

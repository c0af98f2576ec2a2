//! Writes model files.

const std = @import("std");
const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const callback_failure = @import("callback_failure.zig");
const handoff = @import("handoff.zig");
const library = @import("library.zig");
const own_streams = @import("own_streams.zig");
const Composite = @import("composite.zig").Composite;
const Descriptor = @import("descriptor.zig").Descriptor;
const MetadataValue = @import("file_metadata.zig").MetadataValue;
const Handle = @import("handle.zig").Handle;
const Tensor = @import("tensor.zig").Tensor;
const TerminatedPath = @import("path.zig").TerminatedPath;

const Allocator = std.mem.Allocator;
const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;
const Watch = callback_failure.Watch;

/// A model file that is being written, front to back. At a path, until `finish` succeeds a file of that name stays as it was, also when it is the one
/// that the tensors are mapped from; elsewhere what was written stays written. Threads: used by one at a time.
pub const TensorFileWriter = struct {
    handle: Handle(abi.c.HurrayFileWriter, "file_writer_destroy", "file writer"),

    /// How to write a file.
    pub const Options = struct {
        format: abi.constants.FileFormat,
        /// .hrry: alignment of every buffer in the file, in bytes, a power of two from 4096 to 2 MiB; GGUF: a power of two, at
        /// least 8; 0: the default of the format, and the only choice of the others.
        data_alignment: u32 = 0,
        /// .hrry: keeps the index in the order in which the tensors were added, instead of sorted by name.
        unsorted_index: bool = false,
        /// .npz: compresses with deflate.
        compress: bool = false,

        fn raw(self: Options) abi.c.HurrayFileWriterOptions {
            const flags: abi.constants.FileWriterFlags = .{
                .writer_unsorted_index = self.unsorted_index,
                .writer_compress = self.compress,
            };
            return .{
                .struct_size = @sizeOf(abi.c.HurrayFileWriterOptions),
                .format = @intFromEnum(self.format),
                .data_alignment = self.data_alignment,
                .flags = @bitCast(flags),
            };
        }
    };

    /// Starts a file with the default options of its format. The caller owns the result.
    ///
    /// Errors: HurrayInvalidArgument: no such format, an empty path, or something that is no file is in the way;
    /// HurrayNotFound: no such folder; HurrayIo.
    pub fn create(path: []const u8, format: abi.constants.FileFormat, diagnostics: ?*Diagnostics) Error!TensorFileWriter {
        return createOptions(path, .{ .format = format }, diagnostics);
    }

    /// As `create`, with options. Errors also: HurrayInvalidArgument: options that are not the format's.
    pub fn createOptions(path: []const u8, options: Options, diagnostics: ?*Diagnostics) Error!TensorFileWriter {
        try library.ensure(diagnostics);
        var terminated: TerminatedPath = .{};
        const name = try terminated.set(path, diagnostics);
        const raw = options.raw();
        var out: ?*abi.c.HurrayFileWriter = null;
        try diagnostics_.check(library.table.file_writer_create_with(name, &raw, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Starts a file that goes to a file descriptor, which may be a pipe or socket, from where it stands. It stays the caller's, and
    /// open until the writer's end. Errors: HurrayInvalidArgument.
    pub fn toFd(fd: std.posix.fd_t, options: Options, diagnostics: ?*Diagnostics) Error!TensorFileWriter {
        try library.ensure(diagnostics);
        const raw = options.raw();
        var out: ?*abi.c.HurrayFileWriter = null;
        try diagnostics_.check(library.table.file_writer_to_fd(fd, &raw, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Starts a file that goes to a writer, which must stay where it is until the end of this object, and which the caller flushes
    /// after `finish`. When it fails, so does the call that writes, with HurrayIo. Errors: HurrayInvalidArgument.
    pub fn toWriter(writer: *std.Io.Writer, options: Options, diagnostics: ?*Diagnostics) Error!TensorFileWriter {
        try library.ensure(diagnostics);
        const raw = options.raw();
        var out: ?*abi.c.HurrayFileWriter = null;
        try diagnostics_.check(library.table.file_writer_to_callback(own_streams.write, writer, &raw, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Adds a tensor under a name (UTF-8, may hold NUL characters). .hrry and .npz write it at once; the others share its memory,
    /// without a copy, until the file is finished or the writer ended. The tensor may be ended at once.
    ///
    /// Errors: HurrayInvalidArgument: a name that is taken, not fit for the format or no UTF-8; HurrayUnsupported: the format
    /// cannot hold it; HurrayIo, upon which the writer can only be ended.
    pub fn add(self: *TensorFileWriter, name: []const u8, tensor: *const Tensor, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        const added = try tensor.handle.get(diagnostics);
        const watch: Watch = .begin();
        return watch.check(library.table.file_writer_add(handle, name.ptr, name.len, added, diagnostics_.reportOf(diagnostics)), diagnostics);
    }

    /// Announces a tensor that `make(owner, diagnostics)` makes when it is written: at once, or in `finish`, as `add` says. So a
    /// conversion needs memory for one tensor at a time. The tensor that it returns moves into the writer. `owner` is a pointer,
    /// and lives until the tensor is written or the writer ended. It runs at most once, and must not use the writer.
    ///
    /// An error of it is that of the call that writes, with what it reported: those of `Error` as they are, OutOfMemory as
    /// HurrayOutOfMemory, all others as HurrayInternalPanic with their name in the report. The writer is to be ended then.
    ///
    /// Errors: those of `add`; HurrayInvalidArgument: the tensor is another one than was announced (type, layout, shape,
    /// sections, sizes of the buffers).
    pub fn addSource(
        self: *TensorFileWriter,
        name: []const u8,
        descriptor: *const Descriptor,
        owner: anytype,
        comptime make: fn (owner: @TypeOf(owner), diagnostics: *Diagnostics) anyerror!Tensor,
        diagnostics: ?*Diagnostics,
    ) Error!void {
        handoff.requirePointer(@TypeOf(owner));
        const callback = struct {
            fn run(context: ?*anyopaque, out_tensor: ?*?*abi.c.HurrayTensor) callconv(.c) i32 {
                var report: Diagnostics = .{};
                out_tensor.?.* = given(make(@ptrCast(@alignCast(context.?)), &report), &report) catch |err|
                    return callback_failure.note(err, &report, .internal_panic);
                return 0;
            }

            fn given(answer: anyerror!Tensor, report: *Diagnostics) anyerror!*abi.c.HurrayTensor {
                var tensor = try answer;
                return tensor.intoRaw(report);
            }
        };
        const handle = try self.handle.get(diagnostics);
        const announced = try descriptor.handle.get(diagnostics);
        const report = diagnostics_.reportOf(diagnostics);
        const context = handoff.address(owner);
        const watch: Watch = .begin();
        return watch.check(library.table.file_writer_add_source(handle, name.ptr, name.len, announced, callback.run, context, report), diagnostics);
    }

    /// Adds a composite: its head under `name`, its members, in pre-order, as `name/0`, `name/1`, ..., those of an inner one as
    /// `name/1/0`, ... It may be ended at once. Errors: those of `add`; HurrayUnsupported: all formats but .hrry.
    pub fn addComposite(self: *TensorFileWriter, name: []const u8, composite: *const Composite, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        const added = try composite.handle.get(diagnostics);
        const watch: Watch = .begin();
        return watch.check(library.table.file_writer_add_composite(handle, name.ptr, name.len, added, diagnostics_.reportOf(diagnostics)), diagnostics);
    }

    /// Sets a metadata entry to a text; both are copied, and the last value of a key counts. Errors: HurrayInvalidArgument: a text
    /// that is no UTF-8, or a key that the format does not have; HurrayUnsupported: the format has no metadata.
    pub fn setMetadata(self: *TensorFileWriter, key: []const u8, value: []const u8, diagnostics: ?*Diagnostics) Error!void {
        return self.setMetadataValue(key, .{ .string = value }, diagnostics);
    }

    /// Sets a metadata entry to a value of any type but an array. Errors: those of `setMetadata`; HurrayUnsupported: the format
    /// cannot hold such a value.
    pub fn setMetadataValue(self: *TensorFileWriter, key: []const u8, value: MetadataValue, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        const raw = try value.toRaw(diagnostics);
        try diagnostics_.check(library.table.file_writer_set_value(handle, key.ptr, key.len, &raw, diagnostics_.reportOf(diagnostics)));
    }

    /// Sets a metadata entry to an array of elements that are all of one type. The allocator is used during the call.
    ///
    /// Errors: those of `setMetadataValue`; HurrayInvalidArgument: an element of another type.
    pub fn setMetadataArray(
        self: *TensorFileWriter,
        allocator: Allocator,
        key: []const u8,
        element_type: abi.constants.MetadataType,
        elements: []const MetadataValue,
        diagnostics: ?*Diagnostics,
    ) (Error || Allocator.Error)!void {
        const handle = try self.handle.get(diagnostics);
        const raw = try allocator.alloc(abi.c.HurrayFileMetadata, elements.len);
        defer allocator.free(raw);
        for (raw, elements) |*element, value| element.* = try value.toRaw(diagnostics);
        const report = diagnostics_.reportOf(diagnostics);
        const kind = @intFromEnum(element_type);
        try diagnostics_.check(library.table.file_writer_set_array(handle, key.ptr, key.len, kind, raw.ptr, raw.len, report));
    }

    /// How many bytes were gathered, unpacked or converted on their way into the file so far; all others were written from where
    /// they lie.
    pub fn copiedBytes(self: *const TensorFileWriter, diagnostics: ?*Diagnostics) Error!u64 {
        const handle = try self.handle.get(diagnostics);
        var bytes: u64 = 0;
        try diagnostics_.check(library.table.file_writer_copied_bytes(handle, &bytes, diagnostics_.reportOf(diagnostics)));
        return bytes;
    }

    /// Writes what is left; a file with a path comes to disk and under its name in one step. Afterwards the writer can only be
    /// ended.
    ///
    /// Errors: HurrayIo: the old file, if any, is as it was; HurrayNotFound: the folder is gone; HurrayLimitExceeded: the header
    /// would be longer than readers accept; HurrayInvalidArgument: finished already, or a source gave another tensor than the
    /// announced one; those of sources.
    pub fn finish(self: *TensorFileWriter, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        const watch: Watch = .begin();
        return watch.check(library.table.file_writer_finish(handle, diagnostics_.reportOf(diagnostics)), diagnostics);
    }

    /// Ends the writer. Without a successful `finish` nothing remains of what it wrote. A second end is a no-op.
    pub fn deinit(self: *TensorFileWriter) void {
        self.handle.deinit();
    }

    /// Ends the writer on a thread that must not run release callbacks: those of tensors of which it held the last share
    /// wait on a queue.
    pub fn deinitDeferred(self: *TensorFileWriter) void {
        self.handle.deinitDeferred();
    }
};

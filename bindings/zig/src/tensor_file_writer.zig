//! Writes model files.

const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const library = @import("library.zig");
const Handle = @import("handle.zig").Handle;
const Tensor = @import("tensor.zig").Tensor;
const TerminatedPath = @import("path.zig").TerminatedPath;

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// A model file that is being written. Until `finish` succeeds a file of that name stays as it was, also when it is the one
/// that the tensors are mapped from. Threads: used by one at a time.
pub const TensorFileWriter = struct {
    handle: Handle(abi.c.HurrayFileWriter, "file_writer_destroy", "file writer"),

    /// Starts a file. The caller owns the result.
    ///
    /// Errors: HurrayInvalidArgument: no such format, an empty path, or something that is no file is in the way;
    /// HurrayNotFound: no such folder; HurrayIo.
    pub fn create(path: []const u8, format: abi.constants.FileFormat, diagnostics: ?*Diagnostics) Error!TensorFileWriter {
        try library.ensure(diagnostics);
        var terminated: TerminatedPath = .{};
        var out: ?*abi.c.HurrayFileWriter = null;
        const name = try terminated.set(path, diagnostics);
        try diagnostics_.check(library.table.file_writer_create(name, @intFromEnum(format), &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Adds a tensor under a name (UTF-8, may hold NUL characters). Its memory is shared, not copied, until the file is
    /// finished or the writer ended; the tensor may be ended at once.
    ///
    /// Errors: HurrayInvalidArgument: a name that is taken or no UTF-8; HurrayUnsupported: the format cannot hold it.
    pub fn add(self: *TensorFileWriter, name: []const u8, tensor: *const Tensor, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        const added = try tensor.handle.get(diagnostics);
        try diagnostics_.check(library.table.file_writer_add(handle, name.ptr, name.len, added, diagnostics_.reportOf(diagnostics)));
    }

    /// Sets a metadata entry; both texts are copied, and the last value of a key counts. Errors: HurrayInvalidArgument: a
    /// text that is no UTF-8.
    pub fn setMetadata(self: *TensorFileWriter, key: []const u8, value: []const u8, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        const report = diagnostics_.reportOf(diagnostics);
        try diagnostics_.check(library.table.file_writer_set_metadata(handle, key.ptr, key.len, value.ptr, value.len, report));
    }

    /// Writes the file to disk and puts it under its name in one step. Afterwards the writer can only be ended.
    ///
    /// Errors: HurrayIo: the old file, if any, is as it was; HurrayInvalidArgument: finished already.
    pub fn finish(self: *TensorFileWriter, diagnostics: ?*Diagnostics) Error!void {
        const handle = try self.handle.get(diagnostics);
        try diagnostics_.check(library.table.file_writer_finish(handle, diagnostics_.reportOf(diagnostics)));
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

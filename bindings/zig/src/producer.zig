//! Producers that ask their consumer for a stream before they export a tensor. (ABI: Buffer Handoff Synchronisation)

const std = @import("std");
const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const handoff = @import("handoff.zig");
const library = @import("library.zig");
const Guard = @import("guard.zig").Guard;
const Tensor = @import("tensor.zig").Tensor;

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;
const Stream = handoff.Stream;

/// Exports tensors, each for the stream of whoever asks. `&producer.raw` is the HurrayProducer * that other runtimes in the
/// process know; it points into this object, which must stay where it is as long as they use it.
///
/// Threads: used by one at a time. The functions run on the thread that asks.
pub const Producer = struct {
    raw: abi.c.HurrayProducer,
    guard: Guard,

    /// A producer that answers with `exportTensor(owner, stream, diagnostics)`: a pair of list and context, which moves to
    /// the consumer. `stream` is the consumer's, null when it has none: then no buffer may be of sync mode consumer_stream.
    /// Before it returns, the function has issued the dependency of that stream on its writes, for every buffer that it hands
    /// off with it. An error goes to the consumer as a status, with what `diagnostics` says, or with the error's name: those
    /// of `Error` as their own status, OutOfMemory as HurrayOutOfMemory, all others as HurrayInternalPanic.
    ///
    /// `onRelease(owner)` runs exactly once, when the producer ends. `owner` is a pointer; nothing is allocated.
    pub fn init(
        owner: anytype,
        comptime exportTensor: fn (owner: @TypeOf(owner), stream: ?Stream, diagnostics: *Diagnostics) anyerror!Tensor.Exported,
        comptime onRelease: fn (owner: @TypeOf(owner)) void,
    ) Producer {
        const Owner = @TypeOf(owner);
        handoff.requirePointer(Owner);
        const functions = struct {
            fn run(
                context: ?*anyopaque,
                consumer_stream: ?*anyopaque,
                device: u8,
                out_list: ?*?*abi.c.HurrayBufferList,
                out_context: ?*?*abi.c.HurrayTensorContext,
                report: ?*abi.c.HurrayError,
            ) callconv(.c) i32 {
                out_list.?.* = null;
                out_context.?.* = null;
                var diagnostics: Diagnostics = .{};
                const stream: ?Stream = if (consumer_stream) |handle| .{ .handle = handle, .device = @enumFromInt(device) } else null;
                const pair = exportRaw(exportTensor(@ptrCast(@alignCast(context.?)), stream, &diagnostics), &diagnostics) catch |err|
                    return refuse(err, &diagnostics, report);
                out_list.?.*, out_context.?.* = pair;
                return 0;
            }

            fn release(context: ?*anyopaque) callconv(.c) void {
                onRelease(@ptrCast(@alignCast(context.?)));
            }
        };
        return .{
            .raw = .{
                .struct_size = @sizeOf(abi.c.HurrayProducer),
                .abi_version = library.built_for_version,
                .context = handoff.address(owner),
                .export_tensor = functions.run,
                .release = functions.release,
            },
            .guard = .begin(),
        };
    }

    /// Asks this producer for a tensor, as a consumer does: see `requestFrom`. Errors also: HurrayClosed.
    pub fn request(self: *const Producer, stream: ?Stream, diagnostics: ?*Diagnostics) Error!Tensor {
        if (!self.guard.alive()) return closed(diagnostics);
        return requestFrom(&self.raw, stream, diagnostics);
    }

    /// Asks a producer, of whatever runtime, for a tensor that the caller owns. `stream` is the caller's: buffers of sync mode
    /// consumer_stream are ordered on it. Null: there is none.
    ///
    /// Errors: HurrayVersionMismatch; HurraySyncModeMismatch: a buffer is ordered on another stream; HurrayNullPointer: no
    /// producer, one that was released, or one that exported nothing; those of the producer, and those of `Tensor.import`. On
    /// failure everything that it exported has ended.
    pub fn requestFrom(producer: ?*const abi.c.HurrayProducer, stream: ?Stream, diagnostics: ?*Diagnostics) Error!Tensor {
        try library.ensure(diagnostics);
        const asked = producer orelse return nullProducer(diagnostics);
        const handle, const device = if (stream) |s| .{ s.handle, @intFromEnum(s.device) } else .{ null, 0 };
        var out: ?*abi.c.HurrayTensor = null;
        try diagnostics_.check(library.table.producer_request(asked, handle, device, &out, diagnostics_.reportOf(diagnostics)));
        return .{ .handle = .init(out.?) };
    }

    /// Releases a producer of another runtime that was given away to the caller. A second release is a no-op.
    pub fn releaseRaw(producer: ?*abi.c.HurrayProducer, diagnostics: ?*Diagnostics) Error!void {
        try library.ensure(diagnostics);
        const released = producer orelse return nullProducer(diagnostics);
        try diagnostics_.check(library.table.producer_release(released, diagnostics_.reportOf(diagnostics)));
    }

    /// Ends the producer and releases its owner, on this thread. A second end is a no-op. Tensors that it exported live on.
    pub fn deinit(self: *Producer) void {
        if (!self.guard.end()) return;
        if (library.ensure(null)) {
            // There is nobody to tell that a release of C++ threw.
            releaseRaw(&self.raw, null) catch {};
        } else |_| {
            // Without a library nobody else has seen it.
            const release = self.raw.release orelse return;
            self.raw.export_tensor = null;
            self.raw.release = null;
            release(self.raw.context);
        }
    }

    fn closed(diagnostics: ?*Diagnostics) Error {
        return diagnostics_.fail(diagnostics, .invalid_handle, error.HurrayClosed, "the producer was ended before", .{});
    }

    fn nullProducer(diagnostics: ?*Diagnostics) Error {
        return diagnostics_.fail(diagnostics, .null_pointer, error.HurrayNullPointer, "producer: expected one, got null", .{});
    }
};

/// Takes both handles out of what an export gave, or neither.
fn exportRaw(
    answer: anyerror!Tensor.Exported,
    diagnostics: *Diagnostics,
) anyerror!struct { *abi.c.HurrayBufferList, *abi.c.HurrayTensorContext } {
    var exported = try answer;
    defer exported.deinit();
    _ = try exported.list.handle.get(diagnostics);
    _ = try exported.context.handle.get(diagnostics);
    return .{ exported.list.handle.take().?, exported.context.handle.take().? };
}

/// Puts an error of a producer's into the consumer's report, and returns its status.
fn refuse(err: anyerror, diagnostics: *Diagnostics, report: ?*abi.c.HurrayError) i32 {
    const status = diagnostics_.statusOf(err, diagnostics);
    // A report of something that the producer got over says nothing of this error.
    if (diagnostics.report.code != status) diagnostics_.describe(diagnostics, status, "the producer failed: {s}", .{@errorName(err)});
    if (report) |out| out.* = diagnostics.report;
    return status;
}

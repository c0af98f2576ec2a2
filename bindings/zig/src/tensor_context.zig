//! The descriptor of a tensor, as it travels between runtimes beside its buffers.

const std = @import("std");
const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const library = @import("library.zig");
const Handle = @import("handle.zig").Handle;
const buffer_ = @import("buffer.zig");

const Allocator = std.mem.Allocator;
const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// Carries an encoded descriptor, the version of the C ABI of whoever made it, and what keeps the tensor's memory alive.
/// Threads: used by one at a time.
pub const TensorContext = struct {
    handle: Handle(abi.c.HurrayTensorContext, "tensor_context_destroy", "tensor context"),

    /// Copies an encoded descriptor, without looking at it. The caller owns the result.
    pub fn init(encoded: []const u8, diagnostics: ?*Diagnostics) Error!TensorContext {
        return make(library.built_for_version, encoded, null, null, diagnostics);
    }

    /// As `init`, with an owner: `onRelease(owner)` runs exactly once, when the context ends or, after a tensor was made
    /// from it, when the last share of its memory goes. On failure it does not run. What the callback needs is allocated
    /// with the allocator and freed before it runs.
    pub fn initOwner(
        allocator: Allocator,
        encoded: []const u8,
        owner: anytype,
        comptime onRelease: fn (owner: @TypeOf(owner)) void,
        diagnostics: ?*Diagnostics,
    ) (Error || Allocator.Error)!TensorContext {
        const Owner = struct {
            allocator: Allocator,
            owner: @TypeOf(owner),

            fn release(context: ?*anyopaque) callconv(.c) void {
                const self: *@This() = @ptrCast(@alignCast(context.?));
                const kept = self.owner;
                self.allocator.destroy(self);
                onRelease(kept);
            }
        };
        const kept = try allocator.create(Owner);
        errdefer allocator.destroy(kept);
        kept.* = .{ .allocator = allocator, .owner = owner };
        const context = try make(library.built_for_version, encoded, kept, Owner.release, diagnostics);
        // A fresh context takes the queue.
        std.debug.assert(library.table.tensor_context_set_release_queue(context.handle.pointer.?, library.releaseQueue(), null) == 0);
        return context;
    }

    /// As `init`, in the name of another version of the C ABI: for tests of what consumers refuse.
    pub fn initVersion(abi_version: u32, encoded: []const u8, diagnostics: ?*Diagnostics) Error!TensorContext {
        return make(abi_version, encoded, null, null, diagnostics);
    }

    fn make(
        abi_version: u32,
        encoded: []const u8,
        owner: ?*anyopaque,
        release: ?abi.callbacks.OwnerReleaseFn,
        diagnostics: ?*Diagnostics,
    ) Error!TensorContext {
        try library.ensure(diagnostics);
        var out: ?*abi.c.HurrayTensorContext = null;
        const status = library.table.tensor_context_new(abi_version, encoded.ptr, encoded.len, owner, release, &out);
        try diagnostics_.checkSilent(status, diagnostics, "the tensor context cannot be made");
        return .{ .handle = .init(out.?) };
    }

    /// Takes a handle over that something else made, such as another runtime in this process; null is an error.
    pub fn fromRaw(pointer: ?*abi.c.HurrayTensorContext, diagnostics: ?*Diagnostics) Error!TensorContext {
        try library.ensure(diagnostics);
        return .{ .handle = .init(pointer orelse return buffer_.nullHandle(diagnostics)) };
    }

    /// Gives the handle away; whoever gets it ends it. This object is empty afterwards.
    pub fn intoRaw(self: *TensorContext, diagnostics: ?*Diagnostics) Error!*abi.c.HurrayTensorContext {
        _ = try self.handle.get(diagnostics);
        return self.handle.take().?;
    }

    /// Version of the C ABI of the build that made the context.
    pub fn abiVersion(self: *const TensorContext, diagnostics: ?*Diagnostics) Error!u32 {
        var version: u32 = 0;
        const handle = try self.handle.get(diagnostics);
        try diagnostics_.checkSilent(library.table.tensor_context_abi_version(handle, &version), diagnostics, "the tensor context cannot be read");
        return version;
    }

    /// The encoded descriptor; it belongs to the context. Errors: HurrayVersionMismatch, with both numbers in the report:
    /// the context is of a version that this package does not know, and nothing but the version was read.
    pub fn descriptor(self: *const TensorContext, diagnostics: ?*Diagnostics) Error![]const u8 {
        try self.requireVersion(diagnostics);
        var bytes: ?[*]const u8 = null;
        var length: u64 = 0;
        const handle = try self.handle.get(diagnostics);
        try diagnostics_.checkSilent(library.table.tensor_context_descriptor(handle, &bytes, &length), diagnostics, "the tensor context cannot be read");
        return if (bytes) |first| first[0..@intCast(length)] else &.{};
    }

    /// Puts both numbers into the report of an import that was refused because of them, and not because of the version of
    /// the descriptor.
    pub fn noteVersion(self: *const TensorContext, diagnostics: ?*Diagnostics) void {
        const report = diagnostics orelse return;
        const version = self.abiVersion(null) catch return;
        if (version != library.built_for_version) report.mismatch = .{ .built_for = library.built_for_version, .found = version };
    }

    /// The package's own version, or a higher one of a copy of the library that vouches for both. Below 4 there are none.
    fn requireVersion(self: *const TensorContext, diagnostics: ?*Diagnostics) Error!void {
        const version = try self.abiVersion(diagnostics);
        if (version == library.built_for_version) return;
        var supported: u8 = 0;
        if (version > library.built_for_version) {
            const handle = try self.handle.get(diagnostics);
            try diagnostics_.check(library.table.tensor_context_supports(handle, library.built_for_version, &supported, diagnostics_.reportOf(diagnostics)));
        }
        if (supported != 1) return diagnostics_.failVersions(
            diagnostics,
            .{ .built_for = library.built_for_version, .found = version },
            "tensor context: expected version {d} of the C ABI, it was made by version {d}",
            .{ library.built_for_version, version },
        );
    }

    /// Ends the context and releases its owner. A second end is a no-op.
    pub fn deinit(self: *TensorContext) void {
        self.handle.deinit();
    }

    /// As `deinit`, and says what went wrong; the object is empty afterwards all the same.
    ///
    /// Errors: HurrayClosed: it was empty before; HurrayInvalidHandle: the handle is borrowed or, where handles are checked,
    /// was destroyed before; HurrayInternalPanic: a release callback threw an exception, after which everything has ended.
    pub fn end(self: *TensorContext, diagnostics: ?*Diagnostics) Error!void {
        return self.handle.end(diagnostics);
    }

    /// Ends the context on a thread that must not run release callbacks: they wait on a queue.
    pub fn deinitDeferred(self: *TensorContext) void {
        self.handle.deinitDeferred();
    }
};

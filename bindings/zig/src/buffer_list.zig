//! The buffers of one tensor, as they travel between runtimes.

const std = @import("std");
const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");
const library = @import("library.zig");
const Handle = @import("handle.zig").Handle;
const buffer_ = @import("buffer.zig");
const handoff = @import("handoff.zig");

const Buffer = buffer_.Buffer;
const BufferEntry = @import("buffer_entry.zig").BufferEntry;
const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// Owns buffers in the order of a descriptor's buffer table. Threads: used by one at a time.
pub const BufferList = struct {
    handle: Handle(abi.c.HurrayBufferList, "buffer_list_destroy", "buffer list"),

    /// An empty list, which the caller owns.
    pub fn init(diagnostics: ?*Diagnostics) Error!BufferList {
        try library.ensure(diagnostics);
        var out: ?*abi.c.HurrayBufferList = null;
        try diagnostics_.checkSilent(library.table.buffer_list_new(1, &out), diagnostics, "the list cannot be made");
        return .{ .handle = .init(out.?) };
    }

    /// Takes a handle over that something else made, such as another runtime in this process; null is an error.
    pub fn fromRaw(pointer: ?*abi.c.HurrayBufferList, diagnostics: ?*Diagnostics) Error!BufferList {
        try library.ensure(diagnostics);
        return .{ .handle = .init(pointer orelse return buffer_.nullHandle(diagnostics)) };
    }

    /// Gives the handle away; whoever gets it ends it. This object is empty afterwards.
    pub fn intoRaw(self: *BufferList, diagnostics: ?*Diagnostics) Error!*abi.c.HurrayBufferList {
        _ = try self.handle.get(diagnostics);
        return self.handle.take().?;
    }

    /// Appends a buffer, which moves into the list and is empty afterwards. On failure it stays the caller's.
    pub fn push(self: *BufferList, buffer: *Buffer, diagnostics: ?*Diagnostics) Error!void {
        const list = try self.handle.get(diagnostics);
        const pushed = try buffer.handle.get(diagnostics);
        try diagnostics_.checkSilent(
            library.table.buffer_list_push(list, pushed),
            diagnostics,
            "the buffer cannot be pushed: it is borrowed, or the list is part of a tensor",
        );
        _ = buffer.handle.take();
    }

    /// How many buffers are in the list.
    pub fn len(self: *const BufferList, diagnostics: ?*Diagnostics) Error!u64 {
        var length: u64 = 0;
        const list = try self.handle.get(diagnostics);
        try diagnostics_.checkSilent(library.table.buffer_list_len(list, &length), diagnostics, "the list cannot be read");
        return length;
    }

    /// A share of one of the buffers, which the caller owns. Errors: HurrayIndexOutOfBounds.
    pub fn share(self: *const BufferList, index: u64, diagnostics: ?*Diagnostics) Error!Buffer {
        return buffer_.shareOf(try self.get(index, diagnostics), diagnostics);
    }

    /// What one of the buffers stands for. Errors: HurrayIndexOutOfBounds.
    pub fn info(self: *const BufferList, index: u64, diagnostics: ?*Diagnostics) Error!buffer_.BufferInfo {
        return buffer_.infoOf(try self.get(index, diagnostics), diagnostics);
    }

    /// What a descriptor's buffer table says about one of the buffers. Errors: HurrayIndexOutOfBounds.
    pub fn entry(self: *const BufferList, index: u64, diagnostics: ?*Diagnostics) Error!BufferEntry {
        return buffer_.entryOf(try self.get(index, diagnostics), diagnostics);
    }

    /// The event of one of the buffers, as `Buffer.event`. Errors also: HurrayIndexOutOfBounds.
    pub fn event(self: *const BufferList, index: u64, diagnostics: ?*Diagnostics) Error!handoff.Event {
        return buffer_.eventOf(try self.get(index, diagnostics), diagnostics);
    }

    /// Gives the event of one of the buffers back, as `Buffer.releaseEvent`. Errors also: HurrayIndexOutOfBounds.
    pub fn releaseEvent(self: *BufferList, index: u64, diagnostics: ?*Diagnostics) Error!void {
        return buffer_.releaseEventOf(try self.get(index, diagnostics), diagnostics);
    }

    /// The stream that one of the buffers is ordered on, as `Buffer.stream`. Errors also: HurrayIndexOutOfBounds.
    pub fn stream(self: *const BufferList, index: u64, diagnostics: ?*Diagnostics) Error!handoff.Stream {
        return buffer_.streamOf(try self.get(index, diagnostics), diagnostics);
    }

    fn get(self: *const BufferList, index: u64, diagnostics: ?*Diagnostics) Error!*abi.c.HurrayBuffer {
        var borrowed: ?*abi.c.HurrayBuffer = null;
        const list = try self.handle.get(diagnostics);
        try diagnostics_.checkSilent(
            library.table.buffer_list_get(list, index, &borrowed),
            diagnostics,
            "index: expected less than the length of the list",
        );
        return borrowed.?;
    }

    /// Ends the list and every buffer in it. A second end is a no-op.
    pub fn deinit(self: *BufferList) void {
        self.handle.deinit();
    }

    /// As `deinit`, and says what went wrong; the object is empty afterwards all the same.
    ///
    /// Errors: HurrayClosed: it was empty before; HurrayInvalidHandle: the handle is borrowed or, where handles are checked,
    /// was destroyed before; HurrayInternalPanic: a release callback threw an exception, after which everything has ended.
    pub fn end(self: *BufferList, diagnostics: ?*Diagnostics) Error!void {
        return self.handle.end(diagnostics);
    }

    /// Ends the list on a thread that must not run release callbacks: they wait on a queue.
    pub fn deinitDeferred(self: *BufferList) void {
        self.handle.deinitDeferred();
    }
};

//! Finds the use of something after its end.
//!
//! A Zig value can be copied, so that the pointer in a copy outlives the handle, and a view can outlive its tensor. In
//! builds with safety checks (Debug, ReleaseSafe) every handle therefore has a cell with a generation number, in memory
//! that is never given back; the end of the handle raises the number. Whoever remembers another number is late. Without
//! safety checks all of this vanishes, and with it the extra cost.

const std = @import("std");

pub const enabled = std.debug.runtime_safety;

const Cell = struct {
    generation: std.atomic.Value(u64) = .init(1),
    next: ?*Cell = null,
};

const chunk_size = 256;

var free_cells: ?*Cell = null;
var lock: std.atomic.Mutex = .unlocked;

fn acquire() void {
    while (!lock.tryLock()) std.Thread.yield() catch {};
}

/// For the child of a fork. A list that another thread was changing is left where it is.
pub fn beginChild() void {
    if (lock.tryLock()) return lock.unlock();
    free_cells = null;
    lock = .unlocked;
}

/// Remembers that something was alive. Copies of a guard share its fate.
pub const Guard = if (enabled) CheckedGuard else UncheckedGuard;

const UncheckedGuard = struct {
    /// A guard of something that begins to live.
    pub inline fn begin() UncheckedGuard {
        return .{};
    }
    /// Whether it still lives.
    pub inline fn alive(self: UncheckedGuard) bool {
        _ = self;
        return true;
    }
    /// Ends it; false when it had ended before.
    pub inline fn end(self: UncheckedGuard) bool {
        _ = self;
        return true;
    }
};

const CheckedGuard = struct {
    /// Null when there was no memory for a cell: then nothing is checked.
    cell: ?*Cell,
    generation: u64,

    pub fn begin() CheckedGuard {
        acquire();
        defer lock.unlock();
        if (free_cells == null) {
            const chunk = std.heap.page_allocator.create([chunk_size]Cell) catch return .{ .cell = null, .generation = 0 };
            for (chunk) |*cell| {
                cell.* = .{ .next = free_cells };
                free_cells = cell;
            }
        }
        const cell = free_cells.?;
        free_cells = cell.next;
        return .{ .cell = cell, .generation = cell.generation.load(.monotonic) };
    }

    pub fn alive(self: CheckedGuard) bool {
        const cell = self.cell orelse return true;
        return cell.generation.load(.acquire) == self.generation;
    }

    pub fn end(self: CheckedGuard) bool {
        const cell = self.cell orelse return true;
        if (cell.generation.cmpxchgStrong(self.generation, self.generation + 1, .acq_rel, .monotonic) != null) return false;
        acquire();
        defer lock.unlock();
        cell.next = free_cells;
        free_cells = cell;
        return true;
    }
};

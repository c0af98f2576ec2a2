//! From an index, one number a dimension, to the place of an element, and through all elements in row-major order.

const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");

const View = @import("view.zig").View;
const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

const max_rank = abi.constants.max_rank;

/// The offset of an element from element (0, ..., 0), in elements.
pub fn offsetOf(view: *const View, index: []const u64, diagnostics: ?*Diagnostics) Error!i64 {
    try view.requireAlive(diagnostics);
    const shape = view.shape();
    if (index.len != shape.len) return diagnostics_.fail(
        diagnostics,
        .invalid_argument,
        error.HurrayInvalidArgument,
        "index: expected {d} numbers, one a dimension, got {d}",
        .{ shape.len, index.len },
    );
    for (index, shape, 0..) |i, size, k| {
        if (i >= size) return diagnostics_.fail(
            diagnostics,
            .index_out_of_bounds,
            error.HurrayIndexOutOfBounds,
            "index[{d}]: expected less than {d}, got {d}",
            .{ k, size, i },
        );
    }
    // The library has checked that every element's offset fits, and those of its parts with it.
    var offset: i64 = 0;
    if (view.strides()) |strides| {
        for (index, strides) |i, stride| offset += @as(i64, @intCast(i)) * stride;
    } else {
        for (index, shape) |i, size| offset = offset * size + @as(i64, @intCast(i));
    }
    return offset;
}

/// Goes through the offsets of all elements in row-major order of their indices.
pub const Walk = struct {
    remaining: u64,
    offset: i64 = 0,
    /// Null for contiguous elements.
    strides: ?[]const i64,
    shape: []const i64,
    index: [max_rank]i64,

    pub fn init(view: *const View) Walk {
        var walk: Walk = .{
            .remaining = view.elementCount(),
            .strides = view.strides(),
            .shape = view.shape(),
            .index = undefined,
        };
        @memset(walk.index[0..walk.shape.len], 0);
        return walk;
    }

    pub inline fn next(self: *Walk) ?i64 {
        if (self.remaining == 0) return null;
        self.remaining -= 1;
        const at = self.offset;
        const strides = self.strides orelse {
            self.offset += 1;
            return at;
        };
        if (self.remaining == 0) return at;
        var k = strides.len;
        while (k > 0) {
            k -= 1;
            self.index[k] += 1;
            // A dimension of size 1 may have any stride, the largest too: what is added here is taken back below.
            self.offset +%= strides[k];
            if (self.index[k] < self.shape[k]) break;
            self.offset -%= strides[k] *% self.shape[k];
            self.index[k] = 0;
        }
        return at;
    }
};

//! Elements by index and in order, whatever their strides and their address. What a `StridedView` and a `PackedView` share.

const diagnostics_ = @import("diagnostics.zig");
const index_walk = @import("index_walk.zig");

const View = @import("view.zig").View;
const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;

/// The elements of a dense tensor as `T`. `Access` says how they lie in memory: `load(start, offset)` reads the element
/// `offset` elements from the address `start`, and where single elements can be written, `store(start, offset, value)` does.
pub fn ElementView(comptime T: type, comptime Access: type) type {
    return struct {
        const Self = @This();

        view: View,

        /// The element at an index, one number a dimension.
        ///
        /// Errors: HurrayIndexOutOfBounds; HurrayInvalidArgument: another number of dimensions; HurrayClosed.
        pub fn at(self: *const Self, index: []const u64, diagnostics: ?*Diagnostics) Error!T {
            const offset = try index_walk.offsetOf(&self.view, index, diagnostics);
            return Access.load(start(&self.view), offset);
        }

        /// Writes the element at an index; not for packed elements. Errors as `at`, and HurrayReadOnly.
        pub fn set(self: *const Self, index: []const u64, value: T, diagnostics: ?*Diagnostics) Error!void {
            if (!@hasDecl(Access, "store")) @compileError("hurray: packed elements share bytes and are not written one by one");
            const offset = try index_walk.offsetOf(&self.view, index, diagnostics);
            try self.view.requireWritable(diagnostics);
            Access.store(start(&self.view), offset, value);
        }

        /// All elements in row-major order of their indices.
        pub fn iterator(self: *const Self) Iterator {
            return .{ .start = start(&self.view), .walk = .init(&self.view) };
        }

        /// Copies all elements in row-major order of their indices, packed ones one a byte; `out` has room for exactly as
        /// many.
        ///
        /// Errors: HurrayInvalidArgument: it has not; HurrayClosed.
        pub fn copyRowMajor(self: *const Self, out: []T, diagnostics: ?*Diagnostics) Error!void {
            try self.view.requireAlive(diagnostics);
            if (out.len != self.view.elementCount()) return diagnostics_.fail(
                diagnostics,
                .invalid_argument,
                error.HurrayInvalidArgument,
                "out: expected room for {d} elements, got {d}",
                .{ self.view.elementCount(), out.len },
            );
            var elements = self.iterator();
            for (out) |*place| place.* = elements.next().?;
        }

        pub const Iterator = struct {
            start: usize,
            walk: index_walk.Walk,

            /// The next element; null after the last.
            pub inline fn next(self: *Iterator) ?T {
                return Access.load(self.start, self.walk.next() orelse return null);
            }
        };

        inline fn start(view: *const View) usize {
            return @intFromPtr(view.raw.data);
        }
    };
}

//! Metadata values of model files.

const std = @import("std");
const abi = @import("hurray_abi");
const diagnostics_ = @import("diagnostics.zig");

const Diagnostics = diagnostics_.Diagnostics;
const Error = diagnostics_.Error;
const MetadataType = abi.constants.MetadataType;

/// A value, or an element of an array. Slices of one that was read belong to the file; those of one to be written are copied.
pub const MetadataValue = union(enum) {
    /// UTF-8; may hold NUL characters.
    string: []const u8,
    int64: i64,
    uint64: u64,
    float64: f64,
    bool: bool,
    /// Bytes of any meaning.
    bytes: []const u8,
    /// Of a value that was read: see `TensorFile.metadataElement` and `metadataArray`. To write one, see
    /// `TensorFileWriter.setMetadataArray`.
    array: Array,
    /// Of a type that this package does not know.
    unknown: MetadataType,

    pub const Array = struct {
        element_type: MetadataType,
        count: u64,
    };

    pub fn fromRaw(raw: *const abi.c.HurrayFileMetadata) MetadataValue {
        const tag: MetadataType = @enumFromInt(raw.type);
        return switch (tag) {
            .string => .{ .string = text(raw.value, raw.value_length) },
            .int64 => .{ .int64 = raw.int64_value },
            .uint64 => .{ .uint64 = raw.uint64_value },
            .float64 => .{ .float64 = raw.float64_value },
            .bool => .{ .bool = raw.boolean != 0 },
            .bytes => .{ .bytes = text(raw.value, raw.value_length) },
            .array => .{ .array = .{ .element_type = @enumFromInt(raw.element_type), .count = raw.count } },
            _ => .{ .unknown = tag },
        };
    }

    /// As the library takes it. Errors: HurrayInvalidArgument: an array, or a value of no type.
    pub fn toRaw(self: MetadataValue, diagnostics: ?*Diagnostics) Error!abi.c.HurrayFileMetadata {
        var raw: abi.c.HurrayFileMetadata = .{ .struct_size = @sizeOf(abi.c.HurrayFileMetadata) };
        switch (self) {
            .string, .bytes => |value| {
                raw.value = value.ptr;
                raw.value_length = value.len;
            },
            .int64 => |value| raw.int64_value = value,
            .uint64 => |value| raw.uint64_value = value,
            .float64 => |value| raw.float64_value = value,
            .bool => |value| raw.boolean = @intFromBool(value),
            .array, .unknown => return diagnostics_.fail(
                diagnostics,
                .invalid_argument,
                error.HurrayInvalidArgument,
                "value: expected one of a type that can be written by itself, got {t}",
                .{self},
            ),
        }
        raw.type = @intFromEnum(self.kind());
        return raw;
    }

    /// The type's tag in the file.
    pub fn kind(self: MetadataValue) MetadataType {
        return switch (self) {
            .unknown => |tag| tag,
            inline else => |_, tag| @field(MetadataType, @tagName(tag)),
        };
    }
};

/// The types of Zig that stand for elements of arrays. Strings and bytes both are slices of bytes.
pub fn elementFrom(comptime T: type, value: MetadataValue) ?T {
    return switch (T) {
        []const u8 => switch (value) {
            .string, .bytes => |bytes| bytes,
            else => null,
        },
        i64 => switch (value) {
            .int64 => |number| number,
            .uint64 => |number| std.math.cast(i64, number),
            else => null,
        },
        u64 => switch (value) {
            .uint64 => |number| number,
            .int64 => |number| std.math.cast(u64, number),
            else => null,
        },
        f64 => switch (value) {
            .float64 => |number| number,
            else => null,
        },
        bool => switch (value) {
            .bool => |truth| truth,
            else => null,
        },
        else => @compileError("hurray: elements of metadata arrays are []const u8, i64, u64, f64 or bool, not " ++ @typeName(T)),
    };
}

pub fn text(first: [*c]const u8, length: u64) []const u8 {
    return if (length == 0) &.{} else first[0..@intCast(length)];
}

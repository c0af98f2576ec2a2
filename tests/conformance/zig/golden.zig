//! Decode a descriptor, read every field, build it again from the fields, encode it. (design: JSON of a descriptor)

const std = @import("std");
const hurray = @import("hurray");

const Stringify = std.json.Stringify;

pub fn run(io: std.Io, gpa: std.mem.Allocator, diagnostics: *hurray.Diagnostics) !void {
    var input_buffer: [64 * 1024]u8 = undefined;
    var input = std.Io.File.stdin().readerStreaming(io, &input_buffer);
    var output_buffer: [64 * 1024]u8 = undefined;
    var output = std.Io.File.stdout().writerStreaming(io, &output_buffer);
    while (try input.interface.takeDelimiter('\n')) |path| {
        if (path.len == 0) continue;
        try replay(io, gpa, path, &output.interface, diagnostics);
        try output.interface.writeByte('\n');
    }
    try output.interface.flush();
}

fn replay(io: std.Io, gpa: std.mem.Allocator, path: []const u8, writer: *std.Io.Writer, diagnostics: *hurray.Diagnostics) !void {
    const bytes = std.Io.Dir.cwd().readFileAlloc(io, path, gpa, .unlimited) catch |err| {
        std.debug.print("driver: cannot read {s}: {s}\n", .{ path, @errorName(err) });
        return error.Explained;
    };
    defer gpa.free(bytes);
    var json: Stringify = .{ .writer = writer };
    try json.beginObject();
    try json.objectField("path");
    try json.write(path);
    if (hurray.Descriptor.decode(bytes, diagnostics)) |decoded| {
        var descriptor = decoded;
        defer descriptor.deinit();
        const info = try descriptor.info(diagnostics);
        const entries = try gpa.alloc(hurray.BufferEntry, info.buffer_count);
        defer gpa.free(entries);
        for (entries, 0..) |*entry, i| entry.* = try descriptor.bufferEntry(@intCast(i), diagnostics);
        try json.objectField("descriptor");
        try writeDescriptor(&json, info, entries, bytes.len - info.descriptor_length);
        const encoded = try reencode(gpa, &descriptor, info, entries, diagnostics);
        defer gpa.free(encoded);
        try json.objectField("reencoded");
        try json.print("\"{x}\"", .{encoded});
    } else |_| {
        try json.objectField("error");
        try writeError(&json, diagnostics);
    }
    try json.endObject();
}

fn writeError(json: *Stringify, diagnostics: *const hurray.Diagnostics) !void {
    try json.beginObject();
    try json.objectField("code");
    try json.write(@intFromEnum(diagnostics.code()));
    try json.objectField("name");
    var buffer: [64]u8 = undefined;
    try json.write(std.ascii.upperString(&buffer, std.enums.tagName(hurray.Status, diagnostics.code()) orelse "unknown"));
    try json.objectField("message");
    try json.write(diagnostics.message());
    try json.objectField("offset");
    try json.write(diagnostics.offset());
    try json.endObject();
}

fn writeDescriptor(json: *Stringify, info: hurray.DescriptorInfo, entries: []const hurray.BufferEntry, trailing_bytes: u64) !void {
    try json.beginObject();
    try field(json, "version_major", info.version_major);
    try field(json, "version_minor", info.version_minor);
    try field(json, "descriptor_length", info.descriptor_length);
    try field(json, "trailing_bytes", trailing_bytes);
    try field(json, "flags", info.flags);
    try field(json, "type", std.enums.tagName(hurray.ElementType, info.element_type) orelse "unknown");
    try field(json, "type_tag", @intFromEnum(info.element_type));
    try field(json, "layout", std.enums.tagName(hurray.Layout, info.layout) orelse "unknown");
    try field(json, "layout_tag", @intFromEnum(info.layout));
    try field(json, "rank", info.rank());
    try field(json, "shape", info.shape);
    try field(json, "byte_offset", info.byte_offset);
    try json.objectField("layout_fields");
    try json.beginObject();
    if (info.strides) |strides| try field(json, "strides", strides);
    try json.endObject();
    try json.objectField("buffers");
    try json.beginArray();
    for (entries) |entry| {
        try json.beginObject();
        try field(json, "byte_size", entry.byte_size);
        try field(json, "alignment", entry.alignment);
        try field(json, "device_tag", @intFromEnum(entry.device));
        try field(json, "sync_mode", @intFromEnum(entry.sync_mode));
        try field(json, "memory_class", @intFromEnum(entry.memory_class));
        try json.endObject();
    }
    try json.endArray();
    try field(json, "quantization", null);
    try json.objectField("shard");
    if (info.shard) |shard| {
        try json.beginObject();
        try field(json, "parent_shape", shard.parent_shape);
        try field(json, "shard_offset", shard.shard_offset);
        try json.endObject();
    } else {
        try json.write(null);
    }
    try field(json, "statistics", null);
    try field(json, "extension_type", null);
    try field(json, "composite_member", null);
    try json.endObject();
}

fn field(json: *Stringify, name: []const u8, value: anytype) !void {
    try json.objectField(name);
    try json.write(value);
}

/// The fields, put into a builder and encoded.
fn reencode(
    gpa: std.mem.Allocator,
    descriptor: *const hurray.Descriptor,
    info: hurray.DescriptorInfo,
    entries: []const hurray.BufferEntry,
    diagnostics: *hurray.Diagnostics,
) ![]u8 {
    var builder = try hurray.DescriptorBuilder.init(info.element_type, info.layout, info.shape, diagnostics);
    defer builder.deinit();
    try builder.setByteOffset(info.byte_offset, diagnostics);
    if (info.strides) |strides| try builder.setStrides(strides, diagnostics);
    if (info.shard) |shard| try builder.setShard(shard.parent_shape, shard.shard_offset, diagnostics);
    for (entries) |entry| try builder.addBuffer(entry, diagnostics);
    var built = try builder.build(diagnostics);
    defer built.deinit();
    // What a later minor version added is kept by the decoded descriptor and unknown to a builder of 1.0.
    return (if (info.version_minor == 0) &built else descriptor).encodeAlloc(gpa, diagnostics);
}

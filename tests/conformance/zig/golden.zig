//! Decode a descriptor, read every field, build it again from the fields, encode it. (design: JSON of a descriptor)

const std = @import("std");
const hurray = @import("hurray");
const describe = @import("describe.zig");

const Allocator = std.mem.Allocator;
const Stringify = std.json.Stringify;

pub fn run(io: std.Io, gpa: Allocator, diagnostics: *hurray.Diagnostics) !void {
    var input_buffer: [64 * 1024]u8 = undefined;
    var input = std.Io.File.stdin().readerStreaming(io, &input_buffer);
    var output_buffer: [64 * 1024]u8 = undefined;
    var output = std.Io.File.stdout().writerStreaming(io, &output_buffer);
    while (try input.interface.takeDelimiter('\n')) |line| {
        if (line.len == 0) continue;
        try replay(io, gpa, line, &output.interface, diagnostics);
        try output.interface.writeByte('\n');
    }
    try output.interface.flush();
}

/// What stands behind the tab of a line.
fn optionsOf(text: []const u8) !hurray.DecodeOptions {
    var options: hurray.DecodeOptions = .{};
    var names = std.mem.splitScalar(u8, text, ',');
    while (names.next()) |name| {
        if (std.mem.eql(u8, name, "private_tags")) {
            options.private_tags = true;
        } else if (std.mem.eql(u8, name, "permissive")) {
            options.permissive = true;
        } else {
            std.debug.print("driver: unknown option {s}\n", .{name});
            return error.Usage;
        }
    }
    return options;
}

fn replay(io: std.Io, gpa: Allocator, line: []const u8, writer: *std.Io.Writer, diagnostics: *hurray.Diagnostics) !void {
    const tab = std.mem.indexOfScalar(u8, line, '\t');
    const path = line[0 .. tab orelse line.len];
    const options: hurray.DecodeOptions = if (tab) |at| try optionsOf(line[at + 1 ..]) else .{};
    const bytes = std.Io.Dir.cwd().readFileAlloc(io, path, gpa, .unlimited) catch |err| {
        std.debug.print("driver: cannot read {s}: {s}\n", .{ path, @errorName(err) });
        return error.Explained;
    };
    defer gpa.free(bytes);
    var json: Stringify = .{ .writer = writer };
    try json.beginObject();
    try json.objectField("path");
    try json.write(path);
    if (hurray.Descriptor.decodeOptions(bytes, options, diagnostics)) |decoded| {
        var descriptor = decoded;
        defer descriptor.deinit();
        try json.objectField("descriptor");
        try describe.write(&json, &descriptor, bytes.len, diagnostics);
        const encoded = try descriptor.encodeAlloc(gpa, diagnostics);
        defer gpa.free(encoded);
        try json.objectField("reencoded");
        try json.print("\"{x}\"", .{encoded});
        try json.objectField("rebuilt");
        try writeRebuilt(&json, gpa, &descriptor, options.private_tags, diagnostics);
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

/// The bytes of a descriptor that is built anew from the fields, or why it is refused; null for one with tags that nobody
/// knows.
fn writeRebuilt(
    json: *Stringify,
    gpa: Allocator,
    descriptor: *const hurray.Descriptor,
    private_tags: bool,
    diagnostics: *hurray.Diagnostics,
) !void {
    if ((try descriptor.info(diagnostics)).is_opaque) return json.write(null);
    var builder = try collect(descriptor, private_tags, diagnostics);
    defer builder.deinit();
    if (builder.build(diagnostics)) |made| {
        var built = made;
        defer built.deinit();
        const encoded = try built.encodeAlloc(gpa, diagnostics);
        defer gpa.free(encoded);
        try json.print("\"{x}\"", .{encoded});
    } else |_| {
        try json.beginObject();
        try json.objectField("error");
        try writeError(json, diagnostics);
        try json.endObject();
    }
}

/// A builder with all fields of a descriptor.
fn collect(descriptor: *const hurray.Descriptor, private_tags: bool, diagnostics: *hurray.Diagnostics) !hurray.DescriptorBuilder {
    const info = try descriptor.info(diagnostics);
    var builder = try hurray.DescriptorBuilder.init(info.element_type, info.layout, info.shape, diagnostics);
    errdefer builder.deinit();
    if (private_tags) try builder.allowPrivateTags(diagnostics);
    try builder.setByteOffset(info.byte_offset, diagnostics);
    try builder.setLayoutFields(try descriptor.layoutFields(diagnostics), diagnostics);
    for (0..info.buffer_count) |i| try builder.addBuffer(try descriptor.bufferEntry(@intCast(i), diagnostics), diagnostics);
    if (info.shard) |shard| try builder.setShard(shard.parent_shape, shard.shard_offset, diagnostics);
    if (try descriptor.quantization(diagnostics)) |section| try builder.setQuantization(section, diagnostics);
    if (try descriptor.statistics(diagnostics)) |section| try builder.setStatistics(section, diagnostics);
    if (try descriptor.extensionType(diagnostics)) |section| try builder.setExtensionType(section, diagnostics);
    if (try descriptor.memberRole(diagnostics)) |role| try builder.setMemberRole(role, diagnostics);
    return builder;
}

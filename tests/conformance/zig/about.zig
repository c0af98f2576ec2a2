//! One JSON line about this runtime and the library that it loaded.

const builtin = @import("builtin");
const std = @import("std");
const hurray = @import("hurray");

pub fn run(io: std.Io, diagnostics: *hurray.Diagnostics) !void {
    var buffer: [4096]u8 = undefined;
    var output = std.Io.File.stdout().writerStreaming(io, &buffer);
    var json: std.json.Stringify = .{ .writer = &output.interface };
    const info = try hurray.runtimeInfo(diagnostics);
    try json.beginObject();
    try writeFacts(&json, info);
    try json.objectField("library_path");
    try json.write(info.library_path);
    try json.objectField("channels");
    try json.write(true);
    try json.endObject();
    try output.interface.writeByte('\n');
    try output.interface.flush();
}

/// Runtime, version, ABI version and build id, as fields of the object that is open.
pub fn writeFacts(json: *std.json.Stringify, info: hurray.RuntimeInfo) !void {
    try json.objectField("runtime");
    try json.write("zig");
    try json.objectField("version");
    try json.write(builtin.zig_version_string);
    try json.objectField("abi_version");
    try json.write(info.c_abi_version);
    try json.objectField("build_id");
    try json.write(info.build_id);
}

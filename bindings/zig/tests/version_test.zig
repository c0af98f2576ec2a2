//! Libraries that this package must refuse. HURRAY_LIBRARY names one that answers version 5, HURRAY_REAL the right one.

const std = @import("std");
const hurray = @import("hurray");

const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;

fn contains(text: []const u8, part: []const u8) bool {
    return std.mem.indexOf(u8, text, part) != null;
}

test "a stranger is refused by the first call of all, and named with both numbers" {
    // Whatever comes first: each of them asks for the version before anything else.
    inline for (.{
        hurray.runtimeInfo,
        hurray.drainReleases,
        hurray.BufferList.init,
        hurray.TensorStreamWriter.toMemory,
        hurray.ReleaseQueue.init,
    }) |first| {
        var diagnostics: hurray.Diagnostics = .{};
        try std.testing.expectError(error.HurrayVersionMismatch, first(&diagnostics));
        try expectEqual(hurray.Status.version_mismatch, diagnostics.code());
        try expectEqual(hurray.Versions{ .built_for = 4, .found = 5 }, diagnostics.versions().?);
        try expect(contains(diagnostics.message(), "version 4"));
        try expect(contains(diagnostics.message(), "version 5"));
        // A path that is too long for a message is cut at its end.
        const path = std.mem.span(std.c.getenv("HURRAY_LIBRARY").?);
        try expect(contains(diagnostics.message(), path[0..@min(path.len, 100)]));
    }
    const items: []const u8 = "abc";
    try std.testing.expectError(error.HurrayVersionMismatch, hurray.Tensor.fromStatic(items, &.{3}, .{}, null));
    try std.testing.expectError(error.HurrayVersionMismatch, hurray.Descriptor.decode(items, null));
    try std.testing.expectError(error.HurrayVersionMismatch, hurray.TensorFile.open("a", .{}, null));
    try std.testing.expectError(error.HurrayVersionMismatch, hurray.TensorContext.init("", null));
    try std.testing.expectError(error.HurrayVersionMismatch, hurray.Tensor.fromRaw(null, null));
}

/// Counts its end.
const Source = struct {
    released: u32 = 0,

    fn exportTensor(_: *Source, _: ?hurray.Stream, _: *hurray.Diagnostics) anyerror!hurray.Tensor.Exported {
        return error.HurrayUnsupported;
    }

    fn release(self: *Source) void {
        self.released += 1;
    }
};

test "a producer ends without a library, too" {
    var source: Source = .{};
    var producer: hurray.Producer = .init(&source, Source.exportTensor, Source.release);
    try std.testing.expectError(error.HurrayVersionMismatch, producer.request(null, null));
    producer.deinit();
    producer.deinit();
    try expectEqual(1, source.released);
}

test "what is no library is refused with the loader's reason" {
    var diagnostics: hurray.Diagnostics = .{};
    try std.testing.expectError(error.HurrayLibraryNotFound, hurray.load("/nonexistent/libhurray.so.1", &diagnostics));
    try expectEqual(hurray.Status.not_found, diagnostics.code());
    try expect(contains(diagnostics.message(), "/nonexistent/libhurray.so.1"));
    try std.testing.expectError(error.HurrayLibraryNotFound, hurray.load("/", &diagnostics));
    try std.testing.expectError(error.HurrayLibraryNotFound, hurray.load("", &diagnostics));
}

test "a library without the version function is refused" {
    var diagnostics: hurray.Diagnostics = .{};
    try std.testing.expectError(error.HurrayVersionMismatch, hurray.load("libm.so.6", &diagnostics));
    try expect(contains(diagnostics.message(), "hurray_c_abi_version"));
    try expect(contains(diagnostics.message(), "version 4"));
    try expectEqual(null, diagnostics.versions());
}

test "the right one is accepted after all of these" {
    try hurray.load(std.mem.span(std.c.getenv("HURRAY_REAL").?), null);
    try expectEqual(4, (try hurray.runtimeInfo(null)).c_abi_version);
    var tensor = try hurray.Tensor.allocate(.float32, &.{2}, 0, null);
    tensor.deinit();
}

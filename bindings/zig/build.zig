//! Builds the module `hurray` for programs that depend on this package, and runs the package's tests:
//!
//!     zig build test -Dhurray-lib=PATH/libhurray.so.1
//!
//! Nothing is linked with the library: it is opened at run time. The build needs its C headers only. They come from
//! -Dhurray-include, or from this workspace, or from pkg-config.

const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    const library = b.option([]const u8, "hurray-lib", "The shared library that the tests load (default: what pkg-config knows, then the system's search)") orelse
        pkgConfigLibrary(b);
    const stranger = b.option([]const u8, "hurray-stranger", "A library of another version that the tests must see refused (default: these tests are left out)");
    const include = b.option([]const u8, "hurray-include", "Folder of hurray.h (default: that of this workspace, then what pkg-config knows)") orelse
        defaultInclude(b);
    const translate = b.option(bool, "translate-c", "Translate the C header in the build (addTranslateC) instead of in the compiler (@cImport)") orelse false;

    const hurray_c = if (translate) translatedHeader(b, target, optimize, include) else importedHeader(b, target, include);
    const hurray_abi = b.createModule(.{
        .root_source_file = b.path("gen/abi.zig"),
        .target = target,
        .imports = &.{.{ .name = "hurray_c", .module = hurray_c }},
    });
    const hurray = b.addModule("hurray", .{
        .root_source_file = b.path("src/hurray.zig"),
        .target = target,
        .link_libc = true,
        .imports = &.{.{ .name = "hurray_abi", .module = hurray_abi }},
    });
    const imports: []const std.Build.Module.Import = &.{
        .{ .name = "hurray", .module = hurray },
        .{ .name = "hurray_abi", .module = hurray_abi },
    };

    const test_step = b.step("test", "Run the tests");
    for ([_][]const u8{ "tests/all_test.zig", "samples/five_minutes.zig" }) |root| {
        const run = addTestRun(b, root, target, optimize, imports);
        if (library) |path| run.setEnvironmentVariable("HURRAY_LIBRARY", absolute(b, path));
        test_step.dependOn(&run.step);
    }
    if (stranger) |path| {
        const run = addTestRun(b, "tests/version_test.zig", target, optimize, imports);
        run.setEnvironmentVariable("HURRAY_LIBRARY", absolute(b, path));
        if (library) |real| run.setEnvironmentVariable("HURRAY_REAL", absolute(b, real));
        test_step.dependOn(&run.step);
    }
}

fn addTestRun(
    b: *std.Build,
    root: []const u8,
    target: std.Build.ResolvedTarget,
    optimize: std.builtin.OptimizeMode,
    imports: []const std.Build.Module.Import,
) *std.Build.Step.Run {
    const tests = b.addTest(.{ .root_module = b.createModule(.{
        .root_source_file = b.path(root),
        .target = target,
        .optimize = optimize,
        .link_libc = true,
        .imports = imports,
    }) });
    const run = b.addRunArtifact(tests);
    // The library is an input that the build does not know: tests always run.
    run.has_side_effects = true;
    return run;
}

fn importedHeader(b: *std.Build, target: std.Build.ResolvedTarget, include: ?[]const u8) *std.Build.Module {
    const module = b.createModule(.{
        .root_source_file = b.path("c/c.zig"),
        .target = target,
        .link_libc = true,
    });
    if (include) |folder| module.addIncludePath(.{ .cwd_relative = absolute(b, folder) });
    return module;
}

fn translatedHeader(
    b: *std.Build,
    target: std.Build.ResolvedTarget,
    optimize: std.builtin.OptimizeMode,
    include: ?[]const u8,
) *std.Build.Module {
    const header = b.addWriteFiles().add("hurray_c.h", "#include <hurray.h>\n");
    const translated = b.addTranslateC(.{ .root_source_file = header, .target = target, .optimize = optimize });
    if (include) |folder| translated.addIncludePath(.{ .cwd_relative = absolute(b, folder) });
    return translated.createModule();
}

/// The folder of headers of the workspace that this folder is a part of, or the one that pkg-config knows.
fn defaultInclude(b: *std.Build) ?[]const u8 {
    const folder = b.pathFromRoot("../../abi/include");
    if (std.Io.Dir.cwd().access(b.graph.io, b.pathJoin(&.{ folder, "hurray.h" }), .{})) |_| return folder else |_| {}
    return pkgConfig(b, "includedir");
}

fn pkgConfigLibrary(b: *std.Build) ?[]const u8 {
    const folder = pkgConfig(b, "libdir") orelse return null;
    return b.pathJoin(&.{ folder, "libhurray.so.1" });
}

/// A variable of hurray.pc; null without pkg-config, or where it does not know the library.
fn pkgConfig(b: *std.Build, variable: []const u8) ?[]const u8 {
    var code: u8 = undefined;
    const program = b.graph.environ_map.get("PKG_CONFIG") orelse "pkg-config";
    const arguments: []const []const u8 = &.{ program, b.fmt("--variable={s}", .{variable}), "hurray" };
    const answer = b.runAllowFail(arguments, &code, .ignore) catch return null;
    const value = std.mem.trim(u8, answer, " \r\n");
    return if (value.len == 0) null else value;
}

fn absolute(b: *std.Build, path: []const u8) []const u8 {
    return b.pathResolve(&.{ b.graph.cache.cwd, path });
}

//! Builds the module `hurray` for programs that depend on this package, and runs the package's tests:
//!
//!     zig build test -Dhurray-lib=PATH/libhurray.so.1
//!
//! Where the library comes from says the option `library`: `source` compiles it (the default of the released package, which has
//! all the sources), `prebuilt` links the archive that the package has for the target, or the one that -Dprebuilt names,
//! `dynamic` opens a shared library at run time (the default in the repository). For `dynamic` nothing is linked: the build needs
//! the C headers only. A program that links the archive sets `.use_llvm = true, .use_lld = true` in Debug mode: Zig 0.16's own
//! linker crashes on it. The headers come from -Dhurray-include, or from the package or the repository, or from pkg-config.
//!
//! The package is not made yet: in this repository there is neither an archive nor a list of sources, and only `dynamic` and -Dprebuilt work.

const std = @import("std");

const Library = enum { source, prebuilt, dynamic };

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    const archive = b.option([]const u8, "prebuilt", "A static archive of the library to link, such as one that the package does not have");
    const way = b.option(Library, "library", "Where the library comes from (default: source where the package has the sources, else dynamic)") orelse
        if (archive != null) .prebuilt else if (exists(b, "cpp/sources.txt")) Library.source else .dynamic;
    const library = b.option([]const u8, "hurray-lib", "The shared library that the tests load (default: what pkg-config knows, then the system's search)") orelse
        if (way == .dynamic) pkgConfigLibrary(b) else null;
    const stranger = b.option([]const u8, "hurray-stranger", "A library of another version that the tests must see refused (default: these tests are left out)");
    const include = b.option([]const u8, "hurray-include", "Folder of hurray.h (default: that of the package or of this workspace, then what pkg-config knows)") orelse
        defaultInclude(b);
    const translate = b.option(bool, "translate-c", "Translate the C header in the build (addTranslateC) instead of in the compiler (@cImport)") orelse false;

    const hurray_c = if (translate) translatedHeader(b, target, optimize, include) else importedHeader(b, target, include);
    const hurray_abi = b.createModule(.{
        .root_source_file = b.path("gen/abi.zig"),
        .target = target,
        .imports = &.{.{ .name = "hurray_c", .module = hurray_c }},
    });
    const hurray_link = b.createModule(.{
        .root_source_file = b.path(if (way == .dynamic) "link/dynamic.zig" else "link/static.zig"),
        .target = target,
        .link_libc = true,
    });
    switch (way) {
        .source => hurray_link.linkLibrary(compiled(b, target)),
        .prebuilt => hurray_link.addObjectFile(if (archive) |path| .{ .cwd_relative = absolute(b, path) } else packagedArchive(b, target.result)),
        .dynamic => {},
    }
    const hurray = b.addModule("hurray", .{
        .root_source_file = b.path("src/hurray.zig"),
        .target = target,
        .link_libc = true,
        .imports = &.{
            .{ .name = "hurray_abi", .module = hurray_abi },
            .{ .name = "hurray_link", .module = hurray_link },
        },
    });
    addDocs(b, hurray);

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

/// The library, compiled from the sources in the package. It is optimised whatever the program's mode is.
fn compiled(b: *std.Build, target: std.Build.ResolvedTarget) *std.Build.Step.Compile {
    const module = b.createModule(.{
        .target = target,
        .optimize = .ReleaseFast,
        .link_libc = true,
        .link_libcpp = true,
        .pic = true,
        .sanitize_c = .off,
        .strip = true,
    });
    for ([_][]const u8{ "cpp", "third_party", "third_party/zlib" }) |folder| module.addIncludePath(b.path(folder));
    const common: []const []const u8 = &.{ "-std=c++23", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-w" };
    // A line is a file and, behind a tab, the options that it has of its own, with spaces between them.
    var lines = std.mem.tokenizeScalar(u8, read(b, "cpp/sources.txt"), '\n');
    while (lines.next()) |line| {
        var parts = std.mem.splitScalar(u8, line, '\t');
        const file = parts.first();
        var flags: std.ArrayList([]const u8) = .empty;
        flags.appendSlice(b.allocator, common) catch @panic("OOM");
        var own = std.mem.tokenizeScalar(u8, parts.rest(), ' ');
        while (own.next()) |flag| flags.append(b.allocator, flag) catch @panic("OOM");
        module.addCSourceFile(.{ .file = b.path(b.pathJoin(&.{ "cpp", file })), .flags = flags.items });
    }
    var zlib = std.mem.tokenizeScalar(u8, read(b, "third_party/zlib/sources.txt"), '\n');
    while (zlib.next()) |file| module.addCSourceFile(.{
        .file = b.path(b.pathJoin(&.{ "third_party/zlib", file })),
        .flags = &.{ "-std=gnu11", "-fvisibility=hidden", "-w" },
    });
    return b.addLibrary(.{ .name = "hurray", .linkage = .static, .root_module = module });
}

/// The archive that the package has for a target.
fn packagedArchive(b: *std.Build, target: std.Target) std.Build.LazyPath {
    const name = b.fmt("{s}-{s}{s}", .{ @tagName(target.os.tag), if (target.abi.isMusl()) "musl-" else "", @tagName(target.cpu.arch) });
    const path = b.fmt("prebuilt/{s}/libhurray.a", .{name});
    if (!exists(b, path)) std.process.fatal("hurray: the package has no archive for {s}; -Dlibrary=source compiles the library", .{name});
    return b.path(path);
}

/// `zig build docs`: the reference of the package, to be read through a web server.
fn addDocs(b: *std.Build, hurray: *std.Build.Module) void {
    const object = b.addObject(.{ .name = "hurray", .root_module = hurray });
    const install = b.addInstallDirectory(.{ .source_dir = object.getEmittedDocs(), .install_dir = .prefix, .install_subdir = "docs" });
    b.step("docs", "Write the reference into PREFIX/docs").dependOn(&install.step);
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

/// The folder of headers of the package, or of the workspace that this folder is a part of, or the one that pkg-config knows.
fn defaultInclude(b: *std.Build) ?[]const u8 {
    for ([_][]const u8{ "include", "../../abi/include" }) |folder| {
        if (exists(b, b.pathJoin(&.{ folder, "hurray.h" }))) return b.pathFromRoot(folder);
    }
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

/// Whether the package has a file.
fn exists(b: *std.Build, path: []const u8) bool {
    std.Io.Dir.cwd().access(b.graph.io, b.pathFromRoot(path), .{}) catch return false;
    return true;
}

/// A file of the package.
fn read(b: *std.Build, path: []const u8) []const u8 {
    return std.Io.Dir.cwd().readFileAlloc(b.graph.io, b.pathFromRoot(path), b.allocator, .unlimited) catch |err|
        std.process.fatal("hurray: cannot read {s}: {s}", .{ path, @errorName(err) });
}

fn absolute(b: *std.Build, path: []const u8) []const u8 {
    return b.pathResolve(&.{ b.graph.cache.cwd, path });
}

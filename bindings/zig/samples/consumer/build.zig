//! A program that depends on the package, as any other would.

const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    const program = b.addExecutable(.{ .name = "consumer", .root_module = b.createModule(.{
        .root_source_file = b.path("main.zig"),
        .target = target,
        .optimize = optimize,
    }) });
    // sample: module
    const hurray = b.dependency("hurray", .{ .target = target, .optimize = optimize });
    program.root_module.addImport("hurray", hurray.module("hurray"));
    // end sample
    b.installArtifact(program);
}

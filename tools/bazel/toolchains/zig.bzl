"""Finds Zig: tools/setup puts it into the cache folder."""

load(":find.bzl", "CACHE_ENVIRON", "cache_folder", "find_tool", "version_of", "write_definitions")

ZIG_VERSION = "0.16.0"

def _impl(ctx):
    ctx.file("BUILD.bazel", "")
    cache = cache_folder(ctx)
    arch = {"amd64": "x64", "x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(ctx.os.arch if hasattr(ctx.os, "arch") else _machine(ctx))
    zig = find_tool(
        ctx,
        "HURRAY_ZIG",
        ["{}/zig/{}/node_modules/@zigc/linux-{}/bin/zig".format(cache, ZIG_VERSION, arch)] if cache else [],
        "zig",
    )
    missing = None
    if not zig:
        missing = "Zig {} is needed; tools/setup installs it from npm".format(ZIG_VERSION)
    else:
        found = version_of(ctx, [zig, "version"])
        if found != ZIG_VERSION:
            missing = "{} is version {}, but {} is needed; tools/setup installs it from npm".format(zig, found or "unknown", ZIG_VERSION)
    write_definitions(ctx, "Zig", {"ZIG": zig or "", "CACHE": cache or "", "OWN_BACKEND": "yes" if arch == "x64" else "no"}, missing)

def _machine(ctx):
    return version_of(ctx, ["uname", "-m"])

local_zig = repository_rule(
    implementation = _impl,
    configure = True,
    environ = ["HURRAY_ZIG"] + CACHE_ENVIRON,
    local = True,
)

"""Finds SWIG."""

load(":find.bzl", "find_tool", "write_definitions")

def _impl(ctx):
    ctx.file("BUILD.bazel", "")
    swig = find_tool(ctx, "HURRAY_SWIG", ["/usr/bin/swig"], "swig")
    missing = None if swig else "SWIG 4.1 or newer is needed; tools/setup installs Debian's swig"
    write_definitions(ctx, "SWIG", {"SWIG": swig or ""}, missing)

local_swig = repository_rule(
    implementation = _impl,
    configure = True,
    environ = ["HURRAY_SWIG", "PATH"],
    local = True,
)

"""Finds Chromium, in which pages are opened by tests."""

load(":find.bzl", "find_tool", "write_definitions")

def _impl(ctx):
    ctx.file("BUILD.bazel", "")
    chromium = find_tool(ctx, "HURRAY_CHROMIUM", ["/usr/bin/chromium"], "chromium")
    missing = None if chromium else "Chromium is needed; tools/setup installs Debian's chromium"
    write_definitions(ctx, "Chromium", {"CHROMIUM": chromium or ""}, missing)

local_chromium = repository_rule(
    implementation = _impl,
    configure = True,
    environ = ["HURRAY_CHROMIUM", "PATH"],
    local = True,
)

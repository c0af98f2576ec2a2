"""Finds clang 19 and its Python module: headergen reads the sources of the C ABI with them."""

load(":find.bzl", "find_tool", "version_of", "write_definitions")

def _impl(ctx):
    ctx.file("BUILD.bazel", "")
    clang = find_tool(ctx, "HURRAY_CLANG", ["/usr/bin/clang-19", "/usr/lib/llvm-19/bin/clang"], "clang-19")
    missing = None
    if not clang:
        missing = "clang 19 is needed; tools/setup installs Debian's clang-19"
    elif not version_of(ctx, ["/usr/bin/python3", "-I", "-c", "import clang.cindex; print('yes')"]):
        missing = "clang's Python module is needed; tools/setup installs Debian's python3-clang-19"
    resources = version_of(ctx, [clang, "-print-resource-dir"]) if clang else ""
    write_definitions(ctx, "headergen", {"CLANG": clang or "", "RESOURCES": resources}, missing)

local_clang = repository_rule(
    implementation = _impl,
    configure = True,
    environ = ["HURRAY_CLANG", "PATH"],
    local = True,
)

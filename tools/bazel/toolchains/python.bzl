"""Finds Debian's python3 (another one may come first on PATH: it lacks Debian's NumPy and clang) and its C headers."""

load(":find.bzl", "INCOMPATIBLE", "find_tool", "version_of", "write_definitions")

_BUILD = """
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "headers",
    hdrs = glob(["include/**/*.h"], allow_empty = True),
    includes = ["include"],
    target_compatible_with = {compatible},
)
"""

_QUESTION = """
import sys, sysconfig, importlib.util
print(sys.version_info[0] * 100 + sys.version_info[1], sysconfig.get_path("include"), importlib.util.find_spec("numpy") is not None)
"""

def _impl(ctx):
    python = find_tool(ctx, "HURRAY_PYTHON", ["/usr/bin/python3"], "python3")
    missing = None
    if not python:
        missing = "Python 3.11 or newer is needed; tools/setup installs Debian's python3"
    else:
        words = version_of(ctx, [python, "-I", "-c", _QUESTION]).split(" ")
        if len(words) != 3 or int(words[0]) < 311:
            missing = "{} is no Python 3.11 or newer".format(python)
        elif not ctx.path(words[1] + "/Python.h").exists:
            missing = "Python's C headers are needed; tools/setup installs Debian's python3-dev"
        elif words[2] != "True":
            missing = "NumPy is needed by the tests; tools/setup installs Debian's python3-numpy"
        else:
            ctx.symlink(words[1], "include")
    ctx.file("BUILD.bazel", _BUILD.format(compatible = repr(INCOMPATIBLE if missing else [])))
    write_definitions(ctx, "Python", {"PYTHON": python or ""}, missing)

local_python = repository_rule(
    implementation = _impl,
    configure = True,
    environ = ["HURRAY_PYTHON", "PATH"],
    local = True,
)

"""Finds Debian's python3 (another one may come first on PATH: it lacks Debian's NumPy and clang) and its C headers."""

load(":find.bzl", "INCOMPATIBLE", "find_tool", "first_existing", "version_of", "write_definitions")

_BUILD = """
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "headers",
    hdrs = glob([
        "include/**/*.h",
        "multiarch/**/*.h",
    ], allow_empty = True),
    includes = [
        "include",
        "multiarch",
    ],
    target_compatible_with = {compatible},
)
"""

_QUESTION = """
import sys, sysconfig, platform, importlib.util
print(sys.version_info[0] * 100 + sys.version_info[1], sysconfig.get_path("include"), importlib.util.find_spec("numpy") is not None, platform.machine())
"""

def _impl(ctx):
    python = find_tool(ctx, "HURRAY_PYTHON", ["/usr/bin/python3"], "python3")
    missing = None
    if not python:
        missing = "Python 3.11 or newer is needed; tools/setup installs Debian's python3"
    else:
        words = version_of(ctx, [python, "-I", "-c", _QUESTION]).split(" ")
        if len(words) != 4 or int(words[0]) < 311:
            missing = "{} is no Python 3.11 or newer".format(python)
        elif not ctx.path(words[1] + "/Python.h").exists:
            missing = "Python's C headers are needed; tools/setup installs Debian's python3-dev"
        elif words[2] != "True":
            missing = "NumPy is needed by the tests; tools/setup installs Debian's python3-numpy"
        else:
            ctx.symlink(words[1], "include")

            # Debian's pyconfig.h includes that of the machine by a name beside the folder, which compilers for other machines
            # do not look for. Both machines of a release are of 64 bits, little-endian: what the limited API asks is the same.
            name = ctx.path(words[1]).basename
            for cpu in ["x86_64", "aarch64"]:
                own = "/usr/include/{}-linux-gnu/{}".format(words[3], name)
                if ctx.path(own).exists:
                    ctx.symlink(own, "multiarch/{}-linux-gnu/{}".format(cpu, name))
    ctx.file("BUILD.bazel", _BUILD.format(compatible = repr(INCOMPATIBLE if missing else [])))

    # pip is asked for by the test of the package alone.
    pip = first_existing(ctx, ["/usr/lib/python3/dist-packages/pip/__init__.py"])
    write_definitions(ctx, "Python", {"PIP_COMPATIBLE": [] if pip else INCOMPATIBLE, "PYTHON": python or ""}, missing)

local_python = repository_rule(
    implementation = _impl,
    configure = True,
    environ = ["HURRAY_PYTHON", "PATH"],
    local = True,
)

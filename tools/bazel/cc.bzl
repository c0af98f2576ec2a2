"""C and C++ rules with the project's warnings, and the shared library that other languages load.

Visibility, the C++ standard and the static C++ runtime come from .bazelrc.
"""

load("@rules_cc//cc:defs.bzl", _cc_binary = "cc_binary", _cc_library = "cc_library", _cc_test = "cc_test")

WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Werror",
]

def cc_library(name, copts = [], **kwargs):
    """cc_library with the project's warnings."""
    _cc_library(name = name, copts = WARNINGS + copts, **kwargs)

def cc_binary(name, copts = [], **kwargs):
    """cc_binary with the project's warnings."""
    _cc_binary(name = name, copts = WARNINGS + copts, **kwargs)

def cc_test(name, copts = [], tags = [], **kwargs):
    """cc_test with the project's warnings. Tags: see "Tiers" in CONTRIBUTING.md; "threads" has it run under tsan, too."""
    _cc_test(name = name, copts = WARNINGS + copts, tags = ["lang_cpp"] + tags, **kwargs)

def _renamed_copy_impl(ctx):
    out = ctx.actions.declare_file(ctx.attr.file_name)
    ctx.actions.symlink(output = out, target_file = ctx.file.src)
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles(files = [out, ctx.file.src]))]

_renamed_copy = rule(
    implementation = _renamed_copy_impl,
    attrs = {
        "file_name": attr.string(mandatory = True),
        "src": attr.label(mandatory = True, allow_single_file = True),
    },
    doc = "The same file under another name, in the same folder.",
)

def shared_c_library(
        name,
        version_script,
        deps,
        soname = None,
        srcs = [],
        hdrs = [],
        includes = [],
        linkopts = [],
        allow_undefined = False,
        visibility = None,
        **kwargs):
    """A shared library for other languages: exports what its version script names, and needs nothing but libc.

    Makes these targets:
      name              the library, such as libhurray.so
      soname            the same file under its soname, such as libhurray.so.1, in the same folder (only with soname)
      name + ".link"    a cc_library to link C and C++ programs to it, with the headers; its program finds the library
                        in its runfiles (only with soname)

    The library cannot be unloaded (-z nodelete: callbacks and destructors may come later), binds its own symbols
    itself (-Bsymbolic), leaves none undefined (-z defs; the C library's aside), and carries the C++ runtime, hidden.

    Args:
      name: file name of the library, ending in .so.
      version_script: label of the linker's version script: what is exported, and in which version node.
      deps: cc_library targets. The ones that define exported functions need alwayslink = True.
      soname: its soname; None for a library that is only loaded by name, such as a JNI library or Python extension.
      srcs: sources of its own.
      hdrs: public headers of the ".link" target.
      includes: include folders of the ".link" target.
      linkopts: more options of the linker.
      allow_undefined: symbols may come from the program that loads it (Python extensions).
      visibility: of all targets made.
      **kwargs: handed on to cc_binary (tags, target_compatible_with, testonly, copts ...).
    """
    options = [
        "-Wl,--version-script,$(location {})".format(version_script),
        "-Wl,-z,nodelete",
        "-Wl,-z,now",
        "-Wl,-Bsymbolic",
        "-Wl,--exclude-libs,ALL",
        "-static-libstdc++",
        "-static-libgcc",
    ]
    if not allow_undefined:
        options.append("-Wl,-z,defs")
    if soname:
        options.append("-Wl,-soname," + soname)
    copts = kwargs.pop("copts", [])
    _cc_binary(
        name = name,
        srcs = srcs,
        additional_linker_inputs = [version_script],
        copts = WARNINGS + copts,
        linkopts = options + linkopts,
        linkshared = True,
        linkstatic = True,
        visibility = visibility,
        deps = deps,
        **kwargs
    )
    if soname:
        common = {key: kwargs[key] for key in ["tags", "target_compatible_with", "testonly"] if key in kwargs}
        _renamed_copy(
            name = soname,
            src = name,
            file_name = soname,
            visibility = visibility,
            **common
        )
        _cc_library(
            name = name + ".link",
            srcs = [soname],
            hdrs = hdrs,
            includes = includes,
            visibility = visibility,
            **common
        )

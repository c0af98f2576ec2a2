"""What is released: any C++ target as zig c++ builds it for one platform of platforms.bzl, with full optimisation.

    released(name = "libhurray-linux-x86_64", target = "//abi:libhurray.so.1", platform = "linux-x86_64")

The configuration does not depend on the one of the build that asks for it: --config=debug gives the same file.
"""

load("@local_zig//:defs.bzl", "CACHE", "COMPATIBLE", "ZIG")
load(":platforms.bzl", "PLATFORMS")

_NAMES = [platform.name for platform in PLATFORMS]

# The options that the configurations of .bazelrc change, each at one value. What is compiled how, the toolchain says.
_OPTIONS = {
    "//command_line_option:compilation_mode": "opt",
    "//command_line_option:conlyopt": [],
    "//command_line_option:copt": [],
    "//command_line_option:cxxopt": [],
    "//command_line_option:dynamic_mode": "off",
    "//command_line_option:features": [],
    "//command_line_option:linkopt": [],
    "//command_line_option:platform_suffix": "",
    "//command_line_option:strip": "never",
}

def _transition_impl(_settings, attr):
    return dict(
        _OPTIONS,
        **{
            "//command_line_option:cpu": attr.platform,
            "//command_line_option:crosstool_top": "//tools/bazel/release:suite",
            "//command_line_option:extra_toolchains": ["//tools/bazel/release:toolchain_" + attr.platform],
            "//command_line_option:platforms": ["//tools/bazel/release:" + attr.platform],
        }
    )

# For other rules that put released files into something of theirs: an attribute with cfg = released_transition, in a rule
# with an attribute "platform".
released_transition = transition(
    implementation = _transition_impl,
    inputs = [],
    outputs = list(_OPTIONS) + [
        "//command_line_option:cpu",
        "//command_line_option:crosstool_top",
        "//command_line_option:extra_toolchains",
        "//command_line_option:platforms",
    ],
)

# What a rule with that transition needs beside it.
TRANSITION_ATTRS = {
    "platform": attr.string(mandatory = True, values = _NAMES, doc = "Name of the platform in platforms.bzl."),
    "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
}

def _released_impl(ctx):
    # With a transition on it, the attribute is a list.
    target = ctx.attr.target[0]
    files = target[DefaultInfo].files.to_list()
    if not ctx.attr.file_name:
        return [DefaultInfo(files = depset(files), runfiles = ctx.runfiles(files = files))]
    if len(files) != 1:
        fail("{} has {} files; file_name is for targets with one".format(ctx.attr.target[0].label, len(files)))
    out = ctx.actions.declare_file(ctx.label.name + "/" + ctx.attr.file_name)
    ctx.actions.symlink(output = out, target_file = files[0])
    # The file behind it would lie at the place in the runfiles that the development's has.
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles(files = [out]))]

_released = rule(
    implementation = _released_impl,
    attrs = dict(
        TRANSITION_ATTRS,
        file_name = attr.string(),
        target = attr.label(mandatory = True, cfg = released_transition, allow_files = True),
    ),
)

def released(name, target, platform, file_name = None, target_compatible_with = [], **kwargs):
    """A target's files as they are released for a platform.

    Args:
      name: of this target.
      target: any target with C++ in it: a library, a program, a JNI library, a Python extension.
      platform: name of the platform in platforms.bzl.
      file_name: the file's name there, in a folder named as this target. By default what the target's own file is called;
        the library itself is called as platforms.bzl says.
      target_compatible_with: beside Zig, which must be there.
      **kwargs: tags, visibility, testonly.
    """
    if not file_name and target == "//abi:libhurray.so.1":
        file_name = [p.library for p in PLATFORMS if p.name == platform][0]
    _released(
        name = name,
        file_name = file_name or "",
        platform = platform,
        target = target,
        target_compatible_with = COMPATIBLE + target_compatible_with,
        **kwargs
    )

def _archive_impl(ctx):
    platform = [p for p in PLATFORMS if p.name == ctx.attr.platform][0]
    files = []
    for linked in ctx.attr.target[0][CcInfo].linking_context.linker_inputs.to_list():
        for library in linked.libraries:
            file = library.pic_static_library or library.static_library
            if file and file not in files:
                files.append(file)
    out = ctx.actions.declare_file(ctx.label.name + "/" + ctx.attr.file_name)
    ctx.actions.run(
        executable = ctx.file._prelink,
        arguments = [out.path, ctx.attr.keep] + [file.path for file in files],
        inputs = files + ctx.files._prelink_files,
        outputs = [out],
        env = {
            "HURRAY_ZIG": ZIG,
            "HURRAY_ZIG_CACHE": CACHE + "/zig-cache" if CACHE else "",
            "HURRAY_ZIG_TARGET": platform.zig,
        },
        mnemonic = "Prelink",
        progress_message = "Linking %s" % ctx.label,
    )
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles(files = [out]))]

_released_archive = rule(
    implementation = _archive_impl,
    attrs = dict(
        TRANSITION_ATTRS,
        file_name = attr.string(mandatory = True),
        keep = attr.string(mandatory = True),
        target = attr.label(mandatory = True, cfg = released_transition, providers = [CcInfo]),
        _prelink = attr.label(default = "//tools/bazel/release:prelink.py", allow_single_file = True),
        _prelink_files = attr.label(default = "//tools/bazel/release:prelink_files"),
    ),
)

def released_archive(name, target, platform, keep = "hurray_*", file_name = "libhurray.a", target_compatible_with = [], **kwargs):
    """One object in a static archive, with all that a C++ library needs but the C library: for Go, Zig and other linkers.

    Only what keep names can be seen from outside. The C++ runtime in it meets no other one, whatever else a program links.

    Args:
      name: of this target; the archive is in a folder of that name.
      target: a cc_library; everything that it depends on goes in.
      platform: name of a platform in platforms.bzl whose objects are ELF.
      keep: pattern of the names that stay visible.
      file_name: of the archive.
      target_compatible_with: beside Zig, which must be there.
      **kwargs: tags, visibility, testonly.
    """
    _released_archive(
        name = name,
        file_name = file_name,
        keep = keep,
        platform = platform,
        target = target,
        target_compatible_with = COMPATIBLE + target_compatible_with,
        **kwargs
    )

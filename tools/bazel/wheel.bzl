"""Wheels of the Python package, see tools/packaging/python/package.py."""

load("@hurray_version//:defs.bzl", "VERSION")
load("@local_python//:defs.bzl", "COMPATIBLE")
load(":released.bzl", "released")

def wheel(name, platform, sources, extension, library, readme, tags = [], target_compatible_with = [], **kwargs):
    """A wheel for one platform.

    Args:
      name: of this target.
      platform: a struct of platforms.bzl.
      sources: labels of the files of the package that are no compiled ones.
      extension: label of the extension, which is built as released for the platform.
      library: label of the library as released for the platform.
      readme: label of the long description.
      tags: beside lang_python and packages.
      target_compatible_with: beside Python, which must be there.
      **kwargs: visibility.
    """
    released(
        name = name + "_extension",
        file_name = "_native.abi3.so",
        platform = platform.name,
        tags = ["lang_python"] + tags,
        target = extension,
        target_compatible_with = COMPATIBLE + target_compatible_with,
    )
    native.genrule(
        name = name,
        srcs = sources + [":" + name + "_extension", library, readme],
        outs = ["hurray-{}-cp311-abi3-{}.whl".format(VERSION, platform.wheel)],
        cmd = " ".join([
            "$(location //tools/packaging/python:package)",
            "--platform " + platform.wheel,
            "--out $@",
            "--readme $(location {})".format(readme),
            "--native _native.abi3.so=$(location :{}_extension)".format(name),
            "--native {}=$(location {})".format(platform.library, library),
        ] + ["$(locations {})".format(source) for source in sources]),
        message = "Packing Python",
        tags = ["lang_python", "packages"] + tags,
        target_compatible_with = COMPATIBLE + target_compatible_with,
        tools = ["//tools/packaging/python:package"],
        **kwargs
    )

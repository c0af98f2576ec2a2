"""The package for C and C++ of one platform, see tools/packaging/cpp/package.py."""

load("@hurray_version//:defs.bzl", "VERSION")

def cpp_package(name, platform, headers, readme, library, archive = None, import_library = None, **kwargs):
    """A tar.gz with headers, libraries, a pkg-config file and a CMake config.

    Args:
      name: of this target.
      platform: name of a platform in platforms.bzl.
      headers: labels of single files; what follows "include/" in their paths is their place in the package.
      readme: a label.
      library: label of the shared library.
      archive: label of a static archive.
      import_library: label of what programs for Windows are linked with.
      **kwargs: tags, visibility, target_compatible_with.
    """
    parts = [("library", library), ("archive", archive), ("import-library", import_library), ("readme", readme)]
    parts = [(option, label) for option, label in parts if label] + [("header", header) for header in headers]
    native.genrule(
        name = name,
        srcs = [label for _, label in parts],
        outs = ["hurray-{}-{}.tar.gz".format(VERSION, platform)],
        cmd = "$(location //tools/packaging/cpp:package) --platform {} --out $@ {}".format(
            platform,
            " ".join(["--{} $(location {})".format(option, label) for option, label in parts]),
        ),
        message = "Packing C++ for " + platform,
        tools = ["//tools/packaging/cpp:package"],
        **kwargs
    )

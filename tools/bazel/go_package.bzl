"""The Go module, see tools/packaging/go/package.py."""

load("@local_go//:defs.bzl", "COMPATIBLE")

HEADERS = ["//abi:include/" + name for name in ["hurray.h", "hurray/abi.h", "hurray/compute.h", "hurray/io.h"]]

def go_package(name, out, sources, archives, target_compatible_with = [], **kwargs):
    """A module's zip.

    Args:
      name: of this target.
      out: file name of the zip.
      sources: label of the module's files.
      archives: labels of static archives by names of platforms in platforms.bzl.
      target_compatible_with: beside Go, which must be there.
      **kwargs: tags, visibility.
    """
    native.genrule(
        name = name,
        srcs = [sources] + HEADERS + archives.values(),
        outs = [out],
        cmd = "$(location //tools/packaging/go:package) $$(printf -- '--source %s ' $(locations {})) {} --out $@".format(
            sources,
            " ".join(
                ["--header $(location {})".format(label) for label in HEADERS] +
                ["--archive {}=$(location {})".format(platform, label) for platform, label in archives.items()],
            ),
        ),
        message = "Packing Go",
        tools = ["//tools/packaging/go:package"],
        target_compatible_with = COMPATIBLE + target_compatible_with,
        **kwargs
    )

"""zlib's sources, for the platforms of a release: tools/setup unpacks Debian's source package into the cache folder."""

load(":find.bzl", "CACHE_ENVIRON", "INCOMPATIBLE", "cache_folder")

# The compressor and the decompressor, without zlib's own ways to files (gz*.c).
_LIBRARY = """
package(default_visibility = ["//visibility:public"])

SOURCES = [
    "adler32.c",
    "compress.c",
    "crc32.c",
    "deflate.c",
    "infback.c",
    "inffast.c",
    "inflate.c",
    "inftrees.c",
    "trees.c",
    "uncompr.c",
    "zutil.c",
]

HEADERS = glob(["zlib/*.h"], allow_empty = True)

cc_library(
    name = "zlib",
    srcs = glob(["zlib/" + source for source in SOURCES], allow_empty = True) + HEADERS,
    hdrs = glob(["zlib/zlib.h", "zlib/zconf.h"], allow_empty = True),
    copts = ["-w"],
    includes = ["zlib"],
    target_compatible_with = {compatible},
)

# For packages that are compiled where they are used.
filegroup(
    name = "files",
    srcs = glob(["zlib/" + source for source in SOURCES], allow_empty = True) + HEADERS,
)

exports_files(["zlib/LICENSE"])
"""

def _impl(ctx):
    cache = cache_folder(ctx)
    folder = ctx.path(cache + "/sources/zlib") if cache else None
    found = folder != None and folder.get_child("inflate.c").exists
    if found:
        ctx.symlink(folder, "zlib")
    else:
        # buildifier: disable=print
        print("What is released is left out: the sources of Debian's zlib are needed; tools/setup unpacks them")
    ctx.file("BUILD.bazel", _LIBRARY.format(compatible = repr([] if found else INCOMPATIBLE)))

local_zlib = repository_rule(
    implementation = _impl,
    configure = True,
    environ = CACHE_ENVIRON,
    local = True,
)

"""Libraries that Debian installs as sources or headers: GoogleTest, Highway, RapidJSON and others."""

load(":find.bzl", "INCOMPATIBLE", "label_of")

_GOOGLETEST = """
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "gtest",
    testonly = True,
    srcs = glob(
        ["googletest/src/*.cc", "googletest/src/*.h", "googlemock/src/*.cc"],
        exclude = ["googletest/src/gtest-all.cc", "googletest/src/gtest_main.cc", "googlemock/src/gmock-all.cc", "googlemock/src/gmock_main.cc"],
        allow_empty = True,
    ),
    hdrs = glob(["googletest/include/**/*.h", "googlemock/include/**/*.h"], allow_empty = True),
    copts = ["-w", "-Iexternal/{name}/googletest", "-Iexternal/{name}/googlemock"],
    includes = ["googletest/include", "googlemock/include"],
    linkopts = ["-lpthread"],
    target_compatible_with = {compatible},
)

cc_library(
    name = "gtest_main",
    testonly = True,
    srcs = glob(["googlemock/src/gmock_main.cc"], allow_empty = True),
    copts = ["-w"],
    target_compatible_with = {compatible},
    deps = [":gtest"],
)
"""

def _googletest_impl(ctx):
    root = ctx.path("/usr/src/googletest")
    if root.exists:
        for part in ["googletest", "googlemock"]:
            ctx.symlink(root.get_child(part), part)
    else:
        # buildifier: disable=print
        print("C++ tests are left out: GoogleTest's sources are needed; tools/setup installs Debian's googletest")
    ctx.file("BUILD.bazel", _GOOGLETEST.format(
        name = ctx.name,
        compatible = repr([] if root.exists else INCOMPATIBLE),
    ))

local_googletest = repository_rule(
    implementation = _googletest_impl,
    configure = True,
    local = True,
)

# The compiler finds /usr/include by itself: what a target depends on here says that it needs the package, and is
# incompatible without it. What is released is compiled for other machines and does not see /usr/include: there the
# folders in _RELEASED are given to it, and nothing else.
_LIBRARIES = {
    "benchmark": ("/usr/include/benchmark/benchmark.h", "libbenchmark-dev"),
    "cli11": ("/usr/include/CLI/CLI.hpp", "libcli11-dev"),
    "fmt": ("/usr/include/fmt/format.h", "libfmt-dev"),
    "highway": ("/usr/include/hwy/highway.h", "libhwy-dev"),
    "nlohmann_json": ("/usr/include/nlohmann/json.hpp", "nlohmann-json3-dev"),
    "rapidjson": ("/usr/include/rapidjson/reader.h", "rapidjson-dev"),
    "zlib": ("/usr/include/zlib.h", "zlib1g-dev"),
}

# Debian has Google Benchmark as a shared library only. A program of it takes the shared C++ runtime, too: two runtimes in
# one program would each have their own streams and locales. zlib is linked in, so that libraries need libc only; Debian
# compiles the archive to position-independent code.
_LINK = {
    "benchmark": ["-lbenchmark", "-lstdc++", "-lpthread"],
    "zlib": ["-l:libz.a"],
}

# The folder below /usr/include; the package's files are //:NAME_files, its licence is //:NAME_licence.
_RELEASED = {
    "highway": "hwy",
    "rapidjson": "rapidjson",
}

_RELEASED_LIBRARY = """
cc_library(
    name = {name},
    hdrs = select({{{released}: glob([{folder} + "/**/*.h"], allow_empty = True), "//conditions:default": []}}),
    includes = select({{{released}: [{folder}], "//conditions:default": []}}),
    target_compatible_with = {compatible},
)

filegroup(
    name = {name} + "_files",
    srcs = glob([{folder} + "/**/*.h"], allow_empty = True),
)

exports_files(["LICENCE.{plain}"])
"""

def _selected(default, released):
    return "select({{{}: {}, \"//conditions:default\": {}}})".format(
        repr(label_of("//tools/bazel/release:released")),
        repr(released),
        repr(default),
    )

def _released_library(ctx, name, found, package):
    folder = name + "-include"
    if found:
        ctx.symlink("/usr/include/" + _RELEASED[name], folder + "/" + _RELEASED[name])
        ctx.symlink("/usr/share/doc/{}/copyright".format(package), "LICENCE." + name)
    return _RELEASED_LIBRARY.format(
        name = repr(name),
        plain = name,
        folder = repr(folder),
        released = repr(label_of("//tools/bazel/release:released")),
        compatible = repr([] if found else INCOMPATIBLE),
    )

def _headers_impl(ctx):
    lines = ['package(default_visibility = ["//visibility:public"])', ""]
    for name, (header, package) in _LIBRARIES.items():
        found = ctx.path(header).exists
        if name in _RELEASED:
            lines.append(_released_library(ctx, name, found, package))
        else:
            lines.append("cc_library(name = {}, linkopts = {}, deps = {}, target_compatible_with = {})".format(
                repr(name),
                _selected(_LINK.get(name, []), []) if name == "zlib" else repr(_LINK.get(name, [])),
                _selected([], ["@local_zlib//:zlib"]) if name == "zlib" else "[]",
                repr([] if found else INCOMPATIBLE),
            ))
        if not found:
            # buildifier: disable=print
            print("What uses {} is left out: tools/setup installs Debian's {}".format(name, package))
    ctx.file("BUILD.bazel", "\n".join(lines) + "\n")

local_headers = repository_rule(
    implementation = _headers_impl,
    configure = True,
    local = True,
)

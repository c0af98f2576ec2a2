"""Everything the build needs from outside the repository: all of it is found on the machine, nothing is downloaded.

tools/setup installs what is missing. docs/decisions/0001-build.md says why each of them is used.
"""

load("//tools/bazel/toolchains:chromium.bzl", "local_chromium")
load("//tools/bazel/toolchains:clang.bzl", "local_clang")
load("//tools/bazel/toolchains:dotnet.bzl", "local_dotnet")
load("//tools/bazel/toolchains:go.bzl", "local_go")
load("//tools/bazel/toolchains:handed_on.bzl", "handed_on_rules")
load("//tools/bazel/toolchains:headers.bzl", "local_googletest", "local_headers")
load("//tools/bazel/toolchains:java.bzl", "local_java")
load("//tools/bazel/toolchains:python.bzl", "local_python")
load("//tools/bazel/toolchains:swig.bzl", "local_swig")
load("//tools/bazel/toolchains:version.bzl", "version_repository")
load("//tools/bazel/toolchains:zig.bzl", "local_zig")
load("//tools/bazel/toolchains:zlib.bzl", "local_zlib")

def rules_handed_on():
    """Stand-ins for the rule sets that Bazel 4 downloads otherwise. Bazel with modules has the real ones."""
    for name in ["rules_cc", "rules_java", "remote_coverage_tools"]:
        handed_on_rules(name = name)

def hurray_dependencies():
    """The tools and libraries of this machine."""
    local_googletest(name = "googletest")
    local_headers(name = "local_headers")
    local_chromium(name = "local_chromium")
    local_clang(name = "local_clang")
    local_dotnet(name = "local_dotnet")
    local_go(name = "local_go")
    local_java(name = "local_java")
    local_python(name = "local_python")
    local_swig(name = "local_swig")
    local_zig(name = "local_zig")
    local_zlib(name = "local_zlib")
    version_repository(name = "hurray_version")

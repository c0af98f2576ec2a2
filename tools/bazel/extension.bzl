"""Bazel modules' way into deps.bzl. Apart from it, because Bazel 4 does not know module_extension."""

load("//tools/bazel:deps.bzl", "hurray_dependencies")

def _local_dependencies(_module_ctx):
    hurray_dependencies()

local_dependencies = module_extension(implementation = _local_dependencies)

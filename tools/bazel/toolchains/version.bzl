"""Hands the number in the file VERSION to BUILD files, so that it stands in one place."""

def _impl(ctx):
    version = ctx.read(ctx.path(Label("//:VERSION"))).strip()
    ctx.file("BUILD.bazel", "")
    ctx.file("defs.bzl", "VERSION = {}\n".format(repr(version)))

version_repository = repository_rule(
    implementation = _impl,
    doc = "@hurray_version//:defs.bzl has the constant VERSION.",
    local = True,
)

"""All headers that a C++ target can include, as files: what headergen's libclang must be able to open."""

def _impl(ctx):
    headers = [dep[CcInfo].compilation_context.headers for dep in ctx.attr.deps]
    # Of the repository only; libclang finds what the system has installed by itself.
    files = [f for f in depset(transitive = headers).to_list() if f.is_source and not f.short_path.startswith("../")]
    return [DefaultInfo(files = depset(files), runfiles = ctx.runfiles(files = files))]

transitive_headers = rule(
    implementation = _impl,
    attrs = {"deps": attr.label_list(providers = [CcInfo])},
    doc = "The headers of the deps and of all that they depend on.",
)

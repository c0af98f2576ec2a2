"""The package for Java, made by tools/packaging/java."""

load("@local_java//:defs.bzl", "COMPATIBLE", "JDK", "NEWER_COMPATIBLE")

def _impl(ctx):
    out = ctx.actions.declare_directory(ctx.label.name)
    jar = ctx.file.jar
    arguments = ["--jdk", JDK, "--jar", jar.path, "--readme", ctx.file.readme.path, "--out", out.path]
    for file in ctx.files.srcs:
        arguments += ["--source", file.path]
    for file in ctx.files.newer_srcs:
        arguments += ["--newer-source", file.path]
    natives = []
    for target, classifier in ctx.attr.natives.items():
        files = target.files.to_list()
        if len(files) != 1:
            fail("{} has {} files, not one".format(target.label, len(files)))
        natives += files
        arguments += ["--native", classifier + "=" + files[0].path]
    tool = ctx.executable._tool
    ctx.actions.run(
        executable = tool,
        arguments = arguments,
        inputs = depset([jar, ctx.file.readme] + ctx.files.srcs + ctx.files.newer_srcs + natives),
        tools = [ctx.attr._tool[DefaultInfo].files_to_run],
        outputs = [out],
        mnemonic = "JavaPackage",
        progress_message = "Packing Java %s" % ctx.label,
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles(files = [out]))]

_java_package = rule(
    implementation = _impl,
    attrs = {
        "jar": attr.label(allow_single_file = [".jar"], mandatory = True, doc = "With the classes for newer Javas in it."),
        "natives": attr.label_keyed_string_dict(allow_files = True, mandatory = True, doc = "JNI libraries and their jars' classifiers."),
        "newer_srcs": attr.label_list(allow_files = [".java"]),
        "readme": attr.label(allow_single_file = [".md"], mandatory = True),
        "srcs": attr.label_list(allow_files = [".java", ".srcjar"]),
        "_tool": attr.label(default = "//tools/packaging/java:package", executable = True, cfg = "exec"),
    },
)

def java_package(name, tags = [], **kwargs):
    """A folder with the jars and the POM."""
    _java_package(
        name = name,
        tags = ["lang_java", "needs_newer_jdk"] + tags,
        target_compatible_with = COMPATIBLE + NEWER_COMPATIBLE,
        **kwargs
    )

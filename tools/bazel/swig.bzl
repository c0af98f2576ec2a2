"""SWIG's Java layer."""

load("@local_java//:defs.bzl", "JDK", JAVA_COMPATIBLE = "COMPATIBLE")
load("@local_swig//:defs.bzl", "COMPATIBLE", "SWIG")
load(":launcher.bzl", "cc_paths", "quote", "run_script")

# For the cc target that compiles the wrapper: SWIG reads pointers out of jlong through casts.
SWIG_COPTS = [
    "-fno-strict-aliasing",
    "-Wno-unused-parameter",
]

_SCRIPT = """
mkdir -p "$SCRATCH/java/{folder}"
{swig} -java -Wall -Werror -package {package} -outdir "$SCRATCH/java/{folder}" -o {wrapper} {includes} {options} {interface}
{jdk}/bin/jar -J-XX:-UsePerfData --create --no-manifest --date=1980-01-01T00:00:02Z --file {srcjar} -C "$SCRATCH/java" .
"""

def _impl(ctx):
    headers, folders = cc_paths(ctx)
    wrapper = ctx.actions.declare_file(ctx.label.name + "_wrap" + (".cpp" if ctx.attr.cpp else ".c"))
    srcjar = ctx.actions.declare_file(ctx.label.name + ".srcjar")
    run_script(
        ctx,
        "swig",
        _SCRIPT.format(
            swig = quote(SWIG) + (" -c++" if ctx.attr.cpp else ""),
            package = quote(ctx.attr.package),
            folder = ctx.attr.package.replace(".", "/"),
            wrapper = quote(wrapper.path),
            includes = " ".join(["-I" + quote(f) for f in folders]),
            options = " ".join([quote(o) for o in ctx.attr.options]),
            interface = quote(ctx.file.interface.path),
            jdk = quote(JDK),
            srcjar = quote(srcjar.path),
        ),
        depset([ctx.file.interface] + ctx.files.srcs, transitive = [headers]),
        [wrapper, srcjar],
        "Swig",
        "Running SWIG for %s" % ctx.label,
    )
    return [
        DefaultInfo(files = depset([wrapper, srcjar])),
        OutputGroupInfo(java = depset([srcjar]), wrapper = depset([wrapper])),
    ]

_swig_java = rule(
    implementation = _impl,
    attrs = {
        "cc_deps": attr.label_list(providers = [CcInfo]),
        "cpp": attr.bool(doc = "Make a C++ wrapper."),
        "interface": attr.label(allow_single_file = [".i", ".swg"], mandatory = True),
        "options": attr.string_list(),
        "package": attr.string(mandatory = True, doc = "Java package."),
        "srcs": attr.label_list(allow_files = True, doc = "What the interface file includes."),
    },
)

def swig_java(name, tags = [], target_compatible_with = [], **kwargs):
    """Runs SWIG for Java.

    Makes these targets:
      name            both outputs
      name + ".java"  the Java sources, a .srcjar for java_library's srcs
      name + ".c"     the wrapper, for cc_library's srcs
    """
    tags = tags + ["lang_java"]
    compatible = COMPATIBLE + JAVA_COMPATIBLE + target_compatible_with
    visibility = kwargs.get("visibility")
    _swig_java(name = name, tags = tags, target_compatible_with = compatible, **kwargs)
    native.filegroup(name = name + ".java", srcs = [name], output_group = "java", tags = tags, visibility = visibility)
    native.filegroup(name = name + ".c", srcs = [name], output_group = "wrapper", tags = tags, visibility = visibility)

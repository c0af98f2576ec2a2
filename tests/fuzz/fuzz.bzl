"""Fuzz targets: one source file with LLVMFuzzerTestOneInput, run in two ways.

NAME_replay_test   everywhere, under every sanitizer: the seeds, their prefixes and a fixed number of mutations, the same each time
NAME_fuzz_test     where clang 19 is: libFuzzer with ASan and UBSan, a fixed seed and number of runs, so that a failure
                   can be had again; to look for new ones, run bazel-bin/tests/fuzz/NAME_fuzzer on a folder of inputs
"""

load("@local_clang//:defs.bzl", "CLANG", "COMPATIBLE")
load("//tools/bazel:cc.bzl", "cc_test")

_FLAGS = [
    "-std=c++23",
    "-O1",
    "-g",
    "-fno-omit-frame-pointer",
    "-fsanitize=fuzzer,address,undefined",
    "-fno-sanitize-recover=all",
]

_Objects = provider(doc = "What a library and all that it needs were compiled to.", fields = ["files"])

def _compile(ctx, sources, contexts):
    folders = depset(transitive = [c.includes for c in contexts] + [c.system_includes for c in contexts])
    headers = depset(sources, transitive = [c.headers for c in contexts])
    objects = []
    for source in sources:
        if source.extension != "cpp":
            continue
        object_file = ctx.actions.declare_file(ctx.label.name + ".fuzz/" + source.short_path.replace("/", "_") + ".o")
        arguments = ctx.actions.args()
        arguments.add_all(["--driver-mode=g++"] + _FLAGS + ["-I."])
        arguments.add_all(folders, before_each = "-isystem")
        arguments.add_all(["-c", source, "-o", object_file])
        ctx.actions.run(
            executable = CLANG,
            arguments = [arguments],
            inputs = headers,
            outputs = [object_file],
            mnemonic = "FuzzCompile",
            use_default_shell_env = True,
            progress_message = "Compiling %s for the fuzzers" % source.short_path,
        )
        objects.append(object_file)
    return objects

def _objects_impl(target, ctx):
    sources = [file for src in getattr(ctx.rule.attr, "srcs", []) for file in src.files.to_list()]
    objects = _compile(ctx, sources, [target[CcInfo].compilation_context]) if CcInfo in target else []
    deps = [dep[_Objects].files for dep in getattr(ctx.rule.attr, "deps", []) if _Objects in dep]
    return [_Objects(files = depset(objects, transitive = deps))]

# The libraries are compiled once more, by clang and with coverage: once for all fuzzers.
_objects = aspect(implementation = _objects_impl, attr_aspects = ["deps"])

def _fuzzer_impl(ctx):
    own = _compile(ctx, ctx.files.srcs, [dep[CcInfo].compilation_context for dep in ctx.attr.deps])
    objects = depset(own, transitive = [dep[_Objects].files for dep in ctx.attr.deps])
    fuzzer = ctx.actions.declare_file(ctx.label.name)
    arguments = ctx.actions.args()
    arguments.add_all(["--driver-mode=g++"] + _FLAGS)
    arguments.add_all(objects)

    # What the libraries are linked with beside their objects: zlib.
    linked = depset(transitive = [dep[CcInfo].linking_context.linker_inputs for dep in ctx.attr.deps])
    for linker_input in linked.to_list():
        arguments.add_all(linker_input.user_link_flags)
    arguments.add_all(["-o", fuzzer])
    ctx.actions.run(
        executable = CLANG,
        arguments = [arguments],
        inputs = objects,
        outputs = [fuzzer],
        mnemonic = "FuzzLink",
        use_default_shell_env = True,
    )
    return [DefaultInfo(executable = fuzzer, runfiles = ctx.runfiles(files = [fuzzer]))]

_fuzzer = rule(
    implementation = _fuzzer_impl,
    executable = True,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cpp"]),
        "deps": attr.label_list(aspects = [_objects], providers = [CcInfo]),
    },
)

def fuzz_target(name, deps, seeds, runs = 300000):
    """Declares the fuzz target NAME.cpp.

    Args:
      name: of the source file, without .cpp.
      deps: cc_library targets.
      seeds: files to start from.
      runs: inputs that libFuzzer tries in the test.
    """
    cc_test(
        name = name + "_replay_test",
        srcs = [
            name + ".cpp",
            "replay.cpp",
        ],
        args = ["$(rootpaths %s)" % seeds],
        data = [seeds],
        deps = deps,
    )
    _fuzzer(
        name = name + "_fuzzer",
        testonly = True,
        srcs = [name + ".cpp"],
        tags = ["lang_cpp"],
        target_compatible_with = COMPATIBLE,
        deps = deps,
    )
    native.sh_test(
        name = name + "_fuzz_test",
        srcs = ["fuzz_test.sh"],
        args = [
            "$(rootpath :%s_fuzzer)" % name,
            str(runs),
            "$(rootpaths %s)" % seeds,
        ],
        data = [
            seeds,
            ":%s_fuzzer" % name,
        ],
        # It has sanitizers of its own.
        tags = [
            "lang_cpp",
            "no_asan",
            "no_tsan",
            "no_ubsan",
            "tier_medium",
        ],
        target_compatible_with = COMPATIBLE,
    )

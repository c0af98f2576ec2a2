"""Zig modules, programs and tests, with the project's C headers (@cImport) and shared library."""

load("@local_zig//:defs.bzl", "CACHE", "COMPATIBLE", "OWN_BACKEND", "ZIG")
load(":launcher.bzl", "NATIVE_ATTRS", "cc_paths", "native_runfiles", "quote", "run_script", "runfile", "write_launcher")

ZigInfo = provider(
    doc = "A Zig module.",
    fields = {
        "module": "name that @import uses",
        "root": "its root file",
        "srcs": "all its files",
        "deps": "ZigInfo of the modules that it imports",
        "headers": "depset of C headers",
        "includes": "folders of C headers",
    },
)

def _zig_library_impl(ctx):
    headers, folders = cc_paths(ctx)
    return [
        ZigInfo(
            module = ctx.attr.module or ctx.label.name,
            root = ctx.file.root,
            srcs = ctx.files.srcs,
            deps = [dep[ZigInfo] for dep in ctx.attr.deps],
            headers = headers,
            includes = folders,
        ),
        DefaultInfo(files = depset(ctx.files.srcs)),
    ]

# The environment names the folder, too: the compiler is asked for the translation of C headers as a process of its own, which
# does not get the option and would be compiled anew in every action, for a minute.
_SCRIPT = """
global="$(cache_folder {cache} zig)"
export ZIG_GLOBAL_CACHE_DIR="$global"
# Zig writes to a file at offset 0 and so over what is there: hence the cat.
{zig} {command} {options} {modules} {link} -lc --cache-dir "$SCRATCH/local" --global-cache-dir "$global" {name} -femit-bin={out} 2>&1 | cat
"""

# Modules are listed once each. Starlark has no recursion: six rounds are deeper than anything here.
def _all_modules(first):
    result = []
    names = []
    round_ = first
    for _ in range(6):
        following = []
        for info in round_:
            if info.module not in names:
                names.append(info.module)
                result.append(info)
                following += info.deps
        round_ = following
    return result

def _module_options(module, root, deps, includes):
    words = []
    for dep in deps:
        words += ["--dep", dep.module]
    for folder in includes:
        words += ["-I", folder]
    words.append("-M{}={}".format(module, root.path))
    return words

# LLVM takes ten times as long as Zig's own backend, which does not optimise. Half of its time is debug information.
def _mode_options(ctx):
    mode = ctx.attr.optimize
    options = ["-O" + mode]
    if mode != "Debug":
        if ctx.attr.llvm and ctx.var["COMPILATION_MODE"] == "opt":
            options += ["-fllvm", "-fstrip"]
        elif OWN_BACKEND == "yes":
            options.append("-fno-llvm")
    return " ".join(options)

def _zig_impl(ctx, test, shared = False):
    headers, folders = cc_paths(ctx)
    own_deps = [dep[ZigInfo] for dep in ctx.attr.deps]
    modules = _all_modules(own_deps)
    out = ctx.actions.declare_file(("lib{}.so" if shared else "{}.exe").format(ctx.label.name))
    words = _module_options("root", ctx.file.root, own_deps, folders)
    for info in modules:
        words += _module_options(info.module, info.root, info.deps, info.includes)
    link = []

    # What is opened at run time is no input: a change in the core compiles no Zig.
    linked = [library for library in ctx.files.native_libs if library.extension == "so"]
    for library in linked:
        link += ["-L" + library.dirname, "-l" + library.basename[len("lib"):-len(".so")]]
    run_script(
        ctx,
        "build",
        _SCRIPT.format(
            cache = quote(CACHE + "/zig-cache" if CACHE else ""),
            zig = quote(ZIG),
            command = "test --test-no-exec" if test else ("build-lib -dynamic -fPIC" if shared else "build-exe"),
            options = _mode_options(ctx),
            modules = " ".join([quote(word) for word in words]),
            link = " ".join([quote(word) for word in link]),
            name = "--name " + quote(ctx.label.name),
            out = quote(out.path),
        ),
        depset(
            ctx.files.srcs + [ctx.file.root] + linked,
            transitive = [headers] + [depset(info.srcs + [info.root]) for info in modules] + [info.headers for info in modules],
        ),
        [out],
        "Zig",
        "Building Zig %s" % ctx.label,
    )
    if shared:
        return [DefaultInfo(files = depset([out]), runfiles = native_runfiles(ctx, [out]))]
    if test:
        body = """
export HOME="${{TEST_TMPDIR:-/tmp}}"
cd "$ROOT"
{} 2>&1 | tee "$TEST_TMPDIR/zig-test.log" || exit 1
if ! grep -qE '(^|[^0-9])[1-9][0-9]* (passed|tests? passed)|All [1-9][0-9]* tests passed' "$TEST_TMPDIR/zig-test.log"; then echo "no tests ran" >&2; exit 1; fi
""".format(runfile(out))
    else:
        body = 'exec {} "$@"'.format(runfile(out))
    launcher = write_launcher(ctx, body)
    return [DefaultInfo(
        executable = launcher,
        files = depset([launcher]),
        runfiles = native_runfiles(ctx, [out]),
    )]

def _zig_binary_impl(ctx):
    return _zig_impl(ctx, False)

def _zig_test_impl(ctx):
    return _zig_impl(ctx, True)

def _zig_shared_library_impl(ctx):
    return _zig_impl(ctx, False, True)

_MODULE_ATTRS = {
    "cc_deps": attr.label_list(providers = [CcInfo], doc = "cc_library targets with the headers for @cImport."),
    "deps": attr.label_list(providers = [ZigInfo], doc = "zig_library targets to import."),
    "root": attr.label(allow_single_file = [".zig"], mandatory = True, doc = "The root file."),
    "srcs": attr.label_list(allow_files = True, doc = "All other files of the module."),
}

_ATTRS = dict(
    dict(_MODULE_ATTRS, **NATIVE_ATTRS),
    llvm = attr.bool(doc = "With -c opt, LLVM generates the code and optimises it. Else Zig's own backend does, where it has one: in seconds, with the checks of the mode, slow code. For Debug it makes no difference."),
    optimize = attr.string(default = "Debug", values = ["Debug", "ReleaseSafe", "ReleaseFast", "ReleaseSmall"]),
)

_zig_library = rule(
    implementation = _zig_library_impl,
    attrs = dict(_MODULE_ATTRS, module = attr.string(doc = "Name that @import uses; the target's by default.")),
)

_zig_binary = rule(implementation = _zig_binary_impl, attrs = _ATTRS, executable = True)

_zig_shared_library = rule(implementation = _zig_shared_library_impl, attrs = _ATTRS)

_zig_test = rule(implementation = _zig_test_impl, attrs = _ATTRS, test = True)

def zig_library(name, tags = [], target_compatible_with = [], **kwargs):
    """A Zig module that others import."""
    _zig_library(name = name, tags = tags + ["lang_zig"], target_compatible_with = COMPATIBLE + target_compatible_with, **kwargs)

def zig_binary(name, tags = [], target_compatible_with = [], **kwargs):
    """A Zig program."""
    _zig_binary(name = name, tags = tags + ["lang_zig"], target_compatible_with = COMPATIBLE + target_compatible_with, **kwargs)

def zig_shared_library(name, tags = [], target_compatible_with = [], **kwargs):
    """A shared library for C, lib<name>.so: the exported functions of the root file."""
    _zig_shared_library(name = name, tags = tags + ["lang_zig"], target_compatible_with = COMPATIBLE + target_compatible_with, **kwargs)

def zig_test(name, tags = [], target_compatible_with = [], **kwargs):
    """The tests in a root file and in what it refers to."""
    _zig_test(name = name, tags = tags + ["lang_zig"], target_compatible_with = COMPATIBLE + target_compatible_with, **kwargs)

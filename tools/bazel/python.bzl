"""Python programs and tests with Debian's python3."""

load("@local_python//:defs.bzl", "COMPATIBLE", "PYTHON")
load(":launcher.bzl", "NATIVE_ATTRS", "native_runfiles", "quote", "runfile", "write_launcher")

PathsInfo = provider(doc = "Import paths of a Python target.", fields = {"imports": "folders from the workspace's root"})

def _imports(ctx):
    own = [i for i in ctx.attr.imports]
    for dep in ctx.attr.deps:
        own += dep[PathsInfo].imports
    return depset(own).to_list()

def _runfiles(ctx):
    runfiles = native_runfiles(ctx, ctx.files.srcs)
    for dep in ctx.attr.deps:
        runfiles = runfiles.merge(dep[DefaultInfo].default_runfiles)
    return runfiles

def _library_impl(ctx):
    return [
        DefaultInfo(files = depset(ctx.files.srcs), runfiles = _runfiles(ctx)),
        PathsInfo(imports = _imports(ctx)),
    ]

# -P: Python would put the folder of the real file first, past the links of the runfiles.
def _exports(ctx):
    folders = ["$ROOT/" + folder if folder != "." else "$ROOT" for folder in _imports(ctx)] + ["$ROOT"]
    return [
        "export PYTHONPATH=\"{}\"".format(":".join(folders)),
        "export PYTHONNOUSERSITE=1 PYTHONDONTWRITEBYTECODE=1 PYTHONUTF8=1",
    ]

def _binary_impl(ctx):
    flags = " ".join([quote(f) for f in ctx.attr.python_flags])
    launcher = write_launcher(ctx, 'exec {} -P {} {} "$@"'.format(quote(PYTHON), flags, runfile(ctx.file.main)), _exports(ctx))
    return [DefaultInfo(executable = launcher, files = depset([launcher]), runfiles = _runfiles(ctx).merge(ctx.runfiles(files = [ctx.file.main])))]

def _test_impl(ctx):
    flags = " ".join([quote(f) for f in ["-W", "error"] + ctx.attr.python_flags])
    body = """
export HOME="${{TEST_TMPDIR:-/tmp}}"
cd "$ROOT"
exec {python} -P {flags} {runner} {main} "$@"
""".format(python = quote(PYTHON), flags = flags, runner = runfile(ctx.file._runner), main = runfile(ctx.file.main))
    launcher = write_launcher(ctx, body, _exports(ctx))
    return [DefaultInfo(
        executable = launcher,
        files = depset([launcher]),
        runfiles = _runfiles(ctx).merge(ctx.runfiles(files = [ctx.file.main, ctx.file._runner])),
    )]

_ATTRS = dict(
    NATIVE_ATTRS,
    deps = attr.label_list(providers = [PathsInfo]),
    imports = attr.string_list(doc = "Folders for sys.path, from the workspace's root; the root itself is always there, last."),
    srcs = attr.label_list(allow_files = True),
)

_RUN_ATTRS = dict(
    _ATTRS,
    main = attr.label(allow_single_file = [".py"], mandatory = True),
    python_flags = attr.string_list(),
)

_py_library_system = rule(implementation = _library_impl, attrs = _ATTRS)

_py_binary_system = rule(implementation = _binary_impl, attrs = _RUN_ATTRS, executable = True)

_py_system_test = rule(
    implementation = _test_impl,
    attrs = dict(_RUN_ATTRS, _runner = attr.label(default = "//tools/bazel:run_unittest.py", allow_single_file = True)),
    test = True,
)

def py_library_system(name, tags = [], target_compatible_with = [], **kwargs):
    """Python files that others import. An extension module in data lies beside them when its name says so."""
    _py_library_system(name = name, tags = tags + ["lang_python"], target_compatible_with = COMPATIBLE + target_compatible_with, **kwargs)

def py_binary_system(name, tags = [], target_compatible_with = [], **kwargs):
    """A Python program."""
    _py_binary_system(name = name, tags = tags + ["lang_python"], target_compatible_with = COMPATIBLE + target_compatible_with, **kwargs)

def py_test_system(name, tags = [], target_compatible_with = [], **kwargs):
    """The unittest tests in main; warnings are errors, and no test at all is a failure."""
    _py_system_test(name = name, tags = tags + ["lang_python"], target_compatible_with = COMPATIBLE + target_compatible_with, **kwargs)

"""Go programs and tests from modules in the repository, with cgo against the project's headers and shared library.

No modules are downloaded. Sources keep their places relative to each other, so a go.mod may say
replace example => ../../bindings/go and name the other module's sources in deps.
"""

load("@local_go//:defs.bzl", "CACHE", "COMPATIBLE", "GO")
load(":launcher.bzl", "NATIVE_ATTRS", "cc_paths", "native_runfiles", "quote", "run_script", "runfile", "write_launcher")

# CPATH and LIBRARY_PATH instead of -I and -L: the sandbox lies elsewhere each time, and flags are part of Go's cache
# keys. What must be part of them is what the headers say, which Go does not look at: hence the hash.
_SCRIPT = """
SRC="$SCRATCH/src"
while read -r from to; do
  mkdir -p "$SRC/$(dirname "$to")"
  cp -L "$from" "$SRC/$to"
done <<'FILES'
{staging}
FILES
export CPATH={includes} LIBRARY_PATH={libraries} LD_LIBRARY_PATH={libraries}
hash="$(cat /dev/null {headers} | sha256sum | cut -c1-16)"
export CGO_CFLAGS="-O2 -g -DHURRAY_HEADERS_HASH=0x$hash" CGO_ENABLED=1 CC=gcc CXX=g++
export GOCACHE GOPATH="$SCRATCH/gopath" GOPROXY=off GOSUMDB=off GOTOOLCHAIN=local GOENV=off GOTELEMETRY=off
GOCACHE="$(cache_folder {cache} go)"
export GOFLAGS="-trimpath -buildvcs=false" GOEXPERIMENT={experiments}
out="$EXECROOT/{out}"
cd "$SRC/{folder}"
{commands}
"""

def _staging(files):
    return "\n".join(["{} {}".format(f.path, f.short_path) for f in files])

def _go_impl(ctx, test, shared = False):
    headers, folders = cc_paths(ctx)
    out = ctx.actions.declare_file(("lib{}.so" if shared else "{}.exe").format(ctx.label.name))
    sources = depset(ctx.files.srcs + ctx.files.deps).to_list()
    module = ctx.attr.module if ctx.attr.module else ctx.label.package
    commands = []
    flags = (["-race"] if ctx.attr.race else []) + (["-tags", ",".join(ctx.attr.build_tags)] if ctx.attr.build_tags else [])
    flags = " ".join([quote(flag) for flag in flags])
    if test:
        if ctx.attr.vet:
            own = [quote(f.short_path) for f in ctx.files.srcs if f.extension == "go"]
            commands.append('unformatted="$(cd "$SRC" && {} {})"'.format(quote(GO.rpartition("/")[0] + "/gofmt") + " -l", " ".join(own)))
            commands.append('if [[ -n "$unformatted" ]]; then echo "not formatted with gofmt:" >&2; echo "$unformatted" >&2; exit 1; fi')

            # Without -trimpath: vet opens cgo's sources by the path that they were compiled with, an earlier sandbox's.
            commands.append("GOFLAGS=-buildvcs=false {} vet {} {}".format(quote(GO), flags, quote(ctx.attr.package)))
        commands.append('{} test -c {} -o "$out" {}'.format(quote(GO), flags, quote(ctx.attr.package)))
        commands.append('if [[ ! -s "$out" ]]; then echo "{} has no tests" >&2; exit 1; fi'.format(ctx.attr.package))
    else:
        mode = "-buildmode=c-shared " if shared else ""
        commands.append('{} build {}{} -o "$out" {}'.format(quote(GO), mode, flags, quote(ctx.attr.package)))
    libraries = depset([f.dirname for f in ctx.files.native_libs]).to_list()
    run_script(
        ctx,
        "build",
        _SCRIPT.format(
            staging = _staging(sources),
            includes = ":".join(['"$EXECROOT"/' + quote(f) for f in folders]) or "''",
            libraries = ":".join(['"$EXECROOT"/' + quote(f) for f in libraries]) or "''",
            headers = " ".join([quote(f.path) for f in headers.to_list()]),
            cache = quote(CACHE + "/go-build" if CACHE else ""),
            experiments = quote(",".join(ctx.attr.experiments)),
            out = out.path,
            folder = module,
            commands = "\n".join(commands),
        ),
        depset(sources + ctx.files.native_libs, transitive = [headers]),
        [out],
        "Go",
        "Building Go %s" % ctx.label,
    )
    if shared:
        return [DefaultInfo(files = depset([out]), runfiles = native_runfiles(ctx, [out]))]
    program = runfile(out)
    if test:
        # Like go test, the working folder is the package's own.
        body = """
export HOME="${{TEST_TMPDIR:-/tmp}}"
if [[ -z "$({program} -test.list '.*')" ]]; then echo "no tests in this package" >&2; exit 1; fi
folder="$ROOT/{folder}"
cd "$folder" 2>/dev/null || cd "$ROOT"
exec {program} -test.v {args} "$@"
""".format(program = program, folder = _join(module, ctx.attr.package), args = " ".join([quote(a) for a in ctx.attr.test_args]))
    else:
        body = 'exec {} "$@"'.format(program)
    launcher = write_launcher(ctx, body)
    return [DefaultInfo(
        executable = launcher,
        files = depset([launcher]),
        runfiles = native_runfiles(ctx, [out] + (ctx.files.srcs if test else [])),
    )]

def _join(folder, package):
    package = package[2:] if package.startswith("./") else package
    return folder if package in ["", "."] else folder + "/" + package

_ATTRS = dict(
    NATIVE_ATTRS,
    build_tags = attr.string_list(),
    cc_deps = attr.label_list(providers = [CcInfo], doc = "cc_library targets with the headers."),
    deps = attr.label_list(allow_files = True, doc = "Sources of other modules (filegroups) that go.mod replaces by a path."),
    experiments = attr.string_list(doc = "GOEXPERIMENT, such as cgocheck2."),
    module = attr.string(doc = "Folder of go.mod, from the workspace's root; the BUILD file's own by default."),
    package = attr.string(default = ".", doc = "Package in the module, such as ./internal/abi."),
    race = attr.bool(doc = "Build with Go's race detector."),
    srcs = attr.label_list(allow_files = True, mandatory = True, doc = "go.mod, Go and C files of the module."),
)

def _go_binary_impl(ctx):
    return _go_impl(ctx, False)

def _go_test_impl(ctx):
    return _go_impl(ctx, True)

_go_binary = rule(implementation = _go_binary_impl, attrs = _ATTRS, executable = True)

def _go_shared_library_impl(ctx):
    return _go_impl(ctx, False, True)

_go_shared_library = rule(implementation = _go_shared_library_impl, attrs = _ATTRS)

_go_test = rule(
    implementation = _go_test_impl,
    attrs = dict(
        _ATTRS,
        test_args = attr.string_list(doc = "Such as -test.run=..."),
        vet = attr.bool(default = True, doc = "Also run gofmt -l and go vet."),
    ),
    test = True,
)

def go_binary(name, tags = [], target_compatible_with = [], **kwargs):
    """A Go program: package main in the module folder."""
    _go_binary(name = name, tags = tags + ["lang_go"], target_compatible_with = COMPATIBLE + target_compatible_with, **kwargs)

def go_shared_library(name, tags = [], target_compatible_with = [], **kwargs):
    """A shared library for C, lib<name>.so: package main with exported functions."""
    _go_shared_library(name = name, tags = tags + ["lang_go"], target_compatible_with = COMPATIBLE + target_compatible_with, **kwargs)

def go_test(name, tags = [], target_compatible_with = [], **kwargs):
    """The tests of one Go package."""
    _go_test(name = name, tags = tags + ["lang_go"], target_compatible_with = COMPATIBLE + target_compatible_with, **kwargs)

"""C# libraries, programs and xunit tests with the machine's .NET SDK. NuGet is never asked during a build: packages
come from the folder that tools/setup restored (tools/bazel/nuget/packages.csproj lists them)."""

load("@local_dotnet//:defs.bzl", "COMPATIBLE", "DOTNET", "PACKAGES")
load(":launcher.bzl", "NATIVE_ATTRS", "native_runfiles", "quote", "run_script", "runfile", "write_launcher")

ProjectInfo = provider(doc = "Sources of a C# project.", fields = {"srcs": "depset of its files and of those of its references"})

DOTNET_ENVIRONMENT = """
export DOTNET_CLI_HOME="$HOME" DOTNET_NOLOGO=1 DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_SKIP_FIRST_TIME_EXPERIENCE=1
export DOTNET_GENERATE_ASPNET_CERTIFICATE=false DOTNET_ADD_GLOBAL_TOOLS_TO_PATH=false
export DOTNET_CLI_WORKLOAD_UPDATE_NOTIFY_DISABLE=true MSBUILDDISABLENODEREUSE=1 DOTNET_CLI_USE_MSBUILD_SERVER=0
# Sandboxes number processes alike and share /dev/shm, where the runtime would make files named by the number.
export DOTNET_EnableWriteXorExecute=0 DOTNET_EnableDiagnostics=0
# NuGet takes a lock of the whole machine to migrate the settings of a home that it sees for the first time. Its file lies in
# the shared /tmp and names threads by the same numbers in every sandbox: two of them at once crash. A home that says
# that it is migrated needs no lock.
mkdir -p "$HOME/.local/share/NuGet/Migrations"
touch "$HOME/.local/share/NuGet/Migrations/1"
"""

_SCRIPT = DOTNET_ENVIRONMENT + """
SRC="$SCRATCH/src"
while read -r from to; do
  mkdir -p "$SRC/$(dirname "$to")"
  cp -L "$from" "$SRC/$to"
done <<'FILES'
{staging}
FILES
mkdir "$SCRATCH/none"
cat > "$SRC/nuget.config" <<XML
<configuration>
  <packageSources><clear /><add key="none" value="$SCRATCH/none" /></packageSources>
</configuration>
XML
export NUGET_PACKAGES={packages}
cd "$SRC/{folder}"
# Nothing of what is built names a place of this machine.
if ! {dotnet} {command} {project} -c {configuration} {framework} -o "$EXECROOT/{out}" --nologo -v:quiet -clp:NoSummary \\
    -nodeReuse:false -p:UseSharedCompilation=false -p:NuGetAudit=false -p:UseAppHost=false \\
    -p:Deterministic=true -p:ContinuousIntegrationBuild=true -p:PathMap="$SRC=/_" {options} > "$SCRATCH/log" 2>&1; then
  cat "$SCRATCH/log" >&2
  echo "A package that is not found must be in tools/bazel/nuget/packages.csproj with the same version; then run tools/setup." >&2
  exit 1
fi
"""

def _sources(ctx):
    return depset(ctx.files.srcs + [ctx.file.project], transitive = [dep[ProjectInfo].srcs for dep in ctx.attr.deps])

# The project says how it is compiled ahead of time: as options it would be said of the projects that it references, too.
def _build(ctx, ahead_of_time = False):
    out = ctx.actions.declare_directory(ctx.label.name + ".out")
    sources = _sources(ctx)
    run_script(
        ctx,
        "build",
        _SCRIPT.format(
            staging = "\n".join(["{} {}".format(f.path, f.short_path) for f in sources.to_list()]),
            packages = quote(PACKAGES),
            folder = ctx.file.project.short_path.rpartition("/")[0],
            dotnet = quote(DOTNET),
            project = quote(ctx.file.project.basename),
            command = "publish" if ahead_of_time else "build",
            configuration = ctx.attr.configuration or ("Debug" if ctx.var["COMPILATION_MODE"] == "dbg" else "Release"),
            framework = "-f " + ctx.attr.framework,
            out = out.path,
            options = " ".join([quote(o) for o in ctx.attr.options]),
        ),
        sources,
        [out],
        "Dotnet",
        "Building C# %s" % ctx.label,
    )
    name = ctx.attr.assembly or ctx.file.project.basename[:-len(".csproj")]
    return out, name

def _library_impl(ctx):
    out, _ = _build(ctx)
    return [
        DefaultInfo(files = depset([out]), runfiles = native_runfiles(ctx, [out])),
        ProjectInfo(srcs = _sources(ctx)),
    ]

# The machine may have one runtime only: a net8.0 program then runs on a newer one.
_RUN = "export DOTNET_ROLL_FORWARD=Major DOTNET_NOLOGO=1 DOTNET_CLI_TELEMETRY_OPTOUT=1"

def _binary_impl(ctx):
    out, name = _build(ctx, ctx.attr.ahead_of_time)
    if ctx.attr.ahead_of_time:
        body = 'exec {}/{} "$@"'.format(runfile(out), quote(name))
    else:
        body = _RUN + '\nexec {} exec {}/{} "$@"'.format(quote(DOTNET), runfile(out), quote(name + ".dll"))
    launcher = write_launcher(ctx, body)
    return [
        DefaultInfo(executable = launcher, files = depset([launcher]), runfiles = native_runfiles(ctx, [out])),
        ProjectInfo(srcs = _sources(ctx)),
    ]

_TEST = DOTNET_ENVIRONMENT + """
cd "$ROOT"
exec {dotnet} test {out}/{name} --nologo --logger "console;verbosity=normal" --results-directory "$TEST_TMPDIR" \\
  "$@" -- RunConfiguration.TreatNoTestsAsError=true
"""

def _test_impl(ctx):
    out, name = _build(ctx)
    body = _RUN + '\nexport HOME="${TEST_TMPDIR:-/tmp}" TMPDIR="${TEST_TMPDIR:-/tmp}"' + _TEST.format(
        dotnet = quote(DOTNET),
        out = runfile(out),
        name = quote(name + ".dll"),
    )
    launcher = write_launcher(ctx, body)
    return [DefaultInfo(executable = launcher, files = depset([launcher]), runfiles = native_runfiles(ctx, [out]))]

_ATTRS = dict(
    NATIVE_ATTRS,
    assembly = attr.string(doc = "Name of the assembly when it is not the project's."),
    configuration = attr.string(doc = "Debug or Release; by default that of the build."),
    deps = attr.label_list(providers = [ProjectInfo], doc = "Projects that it references: ProjectReference in the .csproj does the rest."),
    framework = attr.string(default = "net10.0"),
    options = attr.string_list(doc = "More options of dotnet build, such as -p:Name=value."),
    project = attr.label(allow_single_file = [".csproj"], mandatory = True),
    srcs = attr.label_list(allow_files = True, doc = "All files that the project needs, Directory.Build.props included."),
)

_dotnet_library = rule(implementation = _library_impl, attrs = _ATTRS)

_dotnet_binary = rule(
    implementation = _binary_impl,
    attrs = dict(_ATTRS, ahead_of_time = attr.bool(doc = "Publishes a program that needs no runtime (NativeAOT): the project says PublishAot.")),
    executable = True,
)

_dotnet_test = rule(implementation = _test_impl, attrs = _ATTRS, test = True)

def dotnet_library(name, tags = [], target_compatible_with = [], **kwargs):
    """A C# library."""
    _dotnet_library(name = name, tags = tags + ["lang_csharp"], target_compatible_with = COMPATIBLE + target_compatible_with, **kwargs)

def dotnet_binary(name, tags = [], target_compatible_with = [], **kwargs):
    """A C# program."""
    _dotnet_binary(name = name, tags = tags + ["lang_csharp"], target_compatible_with = COMPATIBLE + target_compatible_with, **kwargs)

def dotnet_test(name, tags = [], target_compatible_with = [], **kwargs):
    """An xunit test project."""
    _dotnet_test(name = name, tags = tags + ["lang_csharp"], target_compatible_with = COMPATIBLE + target_compatible_with, **kwargs)

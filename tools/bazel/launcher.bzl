"""What the rules of the other languages share: the shell scripts that compile, and the scripts that start programs."""

# Every tool gets a home and caches of its own: nothing of the user's configuration changes a build. $SCRATCH goes
# at the end. A cache folder that cannot be written (tools/setup has not opened it in the sandbox) becomes a fresh one,
# which is slow and right.
SCRIPT_HEAD = """#!/bin/bash
set -euo pipefail
EXECROOT="$PWD"
SCRATCH="$(mktemp -d)"
trap 'chmod -R u+w "$SCRATCH" 2>/dev/null || true; rm -rf "$SCRATCH"' EXIT
export HOME="$SCRATCH/home" TMPDIR="$SCRATCH/tmp"
mkdir -p "$HOME" "$TMPDIR"
cache_folder() {
  if [[ -n "$1" ]] && mkdir -p "$1" 2>/dev/null && [[ -w "$1" ]]; then printf '%s' "$1"; else printf '%s' "$SCRATCH/cache-$2"; fi
}
"""

_LAUNCHER = """#!/bin/bash
# Made by tools/bazel. Starts {label}, wherever it is called from.
set -euo pipefail
self="${{BASH_SOURCE[0]}}"
if [[ "$self" != /* ]]; then self="$PWD/$self"; fi
if [[ -d "$self.runfiles/{workspace}" ]]; then
  ROOT="$self.runfiles/{workspace}"
elif [[ "$self" == *.runfiles/{workspace}/* ]]; then
  ROOT="${{self%.runfiles/{workspace}/*}}.runfiles/{workspace}"
elif [[ -d "${{RUNFILES_DIR:-/nonexistent}}/{workspace}" ]]; then
  ROOT="$RUNFILES_DIR/{workspace}"
elif [[ -d "${{TEST_SRCDIR:-/nonexistent}}/{workspace}" ]]; then
  ROOT="$TEST_SRCDIR/{workspace}"
else
  echo "{label}: its runfiles are not beside it; build it with bazel build {label}" >&2
  exit 1
fi
export HURRAY_RUNFILES="$ROOT"
{exports}
{body}
"""

NATIVE_ATTRS = {
    "data": attr.label_list(allow_files = True, doc = "Files that it reads at run time."),
    "env": attr.string_dict(doc = "Environment variables. $(rootpath //label) gives a path below the runfiles root, {ROOT} the root itself."),
    "native_libs": attr.label_list(
        allow_files = True,
        doc = "Shared libraries that it loads: their folders are on LD_LIBRARY_PATH, and the one named libhurray.so.1 or libhurray.so is in HURRAY_LIBRARY.",
    ),
}

def runfile(file):
    """Path of a file below the runfiles root, in shell: "$ROOT/..."."""
    return '"$ROOT/{}"'.format(file.short_path)

def environment_lines(ctx):
    """The lines of a launcher that set what NATIVE_ATTRS say."""
    lines = []
    folders = []
    hurray = None
    for file in ctx.files.native_libs:
        folder = "$ROOT/" + file.short_path.rpartition("/")[0]
        if folder not in folders:
            folders.append(folder)
        if file.basename == "libhurray.so.1" or (file.basename == "libhurray.so" and not hurray):
            hurray = file.short_path
    if folders:
        lines.append('export LD_LIBRARY_PATH="{}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"'.format(":".join(folders)))
    if hurray:
        # Whoever sets it chooses another library: the relay does, and tests of stub libraries.
        lines.append('export HURRAY_LIBRARY="${{HURRAY_LIBRARY:-$ROOT/{}}}"'.format(hurray))
    targets = ctx.attr.data + ctx.attr.native_libs
    for name, value in ctx.attr.env.items():
        value = ctx.expand_location(value, targets).replace("{ROOT}", "$ROOT")
        lines.append('export {}="{}"'.format(name, value))
    return lines

def native_runfiles(ctx, files = []):
    """Runfiles of what NATIVE_ATTRS name, and the given files."""
    runfiles = ctx.runfiles(files = files + ctx.files.data + ctx.files.native_libs)
    for target in ctx.attr.data + ctx.attr.native_libs:
        runfiles = runfiles.merge(target[DefaultInfo].default_runfiles)
    return runfiles

def write_launcher(ctx, body, extra_exports = []):
    """Declares and writes the script that starts the target; body is shell, with $ROOT and "$@"."""
    launcher = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        launcher,
        _LAUNCHER.format(
            label = "//{}:{}".format(ctx.label.package, ctx.label.name),
            workspace = ctx.workspace_name,
            exports = "\n".join(environment_lines(ctx) + extra_exports),
            body = body,
        ),
        is_executable = True,
    )
    return launcher

def run_script(ctx, name, script, inputs, outputs, mnemonic, message, env = {}):
    """Runs a shell script (SCRIPT_HEAD goes before it) as an action."""
    file = ctx.actions.declare_file("{}.{}.sh".format(ctx.label.name, name))
    ctx.actions.write(file, SCRIPT_HEAD + script, is_executable = True)
    ctx.actions.run(
        executable = file,
        inputs = inputs,
        outputs = outputs,
        mnemonic = mnemonic,
        progress_message = message,
        env = env,
        use_default_shell_env = True,
    )

def cc_paths(ctx):
    """Headers and include folders of cc_deps: (depset of files, list of folders relative to the execution root)."""
    headers = []
    folders = []
    for target in ctx.attr.cc_deps:
        context = target[CcInfo].compilation_context
        headers.append(context.headers)
        for group in [context.includes, context.system_includes, context.quote_includes]:
            for folder in group.to_list():
                if folder not in folders and folder != ".":
                    folders.append(folder)
    return depset(transitive = headers), folders

def quote(text):
    """A string as one word of shell."""
    return "'" + text.replace("'", "'\\''") + "'"

"""What the repository rules of this folder share: finding a tool, and what to write when there is none."""

def label_of(text):
    """A label of this repository as other repositories write it. (Bazel 4 leaves its name out.)"""
    full = str(Label(text))
    return "@hurray" + full if full.startswith("//") else full

# A target with this list as target_compatible_with is skipped, never broken. (Debian's Bazel has no
# @platforms//:incompatible.) In full, since the repositories use it, too.
INCOMPATIBLE = [label_of("//tools/bazel:incompatible")]

def environment(ctx, name):
    """Value of an environment variable, or None when it is unset or empty."""
    return ctx.os.environ.get(name) or None

def cache_folder(ctx):
    """The project's folder for what outlives a build (compiler caches, Zig, NuGet packages); None without a home."""
    own = environment(ctx, "HURRAY_CACHE")
    if own:
        return own
    cache = environment(ctx, "XDG_CACHE_HOME")
    if cache:
        return cache + "/hurray"
    home = environment(ctx, "HOME")
    return home + "/.cache/hurray" if home else None

CACHE_ENVIRON = ["HURRAY_CACHE", "XDG_CACHE_HOME", "HOME", "PATH"]

def first_existing(ctx, paths):
    """The first of the paths that exists, as a string, or None."""
    for path in paths:
        if path and ctx.path(path).exists:
            return str(ctx.path(path))
    return None

def find_tool(ctx, variable, places, command):
    """A tool from an override variable, else from known places, else from PATH. None when there is none.

    An override that names nothing is an error: whoever set it would otherwise get another tool than asked for.
    """
    override = environment(ctx, variable)
    if override:
        if not ctx.path(override).exists:
            fail("{} is set to {}, which does not exist".format(variable, override))
        return override
    found = first_existing(ctx, places)
    if found:
        return found
    which = ctx.which(command) if command else None
    return str(which) if which else None

def write_definitions(ctx, language, constants, missing):
    """Writes defs.bzl with the constants, AVAILABLE, COMPATIBLE and HOW_TO_GET.

    Args:
      ctx: the repository's context.
      language: what the tool builds, for the message.
      constants: a dictionary of names and values.
      missing: None, or one line that says what to install.
    """
    lines = ['"""Written by tools/bazel/toolchains: what this machine has for {}."""'.format(language), ""]
    for name, value in constants.items():
        lines.append("{} = {}".format(name, repr(value)))
    lines += [
        "AVAILABLE = " + ("False" if missing else "True"),
        "COMPATIBLE = " + (repr(INCOMPATIBLE) if missing else "[]"),
        "HOW_TO_GET = " + repr(missing or ""),
        "",
    ]
    ctx.file("defs.bzl", "\n".join(lines))
    if missing:
        # buildifier: disable=print
        print("{} targets are left out: {}".format(language, missing))

def version_of(ctx, command):
    """First line that a command prints, or an empty string when it fails."""
    result = ctx.execute(command)
    return result.stdout.strip().split("\n")[0] if result.return_code == 0 else ""

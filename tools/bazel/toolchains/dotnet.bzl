"""Finds the .NET SDK and the NuGet packages that tools/setup restored."""

load(":find.bzl", "CACHE_ENVIRON", "cache_folder", "find_tool", "version_of", "write_definitions")

SDK_MAJOR = 10

def _impl(ctx):
    ctx.file("BUILD.bazel", "")
    cache = cache_folder(ctx)
    home = ctx.os.environ.get("HOME") or ""
    dotnet = find_tool(ctx, "HURRAY_DOTNET", [], "dotnet")
    if not dotnet:
        for place in ["/usr/share/dotnet/dotnet", "/usr/lib/dotnet/dotnet", home + "/.dotnet/dotnet"]:
            if ctx.path(place).exists:
                dotnet = place
                break
    missing = None
    packages = cache + "/nuget" if cache else ""
    if not dotnet:
        missing = "the .NET SDK {} is needed; Debian has no package of it, see 'C#' in CONTRIBUTING.md".format(SDK_MAJOR)
    else:
        text = version_of(ctx, [dotnet, "--version"])
        if not text.split(".")[0].isdigit() or int(text.split(".")[0]) < SDK_MAJOR:
            missing = "{} is SDK {}, but {} or newer is needed; see 'C#' in CONTRIBUTING.md".format(dotnet, text or "unknown", SDK_MAJOR)
        elif not packages or not ctx.path(packages + "/.restored").exists:
            missing = "the NuGet packages of the tests are not here; tools/setup restores them"
    write_definitions(ctx, "C#", {"DOTNET": dotnet or "", "PACKAGES": packages}, missing)

local_dotnet = repository_rule(
    implementation = _impl,
    configure = True,
    environ = ["HURRAY_DOTNET"] + CACHE_ENVIRON,
    local = True,
)

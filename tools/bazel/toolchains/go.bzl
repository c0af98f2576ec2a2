"""Finds Go."""

load(":find.bzl", "CACHE_ENVIRON", "cache_folder", "find_tool", "version_of", "write_definitions")

def _impl(ctx):
    ctx.file("BUILD.bazel", "")
    go = find_tool(
        ctx,
        "HURRAY_GO",
        ["/usr/lib/go-1.{}/bin/go".format(minor) for minor in [26, 25, 24, 23]],
        "go",
    )
    missing = None
    if not go:
        missing = "Go 1.23 or newer is needed; tools/setup installs it from Debian's bookworm-backports"
    else:
        text = version_of(ctx, [go, "env", "GOVERSION"])
        numbers = text[2:].split(".") if text.startswith("go1.") else []
        if len(numbers) < 2 or not numbers[1].isdigit() or int(numbers[1]) < 23:
            missing = "{} is {}, but Go 1.23 or newer is needed; tools/setup installs it".format(go, text or "unusable")
    write_definitions(ctx, "Go", {"GO": go or "", "CACHE": cache_folder(ctx) or ""}, missing)

local_go = repository_rule(
    implementation = _impl,
    configure = True,
    environ = ["HURRAY_GO"] + CACHE_ENVIRON,
    local = True,
)

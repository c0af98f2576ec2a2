"""Finds the JDK to build and test with (17 or newer), a newer one for the MemorySegment part (22 or newer), and JUnit."""

load(":find.bzl", "INCOMPATIBLE", "environment", "version_of", "write_definitions")

_JUNIT_JARS = [
    "junit-jupiter-api",
    "junit-jupiter-engine",
    "junit-jupiter-params",
    "junit-platform-commons",
    "junit-platform-console",
    "junit-platform-engine",
    "junit-platform-launcher",
    "junit-platform-reporting",
    "opentest4j",
    "opentest4j-reporting-events",
    "opentest4j-reporting-schema",
    "apiguardian-api",
    "picocli",
    "univocity-parsers",
]

_BUILD = """
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "jni_headers",
    hdrs = glob(["include/**/*.h"], allow_empty = True),
    includes = ["include", "include/linux"],
    target_compatible_with = {compatible},
)
"""

def _major(ctx, home):
    """Feature version of the JDK in a folder, 0 when there is none with a compiler."""
    if not ctx.path(home + "/bin/javac").exists:
        return 0
    text = version_of(ctx, [home + "/bin/javac", "-version"])
    number = text.replace("javac ", "").split(".")[0].split("-")[0]
    return int(number) if number.isdigit() else 0

def _installed(ctx):
    """All JDKs under /usr/lib/jvm and JAVA_HOME: (version, folder), without links to the same."""
    homes = []
    if environment(ctx, "JAVA_HOME"):
        homes.append(environment(ctx, "JAVA_HOME"))
    root = ctx.path("/usr/lib/jvm")
    if root.exists:
        homes += sorted([str(entry) for entry in root.readdir()])
    seen = {}
    for home in homes:
        if not ctx.path(home).exists:
            continue
        real = str(ctx.path(home).realpath)
        if real not in seen:
            seen[real] = _major(ctx, real)
    return [(version, home) for home, version in seen.items() if version]

def _impl(ctx):
    installed = sorted(_installed(ctx))
    usable = [pair for pair in installed if pair[0] >= 17]
    newer = [pair for pair in installed if pair[0] >= 22]
    override = environment(ctx, "HURRAY_JDK")
    if override:
        usable = [(_major(ctx, override), override)]
        if usable[0][0] < 17:
            fail("HURRAY_JDK is {}, which is no JDK of version 17 or newer".format(override))
    override = environment(ctx, "HURRAY_NEWER_JDK")
    if override:
        newer = [(_major(ctx, override), override)]
        if newer[0][0] < 22:
            fail("HURRAY_NEWER_JDK is {}, which is no JDK of version 22 or newer".format(override))

    missing = None
    home = usable[0][1] if usable else ""
    junit = ["/usr/share/java/{}.jar".format(jar) for jar in _JUNIT_JARS]
    if not usable:
        missing = "a JDK of version 17 or newer is needed; tools/setup installs openjdk-17-jdk-headless"
    else:
        absent = [jar for jar in junit if not ctx.path(jar).exists]
        if absent:
            missing = "JUnit 5 ({}) is needed; tools/setup installs Debian's junit5".format(absent[0])
    if home:
        ctx.symlink(home + "/include", "include")
    ctx.file("BUILD.bazel", _BUILD.format(compatible = repr(INCOMPATIBLE if missing else [])))
    write_definitions(ctx, "Java", {
        "JDK": home,
        "JDK_VERSION": usable[0][0] if usable else 0,
        "JUNIT": junit,
        "NEWER_JDK": newer[0][1] if newer else "",
        "NEWER_JDK_VERSION": newer[0][0] if newer else 0,
        "NEWER_COMPATIBLE": [] if newer and not missing else INCOMPATIBLE,
    }, missing)
    if not missing and not newer:
        # buildifier: disable=print
        print("The part of the Java binding for Java 22 and newer (MemorySegment) is left out: no such JDK under /usr/lib/jvm; HURRAY_NEWER_JDK may name one")

local_java = repository_rule(
    implementation = _impl,
    configure = True,
    environ = ["HURRAY_JDK", "HURRAY_NEWER_JDK", "JAVA_HOME", "PATH"],
    local = True,
)

"""Java libraries, programs and JUnit 5 tests with the machine's JDK.

A java_library can be a dep of a cc_library: it hands on the headers that javac -h makes of its native methods.
"""

load("@local_java//:defs.bzl", "COMPATIBLE", "JDK", "JUNIT", "NEWER_COMPATIBLE", "NEWER_JDK")
load(":launcher.bzl", "NATIVE_ATTRS", "native_runfiles", "quote", "run_script", "write_launcher")

JarInfo = provider(
    doc = "What a Java target needs of another.",
    fields = {"jars": "depset of jars, its own first"},
)

_SCRIPT = """
mkdir -p "$SCRATCH/classes" "$SCRATCH/sources" {headers}
: > "$SCRATCH/files"
for file in {srcs}; do
  case "$file" in
    *.srcjar) (cd "$SCRATCH/sources" && {jdk}/bin/jar -J-XX:-UsePerfData xf "$EXECROOT/$file") ;;
    *) echo "\\"$file\\"" >> "$SCRATCH/files" ;;
  esac
done
find "$SCRATCH/sources" -name '*.java' -printf '"%p"\\n' | sort >> "$SCRATCH/files"
{jdk}/bin/javac -J-XX:-UsePerfData -encoding UTF-8 --release {release} {options} -d "$SCRATCH/classes" -h {headers} {path} @"$SCRATCH/files"
{newer}
while read -r from to; do
  [[ -n "$from" ]] || continue
  mkdir -p "$SCRATCH/classes/$(dirname "$to")"
  cp -L "$from" "$SCRATCH/classes/$to"
done <<'FILES'
{resources}
FILES
printf '%s' {manifest} > "$SCRATCH/manifest"
{jdk}/bin/jar -J-XX:-UsePerfData --create --file {out} --date=1980-01-01T00:00:02Z --manifest "$SCRATCH/manifest" -C "$SCRATCH/classes" .
"""

_NEWER = """
mkdir -p "$SCRATCH/classes/META-INF/versions/{release}"
{jdk}/bin/javac -J-XX:-UsePerfData -encoding UTF-8 --release {release} {options} -d "$SCRATCH/classes/META-INF/versions/{release}" -classpath "$SCRATCH/classes":{path} {srcs}
"""

def _compile(ctx, extra_path = []):
    """Compiles srcs to one jar. Returns (jar, folder of JNI headers, depset of jars below)."""
    jar = ctx.actions.declare_file(ctx.label.name + ".jar")
    headers = ctx.actions.declare_directory(ctx.label.name + ".jni")
    below = depset(transitive = [dep[JarInfo].jars for dep in ctx.attr.deps])
    path = ":".join([f.path for f in below.to_list()] + extra_path)
    options = " ".join([quote(o) for o in ctx.attr.javacopts])
    newer = ""
    manifest = ""
    if ctx.attr.newer_srcs and NEWER_JDK:
        newer = _NEWER.format(
            jdk = quote(NEWER_JDK),
            release = ctx.attr.newer_release,
            options = options,
            path = quote(path),
            srcs = " ".join([quote(f.path) for f in ctx.files.newer_srcs]),
        )
        manifest = "Multi-Release: true\n"
    for key, value in ctx.attr.manifest.items():
        manifest += "{}: {}\n".format(key, value)
    resources = []
    for file in ctx.files.resources:
        name = file.short_path
        prefix = ctx.attr.resource_strip_prefix
        if prefix and name.startswith(prefix + "/"):
            name = name[len(prefix) + 1:]
        resources.append(file.path + " " + name)
    modular = [f for f in ctx.files.srcs if f.basename == "module-info.java"]
    run_script(
        ctx,
        "javac",
        _SCRIPT.format(
            jdk = quote(NEWER_JDK if ctx.attr.jdk == "newer" else JDK),
            headers = quote(headers.path),
            srcs = " ".join([quote(f.path) for f in ctx.files.srcs]),
            release = ctx.attr.release,
            options = options,
            path = "-classpath {p}".format(p = quote(path)) + (" --module-path " + quote(path) if modular else ""),
            newer = newer,
            resources = "\n".join(resources),
            manifest = quote(manifest),
            out = quote(jar.path),
        ),
        depset(ctx.files.srcs + ctx.files.newer_srcs + ctx.files.resources, transitive = [below]),
        [jar, headers],
        "Javac",
        "Compiling Java %s" % ctx.label,
    )
    return jar, headers, below

def _java_library_impl(ctx):
    jar, headers, below = _compile(ctx)
    context = cc_common.create_compilation_context(
        headers = depset([headers]),
        system_includes = depset([headers.path]),
    )
    return [
        DefaultInfo(files = depset([jar]), runfiles = native_runfiles(ctx, [jar])),
        JarInfo(jars = depset([jar], transitive = [below])),
        CcInfo(compilation_context = context),
        OutputGroupInfo(jni_headers = depset([headers])),
    ]

def _command(ctx, jars, flags):
    java = (NEWER_JDK if ctx.attr.jdk == "newer" else JDK) + "/bin/java"
    path = ":".join(['"$ROOT/{}"'.format(jar.short_path) for jar in jars.to_list()])
    words = [quote(java), "-XX:-UsePerfData", '-Djava.library.path="${LD_LIBRARY_PATH:-}"']
    if ctx.attr.jdk == "newer":
        words.append("--enable-native-access=ALL-UNNAMED")
    words += ['"' + flag.replace("{ROOT}", "$ROOT") + '"' for flag in flags + ctx.attr.jvm_flags]
    return words, path

def _java_binary_impl(ctx):
    jar, _, below = _compile(ctx)
    words, path = _command(ctx, depset([jar], transitive = [below]), [])
    launcher = write_launcher(ctx, 'exec {} -classpath {} {} "$@"'.format(" ".join(words), path, quote(ctx.attr.main_class)))
    return [DefaultInfo(
        executable = launcher,
        files = depset([launcher]),
        runfiles = _with_jars(ctx, jar, below),
    )]

def _with_jars(ctx, jar, below):
    runfiles = native_runfiles(ctx, [jar]).merge(ctx.runfiles(transitive_files = below))
    for dep in ctx.attr.deps:
        runfiles = runfiles.merge(dep[DefaultInfo].default_runfiles)
    return runfiles

# -Xcheck:jni only warns: a warning is a failure here.
_TEST = """
cd "$ROOT"
export HOME="${{TEST_TMPDIR:-/tmp}}"
log="$TEST_TMPDIR/java-test.log"
{command} -Djava.io.tmpdir="$TEST_TMPDIR" -Duser.home="$TEST_TMPDIR" -classpath {path}:{junit} \\
  org.junit.platform.console.ConsoleLauncher --disable-banner --disable-ansi-colors --details=tree --fail-if-no-tests \\
  --scan-classpath "$ROOT/{jar}" "$@" 2>&1 | tee "$log"
if grep -qE 'WARNING in native method|FATAL ERROR in native method|WARNING: JNI' "$log"; then
  echo "-Xcheck:jni complains (see above)" >&2
  exit 1
fi
"""

def _java_test_impl(ctx):
    jar, _, below = _compile(ctx, JUNIT)
    words, path = _command(ctx, depset([jar], transitive = [below]), ["-Xcheck:jni", "-ea"])
    launcher = write_launcher(ctx, _TEST.format(
        command = " ".join(words),
        path = path,
        junit = ":".join([quote(j) for j in JUNIT]),
        jar = jar.short_path,
    ))
    return [DefaultInfo(executable = launcher, files = depset([launcher]), runfiles = _with_jars(ctx, jar, below))]

_LIBRARY_ATTRS = dict(
    NATIVE_ATTRS,
    deps = attr.label_list(providers = [JarInfo]),
    javacopts = attr.string_list(default = ["-Xlint:all,-options,-path,-processing", "-Werror"]),
    jdk = attr.string(default = "default", values = ["default", "newer"], doc = "newer: 22 or newer; the target is left out without one."),
    manifest = attr.string_dict(doc = "Lines for the jar's manifest."),
    newer_release = attr.int(default = 22, doc = "Release of newer_srcs."),
    newer_srcs = attr.label_list(allow_files = [".java"], doc = "Classes for newer Javas, under META-INF/versions; left out without a newer JDK."),
    release = attr.int(default = 17, doc = "Java release to compile for."),
    resource_strip_prefix = attr.string(doc = "Taken from the front of resources' paths, from the workspace's root."),
    resources = attr.label_list(allow_files = True),
    srcs = attr.label_list(allow_files = [".java", ".srcjar"]),
)

_RUN_ATTRS = dict(_LIBRARY_ATTRS, jvm_flags = attr.string_list(doc = "{ROOT} is the runfiles root."))

_java_library = rule(implementation = _java_library_impl, attrs = _LIBRARY_ATTRS)

_java_binary = rule(
    implementation = _java_binary_impl,
    attrs = dict(_RUN_ATTRS, main_class = attr.string(mandatory = True)),
    executable = True,
)

_java_test = rule(implementation = _java_test_impl, attrs = _RUN_ATTRS, test = True)

def _tags(kwargs):
    """needs_newer_jdk: its absence leaves a part out, not the language (tools/test reads it)."""
    return ["lang_java"] + (["needs_newer_jdk"] if kwargs.get("jdk") == "newer" else [])

def _compatible(kwargs):
    newer = kwargs.get("jdk") == "newer"
    return (NEWER_COMPATIBLE if newer else COMPATIBLE) + kwargs.pop("target_compatible_with", [])

def java_library(name, tags = [], **kwargs):
    """A jar."""
    compatible = _compatible(kwargs)
    _java_library(name = name, tags = tags + _tags(kwargs), target_compatible_with = compatible, **kwargs)

def java_binary(name, tags = [], **kwargs):
    """A program: main_class in its own jar or in deps."""
    compatible = _compatible(kwargs)
    _java_binary(name = name, tags = tags + _tags(kwargs), target_compatible_with = compatible, **kwargs)

def java_test(name, tags = [], **kwargs):
    """All JUnit 5 tests in srcs, run with -Xcheck:jni and assertions."""
    compatible = _compatible(kwargs)
    _java_test(name = name, tags = tags + _tags(kwargs), target_compatible_with = compatible, **kwargs)

"""All packages in one folder, with a folder for each language in it."""

def _impl(ctx):
    out = ctx.actions.declare_directory(ctx.label.name)
    arguments = ctx.actions.args()
    inputs = []
    for target, language in ctx.attr.packages.items():
        for file in target[DefaultInfo].files.to_list():
            inputs.append(file)
            arguments.add(language)
            arguments.add(file.path)
    ctx.actions.run_shell(
        command = """set -euo pipefail
out="$1"
shift
while (($#)); do
  mkdir -p "$out/$1"
  if [[ -d "$2" ]]; then cp -RL "$2/." "$out/$1/"; else cp -L "$2" "$out/$1/"; fi
  shift 2
done
chmod -R u+w "$out"
""",
        arguments = [out.path, arguments],
        inputs = inputs,
        outputs = [out],
        mnemonic = "Dist",
        progress_message = "Gathering packages in %s" % ctx.label,
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([out]))]

dist = rule(
    implementation = _impl,
    doc = "A folder NAME/LANGUAGE/... of packages, as tools/release publishes them.",
    attrs = {
        "packages": attr.label_keyed_string_dict(allow_files = True, mandatory = True, doc = "Package targets, by language."),
    },
)

"""Tiny stand-ins for rules_cc, rules_java and remote_coverage_tools that hand on Bazel's own native rules."""

_RULES = {
    "rules_cc": {
        "cc": [
            "cc_binary",
            "cc_import",
            "cc_library",
            "cc_test",
            "cc_toolchain",
            "cc_toolchain_suite",
            "objc_library",
        ],
    },
    "rules_java": {
        "java": [
            "java_binary",
            "java_import",
            "java_library",
            "java_lite_proto_library",
            "java_package_configuration",
            "java_plugin",
            "java_proto_library",
            "java_runtime",
            "java_test",
            "java_toolchain",
        ],
    },
    "remote_coverage_tools": {},
}

_COVERAGE_BUILD = """
package(default_visibility = ["//visibility:public"])

filegroup(name = "coverage_report_generator")

filegroup(name = "lcov_merger")
"""

def _handed_on_rules_impl(ctx):
    # With modules a repository's real name carries more before the last separator.
    name = ctx.name.split("~")[-1].split("+")[-1]
    ctx.file("BUILD.bazel", _COVERAGE_BUILD if name == "remote_coverage_tools" else "")
    for folder, rules in _RULES[name].items():
        ctx.file(folder + "/BUILD.bazel", "")
        ctx.file(
            folder + "/defs.bzl",
            "".join(["{r} = native.{r}\n".format(r = rule) for rule in rules]),
        )

handed_on_rules = repository_rule(
    implementation = _handed_on_rules_impl,
    doc = "A repository of the given name whose rules are Bazel's native ones.",
    local = True,
)

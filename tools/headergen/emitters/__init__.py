"""The table of emitters: what else is generated from abi.json, beside the headers.

An emitter is a module in this folder with
    FOLDERS = ["bindings/go/gen"]     folders that hold nothing but what it emits (optional)
    def emit(abi: dict, root: Path) -> dict[str, str]:   path in the repository -> text
`abi` is the content of abi.json and nothing else; README.md beside this folder describes it. To add a language, write
the module and add its name to its profile's line here.
"""

EMITTERS = {
    "abi/headergen.json": [
        "layout",
        "version_script",
        "abi_page",
        "coverage_page",
        "stub",
        "null_test",
        "null_mutants",
        "function_names",
        "csharp",
        "go",
        "java",
        "python",
        "zig",
    ],
}

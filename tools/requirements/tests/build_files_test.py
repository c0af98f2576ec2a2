"""BUILD files read as Bazel reads them: constants, comprehensions, macros, globs."""

import pathlib
import tempfile
import unittest

from contract import build_files


class BuildFilesTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)

    def write(self, **files):
        for name, text in files.items():
            path = self.root / name.replace("__", "/").replace("_DOT_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def workspace(self):
        return build_files.Workspace(self.root)

    def test_targets_of_every_form(self):
        self.write(a__BUILD_DOT_bazel="""
load("//tools/bazel:cc.bzl", "cc_library", "cc_test")
load("@local_zig//:defs.bzl", "COMPATIBLE", "ZIG")
package(default_visibility = ["//visibility:public"])
NAMES = ["one", "two"]
cc_test(name = "plain", srcs = ["plain.cpp"], tags = ["x"] + COMPATIBLE)
[cc_test(name = name + "_test", srcs = [name + ".cpp"]) for name in NAMES]
[
    sh_test(name = "{}_sh".format(name), args = [ZIG])
    for name, flag in {"a": [], "b": ["-x"]}.items()
]
""")
        targets = self.workspace().targets("a")
        self.assertEqual({name: target.rule for name, target in targets.items()}, {
            "plain": "cc_test", "one_test": "cc_test", "two_test": "cc_test", "a_sh": "sh_test", "b_sh": "sh_test"})
        self.assertEqual(targets["one_test"].attributes["srcs"], ["one.cpp"])

    def test_macros_make_targets_where_they_are_called(self):
        self.write(
            m__BUILD_DOT_bazel="", m__m_DOT_bzl="""
load("//tools/bazel:python.bzl", "py_test_system")

def both(name, main):
    \"\"\"Two tests.\"\"\"
    for kind in ["x", "y"]:
        py_test_system(name = "{}_{}".format(name, kind), main = main)
    native.sh_test(name = name + "_sh")
""",
            a__BUILD_DOT_bazel='load("//m:m.bzl", "both")\nboth(name = "t", main = "t.py")\n')
        workspace = self.workspace()
        self.assertEqual(sorted(workspace.targets("a")), ["t_sh", "t_x", "t_y"])
        self.assertEqual(workspace.targets("m"), {})

    def test_files_of_globs_groups_and_other_packages(self):
        self.write(
            a__BUILD_DOT_bazel="""
filegroup(name = "more", srcs = glob(["more/**/*.go"], exclude = ["more/not.go"]) + ["//b:c.cpp"])
go_test(name = "t", srcs = [":more", "own.go", "//b:group", "@gone//:x", "missing.go"])
""",
            a__own_DOT_go="", a__more__one_DOT_go="", a__more__deep__two_DOT_go="", a__more__not_DOT_go="",
            a__more__inner__BUILD_DOT_bazel="", a__more__inner__three_DOT_go="",
            b__BUILD_DOT_bazel='filegroup(name = "group", srcs = ["d.cpp"])', b__c_DOT_cpp="", b__d_DOT_cpp="")
        workspace = self.workspace()
        files = [path.relative_to(self.root).as_posix() for path in workspace.files(workspace.target("//a:t"))]
        self.assertEqual(sorted(files), ["a/more/deep/two.go", "a/more/one.go", "a/own.go", "b/c.cpp", "b/d.cpp"])

    def test_what_is_not_there_says_so(self):
        self.write(a__BUILD_DOT_bazel='cc_test(name = "t")\n', b__BUILD_DOT_bazel="cc_test(name = 1 / 0)\n")
        for label, says in (("//a:u", "no such target"), ("//nowhere:t", "there is no nowhere/BUILD.bazel"),
                            ("//b:t", "ZeroDivisionError")):
            with self.subTest(label), self.assertRaisesRegex(build_files.BuildError, says):
                self.workspace().target(label)


if __name__ == "__main__":
    unittest.main()

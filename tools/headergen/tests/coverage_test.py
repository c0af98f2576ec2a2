"""The tables of what the bindings offer: each untruth in one is found, and docs/coverage.md is what they say."""

import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from sample import ROOT

from emitters import coverage_page  # noqa: E402  (sample puts the folder on the path)
from hg import coverage, languages  # noqa: E402

PYTHON = next(language for language in languages.LANGUAGES if language.folder == "python")
FUNCTIONS = ["hurray_box_new", "hurray_box_size", "hurray_box_destroy", "hurray_box_secret"]
ABI = {"headers": ["hurray/abi.h"], "functions": [{"name": name, "header": "hurray/abi.h"} for name in FUNCTIONS]}
SOURCE = """\
class Box:
    def __init__(self):
        self.handle = _native.box_new()
    def size(self):
        return _native.box_size(self.handle)
    def _hidden(self):
        pass
"""
ENDING = "HurrayStatus hpy_destroy(void) {\n    calls->hurray_box_destroy(&box);\n}\nvoid f(void) { calls->hurray_box_secret(); }\n"
TRUE = {"hurray_box_new": "Box", "hurray_box_size": "Box.size", "hurray_box_destroy": "Box",
        "-": {"hurray_box_secret": "nobody needs that"}}


class OneBinding(unittest.TestCase):
    """A binding with two functions, an end of handles, and one function that it leaves out."""

    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="coverage_", dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.root)
        self.write("hurray/box.py", SOURCE)
        self.write("gen/wrappers.c", ENDING)
        patched = mock.patch.object(languages, "LANGUAGES", (PYTHON,))
        patched.start()
        self.addCleanup(patched.stop)

    def write(self, file: str, text: str) -> None:
        path = self.root / "bindings/python" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def generate(self, table: dict | str) -> str:
        self.write("coverage.json", table if isinstance(table, str) else json.dumps(table))
        return coverage.generate(self.root, ABI, "banner\n")[coverage.PAGE]

    def refused(self, table: dict | str, *texts: str) -> None:
        with self.assertRaises(coverage.CoverageError) as caught:
            self.generate(table)
        for text in texts:
            self.assertIn(text, str(caught.exception))

    def changed(self, **changes: str | None) -> dict:
        table = {**TRUE, **changes}
        return {function: value for function, value in table.items() if value is not None}

    def test_a_true_table_becomes_a_page(self):
        page = self.generate(TRUE)
        self.assertIn("| all | 3 of 4 |", page)
        self.assertIn("| `hurray_box_size` | `Box.size` |", page)
        self.assertIn("| `hurray_box_secret` | – |", page)
        self.assertIn("- `hurray_box_secret`: nobody needs that", page)

    def test_a_function_in_neither_half_is_found(self):
        self.refused(self.changed(hurray_box_size=None), "hurray_box_size stands in neither half")

    def test_a_function_in_both_halves_is_found(self):
        self.refused({**TRUE, "-": {**TRUE["-"], "hurray_box_size": "it is too large"}}, "hurray_box_size stands in both halves")

    def test_a_function_that_does_not_exist_is_found(self):
        self.refused(self.changed(hurray_box_colour="Box.size"), "hurray_box_colour is no function")
        self.refused({**TRUE, "-": {**TRUE["-"], "hurray_box_gone": "it is not there"}}, "hurray_box_gone is no function")

    def test_a_name_that_is_not_declared_is_found(self):
        self.refused(self.changed(hurray_box_size="Box.length"), "Box.length: the public sources declare no length")
        self.refused(self.changed(hurray_box_size="Crate.size"), "Crate.size: the public sources declare no Crate")
        self.refused(self.changed(hurray_box_size="Box.size, Box.width"), "declare no width")

    def test_a_private_name_does_not_count(self):
        self.refused(self.changed(hurray_box_size="Box._hidden"), "declare no _hidden")

    def test_what_is_no_name_is_found(self):
        for text in ("", "the size of a box", "Box.size,Box", "Box.size()"):
            self.refused(self.changed(hurray_box_size=text), "is no name")

    def test_a_function_that_nobody_calls_is_found(self):
        self.write("hurray/box.py", SOURCE.replace("_native.box_size", "len"))
        self.refused(TRUE, "hurray_box_size: is said to be offered, but the hand-written sources do not call it")

    def test_a_generated_wrapper_alone_is_no_offer(self):
        table = {**TRUE, "hurray_box_secret": "Box.size", "-": {}}
        self.refused(table, "hurray_box_secret: is said to be offered, but")

    def test_a_function_that_is_called_and_left_out_is_found(self):
        self.write("hurray/more.py", "def more(box):\n    return _native.box_secret(box)\n")
        self.refused(TRUE, "hurray_box_secret: is said not to be offered, but the hand-written sources call it")

    def test_a_reason_that_says_nothing_is_found(self):
        for text in ("", "no", "not yet"):
            self.refused({**TRUE, "-": {"hurray_box_secret": text}}, "says nothing")

    def test_the_form_of_a_table_is_checked(self):
        self.refused("{", "coverage.json:1: no JSON")
        self.refused("[]", "expected an object")
        self.refused({"hurray_box_new": "Box"}, 'an object "-"')
        self.refused({**TRUE, "hurray_box_new": ["Box"]}, "hurray_box_new: expected a text")
        self.refused('{"hurray_box_new": "Box", "hurray_box_new": "Box", "-": {}}', "hurray_box_new stands there twice")

    def test_a_missing_table_is_found(self):
        with self.assertRaisesRegex(coverage.CoverageError, "bindings/python/coverage.json: cannot be read"):
            coverage.generate(self.root, ABI, "banner\n")


class Scanners(unittest.TestCase):
    """What counts as a public name and as a call in each language."""

    def scan(self, folder: str, suffix: str, text: str) -> tuple[set[str], set[str]]:
        language = next(language for language in languages.LANGUAGES if language.folder == folder)
        text = languages.without_comments(suffix, text)
        return language.names(text), language.calls(suffix, text)

    def expect(self, folder: str, suffix: str, text: str, names: set[str], calls: set[str]) -> None:
        found = self.scan(folder, suffix, text)
        self.assertEqual(found[0], names)
        self.assertLessEqual({languages.spelled(call) for call in calls}, found[1])
        self.assertNotIn(languages.spelled("hurray_commented"), found[1])

    def test_cpp(self):
        self.expect("cpp", ".hpp", "class Box : Base {\n  public:\n    /// hurray_commented\n    Result<int> size() const {\n"
                    "        return hurray_box_size(handle_);\n    }\n    int hidden_;\n};\nclass Later;\n", {"Box", "size"}, {"hurray_box_size"})

    def test_java(self):
        self.expect("java", ".java", "public final class Box {\n    // Raw.hurray_commented\n    public long size() {\n"
                    "        return Raw.hurray_box_size(handle);\n    }\n    private void hidden() {}\n    void inner() {}\n}\n",
                    {"Box", "size"}, {"hurray_box_size"})

    def test_csharp(self):
        self.expect("csharp", ".cs", "public sealed unsafe class Box {\n    /// NativeMethods.Commented\n    public ulong Size => Info();\n"
                    "    public static (ulong A, ulong B) Pair(int kind = 1) { NativeMethods.BoxSize(); }\n    private void Hidden() {}\n"
                    "    internal void Inner() {}\n}\n", {"Box", "Size", "Pair"}, {"hurray_box_size"})

    def test_go(self):
        self.expect("go", ".go", "type Box struct {\n}\n// capi.CallCommented\nfunc (b *Box) Size() (uint64, error) {\n"
                    "\treturn capi.CallBoxSize(b)\n}\nfunc hidden() {}\nfunc Of[T any](t T) *Box {\n}\n", {"Box", "Size", "Of"}, {"hurray_box_size"})

    def test_zig(self):
        self.expect("zig", ".zig", 'pub const Box = struct {\n    // table.commented\n    handle: Handle(c.Box, "box_destroy", "box"),\n'
                    "    pub fn size(self: Box) u64 {\n        return library.table.box_size(self);\n    }\n    fn hidden() void {}\n};\n",
                    {"Box", "size"}, {"hurray_box_size", "hurray_box_destroy", "hurray_box_destroy_deferred"})

    def test_python(self):
        self.expect("python", ".py", SOURCE, {"Box", "__init__", "size"}, {"hurray_box_new", "hurray_box_size"})


class Project(unittest.TestCase):
    def test_the_page_is_what_the_tables_say(self):
        abi = json.loads((ROOT / "abi/abi.json").read_text(encoding="utf-8"))
        for file, text in coverage_page.emit(abi, ROOT).items():
            self.assertEqual((ROOT / file).read_text(encoding="utf-8"), text, f"{file} is stale; run tools/refresh")


if __name__ == "__main__":
    unittest.main()

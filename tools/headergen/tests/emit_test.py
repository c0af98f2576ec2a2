"""The framework of the emitters, and the emitters for C and C++ over the sample's abi.json."""

import contextlib
import io
import json
import shutil
import subprocess
import unittest
from unittest import mock

from sample import PROFILE, ROOT, SampleTest

import emitters  # noqa: E402  (sample puts the folder on the path)
from emitters import common, layout, null_mutants, null_test, stub, version_script  # noqa: E402
from hg import emit, output, refresh  # noqa: E402


class Names(unittest.TestCase):
    def test_words(self):
        for name, words in (("buffer_share", "buffer share"), ("HURRAY_TYPE_FLOAT32", "hurray type float32"),
                            ("HurrayBufferList", "hurray buffer list"), ("HTTPServer", "http server"), ("x", "x"), ("_a__b_", "a b")):
            self.assertEqual(" ".join(common.words(name)), words)

    def test_cases(self):
        self.assertEqual(common.pascal("buffer_share"), "BufferShare")
        self.assertEqual(common.camel("BUFFER_SHARE"), "bufferShare")
        self.assertEqual(common.snake("BufferShare"), "buffer_share")
        self.assertEqual(common.screaming("BufferShare"), "BUFFER_SHARE")
        self.assertEqual(common.strip_prefix("hurray_buffer_len", "hurray_", "hurray_buffer_"), "len")


class Emitters(SampleTest):
    def setUp(self):
        super().setUp()
        self.abi_json = json.loads(self.files()["abi.json"])

    def test_group_prefix(self):
        groups = {g["name"]: g for g in self.abi_json["groups"]}
        self.assertEqual(common.group_prefix(self.abi_json, groups["HurrayColour"]), "HURRAY_COLOUR_")
        self.assertEqual(common.group_prefix(self.abi_json, groups["HurrayStatus"]), "HURRAY_ERR_")

    def test_every_required_pointer_has_a_null_test(self):
        text = null_test.emit(self.abi_json, self.root)["gen/null_test.cpp"]
        names = {line.split(", ")[1].rstrip(") {") for line in text.splitlines() if line.startswith("TEST_F")}
        self.assertEqual(names, {
            "hurray_box_from_memory_memory", "hurray_box_from_memory_out_box", "hurray_box_info_box", "hurray_box_info_out_info",
            "hurray_box_destroy_of_null_is_a_no_op", "hurray_box_everything_box", "hurray_box_everything_values",
            "hurray_box_everything_name", "hurray_box_everything_bytes", "hurray_box_everything_out_bytes",
            "hurray_box_everything_taken", "hurray_box_everything_variable", "hurray_box_everything_variable_holds_null",
            "hurray_box_everything_chooser"})

    def test_null_tests_of_the_project_cover_every_required_pointer(self):
        abi = json.loads((ROOT / "abi/abi.json").read_text(encoding="utf-8"))
        text = null_test.emit(abi, ROOT)["abi/gen/null_test.cpp"]
        for f in abi["functions"]:
            for p in common.required_pointers(f):
                self.assertIn(f"TEST_F(NullPointers, {f['name']}_{p['name']})", text)

    def test_every_function_with_a_null_test_has_mutants(self):
        abi = json.loads((ROOT / "abi/abi.json").read_text(encoding="utf-8"))
        for library in (self.abi_json, abi):
            tests = next(iter(null_test.emit(library, ROOT).values()))
            mutants = next(iter(null_mutants.emit(library, ROOT).values()))
            for f in library["functions"]:
                required = common.required_pointers(f)
                self.assertEqual(bool(required), f'{{"{f["name"]}", "status", ""}}' in mutants, f["name"])
                self.assertEqual(f"TEST_F(NullPointers, {f['name']}_" in tests, f"real(&{f['name']})" in mutants, f["name"])
                for p in f["params"]:
                    if p.get("direction") == "out" and p["annotation"] not in ("error", "out_array") and any(q is not p for q in required):
                        self.assertIn(f'{{"{f["name"]}", "zeroed", "{p["name"]}"}}', mutants)

    def test_mutants_of_the_sample(self):
        text = null_mutants.emit(self.abi_json, self.root)["gen/null_mutants.cpp"]
        for mutant in ('"hurray_box_from_memory", "callback", "release"', '"hurray_box_info", "struct_size", "out_info"',
                       '"hurray_box_destroy", "no_op_of_null", "box"', '"hurray_box_everything", "taken", "taken"',
                       '"hurray_box_everything", "variable", "variable"', '"hurray_box_everything", "callback", "chooser"',
                       '"hurray_box_everything", "zeroed", "out_bytes"', '"hurray_box_everything", "report_endless", "error"'):
            self.assertIn(f"{{{mutant}}}", text)
        self.assertNotIn("hurray_name", text)

    def compiles(self, text: str, *command: str) -> subprocess.CompletedProcess:
        self.assertEqual(self.headergen()[0], 0)
        return subprocess.run([*command, "-Wall", "-Wextra", "-Werror", "-Iinclude", "-I.", "-fsyntax-only", "-"], input=text, text=True,
                              cwd=self.root, capture_output=True, check=False)

    @unittest.skipUnless(shutil.which("gcc"), "needs gcc")
    def test_layout_check_fails_when_a_field_moves(self):
        for key, command in (("gen/layout_check.c", ("gcc", "-std=c11", "-xc")),
                             ("gen/layout_check.cpp", ("g++", "-std=c++23", "-xc++"))):
            with self.subTest(key):
                good = layout.emit(self.abi_json, self.root)[key]
                run = self.compiles(good, *command)
                self.assertEqual(run.returncode, 0, run.stderr)
                run = self.compiles(good.replace("width) == 8", "width) == 16", 1), *command)
                self.assertNotEqual(run.returncode, 0)
                run = self.compiles(good.replace("HURRAY_COLOUR_BLUE == 0xFE", "HURRAY_COLOUR_BLUE == 0xFD"), *command)
                self.assertIn("HURRAY_COLOUR_BLUE: value", run.stderr)

    @unittest.skipUnless(shutil.which("gcc"), "needs gcc")
    def test_stub_compiles(self):
        run = self.compiles(stub.emit(self.abi_json, self.root)["gen/stub.c"].replace("HURRAY_ERR_VERSION_MISMATCH", "-2"),
                            "gcc", "-std=c11", "-xc")
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_version_script(self):
        text = version_script.emit(self.abi_json, self.root)["gen/sample.map"]
        first, second = text.split("HURRAY_2 {")
        self.assertIn("hurray_box_destroy;", first)
        self.assertIn("local:\n    *;", first)
        self.assertIn("hurray_name;", second)
        self.assertTrue(text.endswith("} HURRAY_1;\n"))
        plain = version_script.emit({**self.abi_json, "version_nodes": None}, self.root)["gen/sample.map"]
        self.assertEqual(plain.count("hurray_"), len(self.abi_json["functions"]))
        self.assertIn("local:", plain)

    def test_two_emitters_cannot_write_one_file(self):
        with mock.patch.dict(emitters.EMITTERS, {PROFILE: ["layout", "layout"]}):
            with self.assertRaisesRegex(ValueError, "already emitted"):
                emit.emit_all(self.root, PROFILE, json.dumps(self.abi_json))

    def refresh(self, *arguments: str) -> tuple[int, str]:
        out = io.StringIO()
        with mock.patch.dict(emitters.EMITTERS, {PROFILE: ["layout"]}, clear=True), \
                mock.patch.object(layout, "FOLDERS", ["gen"], create=True), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = refresh.main(["--root", str(self.root), *arguments])
        return code, out.getvalue()

    def test_refresh_writes_then_checks(self):
        self.assertEqual(self.refresh("--check")[0], 1)
        code, printed = self.refresh()
        self.assertEqual(code, 0)
        self.assertIn("refresh: wrote gen/layout_check.c", printed)
        self.assertEqual(self.refresh("--check"), (0, "refresh: 6 files are fresh\n"))

    def test_stale_emitted_file(self):
        self.refresh()
        path = self.root / "gen/layout_check.c"
        path.write_text(path.read_text() + "// by hand\n")
        code, printed = self.refresh("--check")
        self.assertEqual(code, 1)
        self.assertIn("-// by hand", printed)

    def test_stray_file_in_a_generated_folder(self):
        self.refresh()
        (self.root / "gen/old.c").write_text("")
        code, printed = self.refresh("--check")
        self.assertEqual(code, 1)
        self.assertIn("gen/old.c: stands in a folder of generated files, but nothing generates it", printed)
        self.assertIn("removed gen/old.c", self.refresh()[1])
        self.assertEqual(output.leftovers(self.root, ["gen"], {"gen/layout_check.c": "", "gen/layout_check.cpp": ""}), [])

    def test_refused_sources_change_nothing(self):
        self.refresh()
        self.edit("src/more.cpp", "hurray_name() noexcept", "hurray_name()")
        before = {f: f.read_bytes() for f in self.root.rglob("*") if f.is_file()}
        self.assertEqual(self.refresh()[0], 1)
        self.assertEqual(before, {f: f.read_bytes() for f in self.root.rglob("*") if f.is_file()})


if __name__ == "__main__":
    unittest.main()

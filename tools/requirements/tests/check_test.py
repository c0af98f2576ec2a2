"""Everything that the check is there for is caught: made-up contracts, entries, BUILD files and tests."""

import contextlib
import copy
import io
import json
import os
import pathlib
import tempfile
import unittest
from unittest import mock

from contract import cli, document, entries, sentences

CONTRACT = "Boxes\n\nA box MUST open. A box has a lid.\n\nLids\n\nA lid MUST NOT be lost, and SHOULD be blue.\n"
OPENS = sentences.digest("A box MUST open.")
HAS = sentences.digest("A box has a lid.")
LOST = sentences.digest("A lid MUST NOT be lost, and SHOULD be blue.")
GOOD = {
    "contract": "seeds/contract.txt",
    "whole_targets": {"//t:whole_test": "to compile it is the test"},
    "requirements": [
        {"id": "BOX-1", "section": "Boxes", "strength": ["MUST"], "sentence": OPENS, "requirement": "Boxes can be opened.",
         "tests": ["//t:box_test Box.Opens", "//t:whole_test"]},
        {"id": "LID-1", "section": "Lids", "strength": ["MUST NOT", "SHOULD"], "sentence": LOST, "requirement": "Lids stay.",
         "tests": ["//t:lid_test LidTest.test_stays"]},
    ],
}
BUILD = """
cc_library(name = "library", srcs = ["box_test.cpp"])
cc_test(name = "box_test", srcs = ["box_test.cpp"])
cc_test(name = "whole_test", srcs = ["whole.c"])
cc_test(name = "manual_test", srcs = ["box_test.cpp"], tags = ["manual"])
py_test_system(name = "lid_test", main = "lid_test.py")
zig_test(name = "zig_test", root = "root.zig", srcs = glob(["*.zig"]))
go_test(name = "go_test", srcs = glob(["**/*.go"]))
"""
SOURCES = {
    "t/BUILD.bazel": BUILD,
    "t/box_test.cpp": "TEST(Box, Opens) {}\n",
    "t/whole.c": "",
    "t/lid_test.py": "class LidTest:\n    def test_stays(self):\n        pass\n",
    "t/root.zig": 'test "root" {\n}\n',
    "t/apart.zig": 'test "apart" {\n}\n',
    "t/own_test.go": "func TestOwn(t *testing.T) {}\n",
    "t/inner/inner_test.go": "func TestInner(t *testing.T) {}\n",
    "abi/abi.json": json.dumps({"abi_version": 1, "functions": [
        {"name": "hurray_box_open", "source": "abi/src/box.cpp", "since": 1, "params": []}]}),
    "abi/headergen.json": json.dumps({"sources": "abi/src", "headers": [
        {"sections": [{"title": "Boxes", "sources": ["box.cpp"]}]}]}),
    "abi/src/internal/exchange.hpp": "#define HURRAY_EXCHANGE_FUNCTIONS(ENTRY) \\\n    ENTRY(box_open, Box*)\n",
    "docs/abi.md": "# Page\n\n" + "".join(f"<!-- generated: {part} -->\n<!-- end generated: {part} -->\n"
                                         for part in ("exchange-table", "versions", "ownership", "requirements")),
}


class Project(unittest.TestCase):
    """A made-up project, good as it stands."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name) / "project"
        self.shared = pathlib.Path(temporary.name) / "data"
        for name, text in SOURCES.items():
            self.write(self.root / name, text)
        self.write(self.shared / "seeds/contract.txt", CONTRACT)
        self.entries = copy.deepcopy(GOOD)
        self.box, self.lid = self.entries["requirements"]

    @staticmethod
    def write(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def check(self, fresh=True):
        """The problems, and what was printed beside them."""
        self.write(self.root / document.ENTRIES, json.dumps(self.entries))
        printed = io.StringIO()
        with mock.patch.dict(os.environ, {cli.SHARED: str(self.shared)}), contextlib.redirect_stdout(printed):
            if fresh:
                with contextlib.suppress(*cli.ERRORS):
                    for path, text in document.generate(self.root).items():
                        self.write(self.root / path, text)
            return cli.problems(self.root), printed.getvalue()

    def assert_refused(self, *texts):
        found, _ = self.check()
        self.assertEqual(len(found), len(texts), found)
        for problem, text in zip(found, texts):
            self.assertIn(text, problem)


class CheckTest(Project):
    def test_good_ones_pass(self):
        self.assertEqual(self.check(), ([], ""))

    def test_a_sentence_without_a_word_of_obligation_may_have_an_entry(self):
        self.entries["requirements"].append({"id": "BOX-2", "section": "Boxes", "strength": [], "sentence": HAS,
                                             "requirement": "Lids are on boxes.", "tests": ["//t:box_test Box.Opens"]})
        self.assertEqual(self.check(), ([], ""))

    def test_sentence_without_an_entry(self):
        self.entries["requirements"].remove(self.lid)
        self.assert_refused('no entry for a sentence of "Lids" with MUST NOT and SHOULD, which begins "A lid MUST NOT')

    def test_entry_without_a_test(self):
        self.lid["tests"] = []
        self.assert_refused("LID-1: no test proves it")

    def test_hash_that_is_of_no_sentence(self):
        self.lid["sentence"] = sentences.digest("A lid is lost.")
        self.assert_refused("no entry for a sentence of \"Lids\"", "LID-1: no sentence of the contract has the sha256")

    def test_sentence_that_changed(self):
        self.write(self.shared / "seeds/contract.txt", CONTRACT.replace("open", "close"))
        self.assert_refused("no entry for a sentence of \"Boxes\"", "BOX-1: no sentence of the contract")

    def test_section_and_strength_that_are_not_the_sentences(self):
        self.lid["section"] = "Boxes"
        self.lid["strength"] = ["SHOULD"]
        self.assert_refused('LID-1: section "Boxes"', "LID-1: strength ['SHOULD'], but the sentence has ['MUST NOT', 'SHOULD']")

    def test_entry_in_the_contracts_words(self):
        self.box["requirement"] = "A box  MUST open."
        self.assert_refused("BOX-1: repeats the contract's words")

    def test_target_that_does_not_exist(self):
        self.lid["tests"] = ["//t:gone_test LidTest.test_stays"]
        self.assert_refused("LID-1: //t:gone_test: //t has no such target")

    def test_package_that_does_not_exist(self):
        self.lid["tests"] = ["//gone:lid_test LidTest.test_stays"]
        self.assert_refused("LID-1: //gone: there is no gone/BUILD.bazel here")

    def test_target_that_is_no_test(self):
        self.lid["tests"] = ["//t:library Box.Opens"]
        self.assert_refused("LID-1: //t:library is a cc_library, not a test")

    def test_target_that_nothing_runs(self):
        self.lid["tests"] = ["//t:manual_test Box.Opens"]
        self.assert_refused("LID-1: //t:manual_test is manual")

    def test_test_that_does_not_exist(self):
        self.lid["tests"] = ["//t:lid_test LidTest.test_flies", "//t:box_test LidTest.test_stays"]
        self.assert_refused("LID-1: //t:lid_test has no test LidTest.test_flies",
                            "LID-1: //t:box_test has no test LidTest.test_stays")

    def test_zig_file_that_the_root_does_not_import(self):
        self.lid["tests"] = ["//t:zig_test root", "//t:zig_test apart"]
        self.assert_refused("LID-1: //t:zig_test has no test apart")

    def test_go_test_of_another_package(self):
        self.lid["tests"] = ["//t:go_test TestOwn", "//t:go_test TestInner"]
        self.assert_refused("LID-1: //t:go_test has no test TestInner")

    def test_whole_target_without_a_reason(self):
        self.lid["tests"] = ["//t:lid_test"]
        self.assert_refused("LID-1: //t:lid_test: name a test in it")
        self.lid["tests"] = ["//t:lid_test LidTest.test_stays"]
        self.entries["whole_targets"]["//t:whole_test"] = " "
        self.assert_refused("whole_targets: //t:whole_test: say why")

    def test_reason_that_nothing_uses(self):
        self.entries["whole_targets"]["//t:lid_test"] = "why not"
        self.assert_refused("whole_targets: nothing uses //t:lid_test")

    def test_stale_page(self):
        self.check()
        self.box["requirement"] = "Boxes open."
        self.assertEqual(self.check(fresh=False)[0], ["docs/abi.md: a generated part is stale; run tools/refresh"])

    def test_without_the_contract_all_else_is_checked_and_one_line_says_so(self):
        (self.shared / "seeds/contract.txt").unlink()
        self.lid["sentence"] = sentences.digest("Unknown.")
        self.lid["tests"] = ["//t:lid_test LidTest.test_flies"]
        found, printed = self.check()
        self.assertEqual(found, ["LID-1: //t:lid_test has no test LidTest.test_flies"])
        self.assertEqual(printed.count("\n"), 1)
        self.assertIn("sentences were not compared", printed)
        self.lid["tests"] = []
        self.assertEqual(self.check()[0], ["LID-1: no test proves it"])

    def test_command_fails_with_what_is_wrong(self):
        self.lid["tests"] = []
        self.check()
        errors = io.StringIO()
        pages = mock.patch.object(cli.pages, "problems", return_value=["PAGE-1: no test proves it"])
        with mock.patch.dict(os.environ, {cli.SHARED: str(self.shared)}), contextlib.redirect_stderr(errors), pages:
            self.assertEqual(cli.main(["check"], self.root), 1)
        self.assertEqual(errors.getvalue(), "LID-1: no test proves it\nPAGE-1: no test proves it\n")


class EntriesTest(Project):
    """The file of entries itself."""

    def test_form(self):
        cases = [
            ("id", "box 1", "an id is like"), ("sentence", "12", "64 hexadecimal digits"),
            ("strength", ["WILL"], "strength 'WILL'"),
            ("requirement", "  ", "the requirement is empty"), ("tests", ["t:box_test Box.Opens"], "expected //package:target"),
            ("tests", ["//t:box_test Box.Opens", "//t:box_test Box.Opens"], "stands there twice"),
            ("tests", "//t:box_test", "expected tests, a list"), ("note", "x", "unknown field note"),
            ("id", "LID-1", "id LID-1 stands in 2 entries"), ("sentence", LOST, "stands in 2 entries: BOX-1, LID-1"),
        ]
        for field, value, says in cases:
            with self.subTest(field=field, value=value):
                self.entries = copy.deepcopy(GOOD)
                self.entries["requirements"][0][field] = value
                self.assert_refused(says)

    def test_missing_field_and_wrong_file(self):
        del self.box["tests"]
        self.assert_refused("requirement BOX-1: expected tests, a list")
        self.entries["requirements"] = ["BOX-1"]
        self.assert_refused("requirement 0: expected an object")
        self.entries = {"contract": "x"}
        self.assert_refused("expected whole_targets, a dict")
        self.write(self.root / document.ENTRIES, "{")
        with self.assertRaisesRegex(entries.EntryError, "requirements.json"):
            entries.load(self.root / document.ENTRIES)


if __name__ == "__main__":
    unittest.main()

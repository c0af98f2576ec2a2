"""Each frozen header is untouched, and today's ABI still has all of it; every way to break one is noticed."""

import copy
import hashlib
import json
import re
import tempfile
import unittest
from pathlib import Path

from sample import ROOT

from hg import frozen, profile  # noqa: E402  (sample puts the folder on the path)
from hg.clang import require  # noqa: E402

FOLDER = ROOT / "abi/frozen"
VERSIONS = (1, 2, 3, 4)


class FrozenTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.profile = profile.load(ROOT, "abi/headergen.json")
        cls.reader = frozen.Reader(require(), cls.profile)
        cls.abi = json.loads((ROOT / cls.profile.abi_json).read_text(encoding="utf-8"))

    def text(self, version: int) -> str:
        return (FOLDER / f"v{version}/hurray.h").read_text(encoding="utf-8")

    def read(self, version: int, text: str | None = None) -> dict:
        """The facts of a frozen header, or of a text in its place."""
        found, problems = self.read_text(self.text(version) if text is None else text)
        self.assertEqual(problems, [])
        return found

    def read_text(self, text: str) -> tuple[dict, list[str]]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "hurray.h"
            path.write_text(text, encoding="utf-8")
            return self.reader.read(path)


class Untouched(unittest.TestCase):
    def test_checksums(self):
        sums = dict(reversed(line.split("  ")) for line in (FOLDER / "SHA256SUMS").read_text().splitlines())
        self.assertEqual(sorted(sums), sorted(f.relative_to(FOLDER).as_posix() for f in FOLDER.rglob("*.h")))
        self.assertEqual(sorted(sums), [f"v{version}/hurray.h" for version in VERSIONS])
        for file, expected in sums.items():
            with self.subTest(file):
                self.assertEqual(hashlib.sha256((FOLDER / file).read_bytes()).hexdigest(), expected,
                                 "a frozen header is never edited")


class Agrees(FrozenTest):
    def test_every_declaration_with_todays_abi(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                self.assertEqual(frozen.compare(version, self.read(version), self.abi, self.profile), [])

    def test_versions_only_added(self):
        for older, newer in zip(VERSIONS, VERSIONS[1:]):
            with self.subTest(older=older):
                before, after = self.read(older), self.read(newer)
                self.assertEqual(frozen.compare_versions(older, before, newer, after, self.profile), [])
                self.assertLess(len(before["functions"]), len(after["functions"]))

    def test_reader_finds_everything_that_stands_there(self):
        """Counted in the text, so that a declaration that the reader skips is noticed."""
        for version in VERSIONS:
            with self.subTest(version=version):
                text, found = self.text(version), self.read(version)
                self.assertEqual(set(found["functions"]), set(re.findall(r"^\w+ (hurray_\w+)\(", text, re.MULTILINE)))
                self.assertEqual(set(found["constants"]), set(re.findall(r"^#define (HURRAY_\w+) +\S", text, re.MULTILINE)))
                self.assertEqual(set(found["structs"]), set(re.findall(r"^typedef struct (\w+) \{", text, re.MULTILINE)))
                self.assertEqual(set(found["handles"]), set(re.findall(r"^typedef struct (\w+) \w+;", text, re.MULTILINE)))
                self.assertEqual(set(found["callbacks"]), set(re.findall(r"^typedef void \(\*(\w+)\)", text, re.MULTILINE)))
                self.assertEqual(set(found["typedefs"]), {"HurrayStatus"})

    def test_what_each_version_brought(self):
        brought = {1: {"hurray_c_abi_version", "hurray_buffer_from_ptr", "hurray_buffer_destroy"},
                   2: {"hurray_buffer_handoff", "hurray_buffer_handle_bytes", "hurray_buffer_event",
                       "hurray_buffer_event_release", "hurray_buffer_stream"},
                   3: {"hurray_buffer_list_new", "hurray_buffer_list_push", "hurray_buffer_list_len", "hurray_buffer_list_get",
                       "hurray_buffer_list_destroy"},
                   4: {"hurray_c_abi_supports", "hurray_tensor_context_new", "hurray_tensor_context_abi_version",
                       "hurray_tensor_context_descriptor", "hurray_tensor_context_destroy", "hurray_descriptor_decode",
                       "hurray_descriptor_destroy"}}
        before: set[str] = set()
        for version in VERSIONS:
            now = set(self.read(version)["functions"])
            self.assertEqual(now - before, brought[version])
            before = now


class HeaderThatSaysOtherwise(FrozenTest):
    """A changed frozen header disagrees with today's ABI, whatever was changed."""

    def disagrees(self, version: int, old: str, new: str, *expected: str) -> None:
        text = self.text(version)
        self.assertEqual(text.count(old), 1, f"{old!r} in version {version}")
        wrong = frozen.compare(version, self.read(version, text.replace(old, new)), self.abi, self.profile)
        for words in expected:
            self.assertTrue(any(words in line for line in wrong), f"{words!r} in {wrong}")

    def test_parameter_type(self):
        self.disagrees(1, "uint32_t alignment,", "uint64_t alignment,", "function hurray_buffer_from_ptr: changed from")

    def test_parameter_count(self):
        self.disagrees(1, "                                    uint8_t device_tag,\n", "", "function hurray_buffer_from_ptr: changed from")

    def test_parameter_order(self):
        self.disagrees(1, "uint32_t alignment,\n                                    uint8_t device_tag,",
                       "uint8_t device_tag,\n                                    uint32_t alignment,", "hurray_buffer_from_ptr: changed")

    def test_constness(self):
        self.disagrees(3, "hurray_buffer_list_len(const HurrayBufferList *list", "hurray_buffer_list_len(HurrayBufferList *list",
                       "function hurray_buffer_list_len: changed from")

    def test_pointer_depth(self):
        self.disagrees(4, "hurray_tensor_context_destroy(struct HurrayTensorContext **ctx)",
                       "hurray_tensor_context_destroy(struct HurrayTensorContext *ctx)", "hurray_tensor_context_destroy: changed from")

    def test_return_type(self):
        self.disagrees(1, "uint32_t hurray_c_abi_version(void);", "uint64_t hurray_c_abi_version(void);",
                       "function hurray_c_abi_version: changed from")

    def test_constant(self):
        self.disagrees(1, "HURRAY_ERR_NULL_POINTER         -6", "HURRAY_ERR_NULL_POINTER         -8",
                       'constant HURRAY_ERR_NULL_POINTER: changed from {"value": -8} to {"value": -6}')
        self.disagrees(2, "HURRAY_SYNC_EVENT           0x01", "HURRAY_SYNC_EVENT           0x03", "constant HURRAY_SYNC_EVENT: changed")

    def test_version_constant(self):
        self.disagrees(3, "HURRAY_C_ABI_VERSION 3", "HURRAY_C_ABI_VERSION 2", "constant HURRAY_C_ABI_VERSION: expected 3")

    def test_status_type(self):
        self.disagrees(1, "typedef int32_t HurrayStatus;", "typedef int64_t HurrayStatus;", "typedef HurrayStatus: changed from int64_t")

    def test_callback(self):
        self.disagrees(1, "(void *buffer, void *context);", "(void *buffer);", "callback HurrayReleaseCallback: changed from")

    def test_struct_layout(self):
        self.disagrees(2, "    char message[256];", "    char message[255];", "struct HurrayError: changed from")
        self.disagrees(2, "    void *sync_handle;\n    uint8_t sync_handle_device_tag;", "    uint8_t sync_handle_device_tag;\n    void *sync_handle;",
                       "struct HurrayEventPayload: changed from")

    def test_declarations_that_are_not_there(self):
        self.disagrees(1, "typedef struct HurrayBuffer HurrayBuffer;",
                       "typedef struct HurrayBuffer HurrayBuffer;\ntypedef struct HurrayGone HurrayGone;\n"
                       "#define HURRAY_GONE 1\nHurrayStatus hurray_gone(HurrayGone *gone);",
                       "handle HurrayGone: removed", "constant HURRAY_GONE: removed", "function hurray_gone: removed")

    def test_function_that_the_version_had_and_the_header_lost(self):
        self.disagrees(1, "HurrayStatus hurray_buffer_destroy(HurrayBuffer *buffer);", "",
                       "function hurray_buffer_destroy: @since 1, but version 1 did not have it")


class AbiThatMovedOn(FrozenTest):
    """Today's ABI changed: each frozen header that knew the old form says so."""

    def breaks(self, change, *expected: str, versions=VERSIONS) -> None:
        abi = copy.deepcopy(self.abi)
        change(abi)
        for version in VERSIONS:
            wrong = frozen.compare(version, self.read(version), abi, self.profile)
            if version in versions:
                for words in expected:
                    self.assertTrue(any(words in line for line in wrong), f"version {version}: {words!r} in {wrong}")
            else:
                self.assertEqual(wrong, [], version)

    @staticmethod
    def function(abi: dict, name: str) -> dict:
        return next(f for f in abi["functions"] if f["name"] == name)

    def test_removed_function(self):
        self.breaks(lambda abi: abi["functions"].remove(self.function(abi, "hurray_buffer_list_get")),
                    "function hurray_buffer_list_get: removed", versions=(3, 4))

    def test_new_parameter(self):
        self.breaks(lambda abi: self.function(abi, "hurray_buffer_destroy")["params"].append(
            self.function(abi, "hurray_runtime_info")["params"][-1]), "function hurray_buffer_destroy: changed from")

    def test_moved_to_a_later_node(self):
        self.breaks(lambda abi: self.function(abi, "hurray_buffer_from_ptr").update(since=4),
                    "function hurray_buffer_from_ptr: in node HURRAY_4 today", versions=(1, 2, 3))

    def test_slipped_into_an_earlier_node(self):
        self.breaks(lambda abi: self.function(abi, "hurray_tensor_share").update(since=2),
                    "function hurray_tensor_share: @since 2, but version", versions=(2, 3))

    def test_renumbered_status(self):
        self.breaks(lambda abi: next(c for c in abi["constants"] if c["name"] == "HURRAY_ERR_NULL_POINTER").update(value=-60),
                    "constant HURRAY_ERR_NULL_POINTER: changed")

    def test_handle_that_became_a_struct(self):
        def change(abi):
            abi["handles"] = [h for h in abi["handles"] if h["name"] != "HurrayBufferList"]

        self.breaks(change, "handle HurrayBufferList: removed", versions=(3, 4))

    def test_moved_field(self):
        def change(abi):
            struct = next(s for s in abi["structs"] if s["name"] == "HurrayError")
            struct["fields"][1]["offset"] = 8

        self.breaks(change, "struct HurrayError: changed", versions=(2, 3, 4))

    def test_additions_of_the_current_version_break_nobody(self):
        def change(abi):
            abi["functions"].append({**self.function(abi, "hurray_tensor_share"), "name": "hurray_tensor_new_word"})
            abi["constants"].append({**abi["constants"][0], "name": "HURRAY_NEW", "value": 7})

        self.breaks(change, versions=())


class NoPlainC(FrozenTest):
    """What must not stand in a frozen header."""

    def refused(self, old: str, new: str, *expected: str) -> None:
        text = self.text(1)
        self.assertEqual(text.count(old), 1)
        _, problems = self.read_text(text.replace(old, new))
        for words in expected:
            self.assertTrue(any(words in line for line in problems), f"{words!r} in {problems}")

    def test_banner(self):
        self.refused("/* FROZEN: never edited.", "/* A header.", "[banner]")

    def test_type_without_a_width(self):
        self.refused("uint32_t alignment,", "unsigned long alignment,", "no fixed width", "[fixed-width]")

    def test_enum(self):
        self.refused("typedef int32_t HurrayStatus;", "typedef int32_t HurrayStatus;\nenum HurrayX { HURRAY_X };", "[frozen]")

    def test_what_does_not_compile_as_c99(self):
        self.refused("typedef int32_t HurrayStatus;", "using HurrayStatus = int32_t;", "[parse]")

    def test_constant_that_is_no_number(self):
        self.refused("HURRAY_ERR_INTERNAL_PANIC       -7", 'HURRAY_ERR_INTERNAL_PANIC       "panic"', "is no whole number")


if __name__ == "__main__":
    unittest.main()

"""--check finds every way in which a generated file can be stale, and the snapshot every way in which the ABI can break."""

import json
import re
import unittest

from sample import SampleTest

TYPES, BOX, MORE = "src/api/types.hpp", "src/box.cpp", "src/more.cpp"


class Stale(SampleTest):
    def setUp(self):
        super().setUp()
        self.assertEqual(self.headergen()[0], 0)

    def stale(self, *texts: str) -> None:
        code, printed = self.headergen("--check")
        self.assertEqual(code, 1, printed)
        self.assertIn("generated files are stale; run tools/refresh", printed)
        for text in texts:
            self.assertIn(text, printed)

    def test_fresh(self):
        self.assertEqual(self.headergen("--check"), (0, "headergen: 4 files are fresh\n"))

    def test_check_writes_nothing(self):
        self.edit(MORE, "Returns the sample's name.", "Returns the name.")
        before = {f: f.read_bytes() for f in self.root.rglob("*") if f.is_file()}
        self.stale()
        self.assertEqual(before, {f: f.read_bytes() for f in self.root.rglob("*") if f.is_file()})

    def test_header_edited_by_hand(self):
        self.edit("include/sample/box.h", "int32_t code;", "int64_t code;")
        self.stale("--- include/sample/box.h (checked in)", "+++ include/sample/box.h (generated)", "-    int64_t code;", "+    int32_t code;")

    def test_source_changed(self):
        self.edit(MORE, "Returns the sample's name.", "Returns the name of the sample.")
        self.stale("- * Returns the sample's name.", "+ * Returns the name of the sample.", "abi.json (checked in)")

    def test_conventions_changed(self):
        self.edit("conventions/box.txt", "One paragraph", "One short paragraph")
        self.stale("+ * BOXES. One short paragraph of conventions.")

    def test_missing_file(self):
        (self.root / "include/sample.h").unlink()
        self.stale("include/sample.h: is generated, but does not exist")

    def test_missing_last_newline(self):
        path = self.root / "abi.json"
        path.write_text(path.read_text().rstrip("\n"))
        self.stale("No newline at end of file")

    def test_line_endings(self):
        path = self.root / "include/sample.h"
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        self.stale("include/sample.h (checked in)")

    def test_not_text(self):
        (self.root / "include/sample.h").write_bytes(b"\xff\xfe")
        self.stale("no UTF-8")

    def test_writing_again_changes_nothing(self):
        self.assertEqual(self.headergen(), (0, ""))


class Snapshot(SampleTest):
    def broken(self, *texts: str) -> None:
        code, printed = self.headergen()
        self.assertEqual(code, 1, printed)
        self.assertIn("the sources break the frozen ABI (version 2, generation 1)", printed)
        for text in texts:
            self.assertIn(text, printed)
        self.assertFalse((self.root / "include").exists(), "nothing is written when the ABI is broken")

    def rename_function(self):
        self.edit(MORE, "hurray_name()", "hurray_title()")

    def raise_version(self):
        self.edit(TYPES, "HURRAY_C_ABI_VERSION = 2", "HURRAY_C_ABI_VERSION = 3")

    def test_renamed_symbol(self):
        self.rename_function()
        self.broken("function hurray_name: removed (was")

    def test_changed_parameter(self):
        self.edit(MORE, "uint32_t count,\n", "uint64_t count,\n")
        self.broken("function hurray_box_everything: changed from")

    def test_changed_ownership(self):
        self.edit(MORE, "HG_CONSUMED HurrayBox* taken", "HG_INOUT HurrayBox* taken")
        self.broken("function hurray_box_everything: changed from", "HurrayBox * [consumed]")

    def test_renamed_parameter_is_no_change(self):
        self.edit(MORE, "HG_IN_STRING const char* name,", "HG_IN_STRING const char* title,")
        self.edit(MORE, "(void)name,", "(void)title,")
        self.assertEqual(self.headergen()[0], 0)

    def test_moved_to_another_version(self):
        self.edit(BOX, "/// @thread one at a time\n/// @since 2", "/// @thread one at a time\n/// @since 1")
        self.broken("function hurray_box_info: changed from", '"since": 1')

    def test_removed_constant(self):
        self.edit(TYPES, "constexpr uint8_t HURRAY_COLOUR_BLUE = 0xFE;  ///< Blue.\n", "")
        self.broken("constant HURRAY_COLOUR_BLUE: removed")

    def test_changed_constant(self):
        self.edit(TYPES, "0xFE", "0xFD")
        self.broken('constant HURRAY_COLOUR_BLUE: changed from {"type": "uint8_t", "value": 254} to', "253")

    def test_changed_field(self):
        self.edit(TYPES, "uint64_t width;", "int64_t width;")
        self.broken("struct HurrayBoxInfo: changed from", "int64_t width")

    def test_swapped_fields(self):
        self.edit(TYPES, "    /// Width in bytes.\n    uint64_t width;\n    /// `rank` sizes.\n    const int64_t* shape;\n",
                  "    /// `rank` sizes.\n    const int64_t* shape;\n    /// Width in bytes.\n    uint64_t width;\n")
        self.broken("struct HurrayBoxInfo: changed from")

    def test_field_at_the_end_of_an_unsized_struct(self):
        self.edit(TYPES, "char message[256];", "char message[256];\n    /// New.\n    int32_t more;")
        self.broken("struct HurrayError: changed from")

    def test_sized_struct_may_grow_at_its_end(self):
        self.edit(TYPES, "double temperature;", "double temperature;\n    /// New.\n    uint64_t more;")
        self.assertEqual(self.headergen()[0], 0)

    def test_changed_callback(self):
        self.edit(TYPES, "(void* memory, void* context)", "(void* memory)")
        self.broken("callback HurrayReleaseCallback: changed from")

    def test_changed_return_type(self):
        self.edit(BOX, "HG_INFALLIBLE uint32_t hurray_c_abi_version", "HG_INFALLIBLE uint64_t hurray_c_abi_version")
        self.broken("function hurray_c_abi_version: changed from", "uint32_t (void)", "uint64_t (void)")

    def test_changed_nullability(self):
        self.edit(MORE, "HG_IN_OPT const HurrayBox* other", "HG_INOUT HurrayBox* other")
        self.broken("function hurray_box_everything: changed from")

    def test_changed_type_of_a_constant(self):
        self.edit(TYPES, "constexpr uint8_t HURRAY_COLOUR_BLUE", "constexpr uint16_t HURRAY_COLOUR_BLUE")
        self.broken('constant HURRAY_COLOUR_BLUE: changed from {"type": "uint8_t", "value": 254} to {"type": "uint16_t"')

    def test_changed_typedef(self):
        self.edit(TYPES, "typedef int32_t HurrayStatus;", "typedef int64_t HurrayStatus;")
        self.broken("typedef HurrayStatus: changed from int32_t to int64_t")

    def test_removed_field(self):
        self.edit(TYPES, "    /// Temperature.\n    double temperature;\n", "")
        self.broken("struct HurrayBoxInfo: changed from")

    def test_removed_callback(self):
        self.edit(TYPES, "HurrayReleaseCallback)", "HurrayGiveBack)")
        self.edit(BOX, "HurrayReleaseCallback release", "HurrayGiveBack release")
        self.broken("callback HurrayReleaseCallback: removed", "function hurray_box_from_memory: changed from")

    def test_removed_handle(self):
        for file in (TYPES, BOX, MORE):
            path = self.root / file
            path.write_text(re.sub(r"\bHurrayBox\b", "HurrayCrate", path.read_text()))
        self.broken("handle HurrayBox: removed", "function hurray_box_destroy: changed from")

    def test_sized_struct_that_grew_in_its_middle(self):
        self.edit(TYPES, "    /// Temperature.\n", "    /// New.\n    uint64_t more;\n    /// Temperature.\n")
        self.broken("struct HurrayBoxInfo: changed from")

    def test_lowered_version(self):
        self.edit(TYPES, "HURRAY_C_ABI_VERSION = 2", "HURRAY_C_ABI_VERSION = 1")
        self.broken("the version or the generation went back")

    def add_everything(self) -> None:
        """Something new of every kind."""
        self.edit(TYPES, "/// @endgroup", "/// New.\nconstexpr uint32_t HURRAY_NEW = 1;\n/// @endgroup")
        self.edit(TYPES, "double temperature;", "double temperature;\n    /// New.\n    uint64_t more;")
        self.edit(TYPES, "/// What a box is.", "/// A lid.\nstruct HurrayLid;\n\n/// Opens.\ntypedef void (*HurrayOpener)(void* context);\n\n"
                  "/// Width.\ntypedef uint16_t HurrayWidth;\n\n/// Two.\nstruct HurrayTwo {\n    /// One.\n    uint32_t one;\n};\n\n"
                  "/// What a box is.")
        self.edit(MORE, "/// Uses every", "/// Returns two.\n/// @thread any\n/// @since 2\n"
                  "HURRAY_API HG_INFALLIBLE uint32_t hurray_two() noexcept { return 2; }\n\n/// Uses every")

    NEW = ("constant HURRAY_NEW: new", "struct HurrayBoxInfo: grew at its end", "handle HurrayLid: new", "callback HurrayOpener: new",
           "typedef HurrayWidth: new", "struct HurrayTwo: new", "function hurray_two: new")

    def test_addition_before_the_first_release(self):
        self.add_everything()
        code, printed = self.headergen()
        self.assertEqual(code, 0, printed)

    def test_addition_after_the_release_raises_the_version(self):
        self.edit("headergen.json", '"released": false', '"released": true')
        self.add_everything()
        self.broken(*(f"{text}, but the version is still 2: an addition raises HURRAY_C_ABI_VERSION" for text in self.NEW))
        self.raise_version()
        code, printed = self.headergen()
        self.assertEqual(code, 0, printed)

    def test_raised_version_allows_no_removal_beside_an_addition(self):
        self.edit("headergen.json", '"released": false', '"released": true')
        self.add_everything()
        self.raise_version()
        self.edit(TYPES, "constexpr uint8_t HURRAY_COLOUR_BLUE = 0xFE;  ///< Blue.\n", "")
        self.broken("constant HURRAY_COLOUR_BLUE: removed")

    def test_generation_alone_allows_nothing(self):
        self.rename_function()
        self.edit("headergen.json", '"generation": 1', '"generation": 2')
        self.broken("function hurray_name: removed")

    def test_freeze_says_what_is_new(self):
        self.add_everything()
        code, printed = self.headergen("--freeze")
        self.assertEqual(code, 0)
        for text in self.NEW:
            self.assertIn(text, printed)

    def test_removal_needs_version_and_generation(self):
        self.rename_function()
        self.raise_version()
        self.broken("function hurray_name: removed")
        self.edit("headergen.json", '"generation": 1', '"generation": 2')
        self.assertEqual(self.headergen()[0], 0)

    def test_missing_snapshot(self):
        (self.root / "snapshot.json").unlink()
        code, printed = self.headergen()
        self.assertEqual(code, 1)
        self.assertIn("snapshot.json: the frozen ABI is missing", printed)

    def test_freeze(self):
        self.rename_function()
        code, printed = self.headergen("--freeze")
        self.assertEqual(code, 0)
        self.assertIn("function hurray_name: removed", printed)
        self.assertIn("hurray_title", json.loads((self.root / "snapshot.json").read_text())["functions"])
        self.assertEqual(self.headergen()[0], 0)

    def test_what_was_released_cannot_be_frozen_away(self):
        self.edit("headergen.json", '"released": false', '"released": true')
        self.rename_function()
        before = (self.root / "snapshot.json").read_bytes()
        self.assertEqual(self.headergen("--freeze")[0], 1)
        self.assertEqual((self.root / "snapshot.json").read_bytes(), before)


class Profile(SampleTest):
    def refused_profile(self, text: str) -> None:
        code, printed = self.headergen()
        self.assertEqual(code, 1)
        self.assertIn(text, printed)

    def test_unknown_key(self):
        self.edit("headergen.json", '"name": "sample"', '"nam": 1, "name": "sample"')
        self.refused_profile("headergen.json: unknown key 'nam'")

    def test_missing_key(self):
        self.edit("headergen.json", ' "status_ok": "HURRAY_OK",\n', "")
        self.refused_profile("headergen.json: the key 'status_ok' is missing")

    def test_no_json(self):
        (self.root / "headergen.json").write_text("{")
        self.refused_profile("headergen.json: ")

    def test_other_words_of_another_profile(self):
        """What core_native.h needs: int as status, char message[256], unsigned int, no error rule."""
        self.edit("headergen.json", '"error_type": "HurrayError"',
                  '"extra_types": {"int": {"bits": 32, "signed": true}, "unsigned int": {"bits": 32, "signed": false}}')
        self.edit(MORE, "uint32_t count,\n", "unsigned int count,\n")
        self.edit(TYPES, "int32_t code;", "int code;")
        for file, old in ((BOX, "HG_ERROR HurrayError* error"), (MORE, "HG_ERROR HurrayError* error")):
            self.edit(file, old, "HG_OUT_OPT HurrayError* error")
        (self.root / "snapshot.json").unlink()
        self.assertEqual(self.headergen("--freeze")[0], 0)
        self.assertEqual(self.headergen()[0], 0)
        self.assertIn("unsigned int count", (self.root / "include/sample/more.h").read_text())


if __name__ == "__main__":
    unittest.main()

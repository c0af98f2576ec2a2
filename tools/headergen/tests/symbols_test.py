"""--symbols: what a built library exports is what the headers declare, both ways, in the right version nodes."""

import shutil
import subprocess
import unittest

from sample import SampleTest


@unittest.skipUnless(shutil.which("gcc") and shutil.which("nm"), "needs gcc and nm")
class Symbols(SampleTest):
    NODES = ("HURRAY_1 { global: hurray_c_abi_version; hurray_box_from_memory; hurray_box_destroy; local: *; };\n"
             "HURRAY_2 { global: hurray_box_info; hurray_name; hurray_box_everything; } HURRAY_1;\n")
    FUNCTIONS = ("hurray_c_abi_version", "hurray_box_from_memory", "hurray_box_info", "hurray_box_destroy", "hurray_name",
                 "hurray_box_everything")

    def library(self, functions, nodes=NODES) -> str:
        (self.root / "lib.map").write_text(nodes)
        (self.root / "lib.c").write_text("".join(f"void {name}(void) {{}}\n" for name in functions))
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", "lib.so", "lib.c", "-Wl,--version-script=lib.map"], cwd=self.root,
                       check=True)
        return str(self.root / "lib.so")

    def test_equal(self):
        self.assertEqual(self.headergen("--symbols", self.library(self.FUNCTIONS)),
                         (0, "headergen: lib.so exports exactly the 6 declared functions\n"))

    def test_missing_export(self):
        code, printed = self.headergen("--symbols", self.library([f for f in self.FUNCTIONS if f != "hurray_name"]))
        self.assertEqual(code, 1)
        self.assertIn("hurray_name: declared, but not exported by lib.so", printed)

    def test_undeclared_export(self):
        nodes = self.NODES.replace("hurray_name;", "hurray_name; hurray_secret;")
        code, printed = self.headergen("--symbols", self.library([*self.FUNCTIONS, "hurray_secret"], nodes))
        self.assertEqual(code, 1)
        self.assertIn("hurray_secret: exported by lib.so, but not declared in any header", printed)

    def test_leaked_symbol_of_the_runtime(self):
        nodes = self.NODES.replace("hurray_name;", "hurray_name; _ZN*;")
        code, printed = self.headergen("--symbols", self.library([*self.FUNCTIONS, "_ZN4core4leakEv"], nodes))
        self.assertEqual(code, 1)
        self.assertIn("_ZN4core4leakEv: exported", printed)

    def test_renamed_symbol(self):
        self.edit("src/more.cpp", "hurray_name()", "hurray_title()")
        code, printed = self.headergen("--symbols", self.library(self.FUNCTIONS))
        self.assertEqual(code, 1)
        self.assertIn("hurray_title: declared, but not exported", printed)
        self.assertIn("hurray_name: exported by lib.so, but not declared", printed)

    def test_wrong_node(self):
        nodes = self.NODES.replace(" hurray_name;", "").replace("hurray_box_destroy;", "hurray_box_destroy; hurray_name;")
        code, printed = self.headergen("--symbols", self.library(self.FUNCTIONS, nodes))
        self.assertEqual(code, 1)
        self.assertIn("hurray_name: in version node HURRAY_1, expected HURRAY_2 (@since 2)", printed)

    def test_no_nodes(self):
        code, printed = self.headergen("--symbols", self.library(self.FUNCTIONS, "{ global: hurray_*; local: *; };"))
        self.assertEqual(code, 1)
        self.assertIn("in version node (none), expected HURRAY_1", printed)

    def test_no_library(self):
        (self.root / "lib.so").write_text("not ELF")
        code, printed = self.headergen("--symbols", str(self.root / "lib.so"))
        self.assertEqual(code, 1)
        self.assertIn("lib.so", printed)


if __name__ == "__main__":
    unittest.main()

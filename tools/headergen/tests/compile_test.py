"""Every header compiles alone, as C99, C11 and C++17, without a warning, with every compiler that is here."""

import itertools
import json
import shutil
import subprocess
import unittest

from sample import ROOT

COMPILERS = [c for c in (("gcc", "g++"), ("clang-19", "clang++-19")) if shutil.which(c[0]) and shutil.which(c[1])]
STANDARDS = ("c99", "c11", "c++17")
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only")


class Compile(unittest.TestCase):
    def setUp(self):
        profile = json.loads((ROOT / "abi/headergen.json").read_text())
        self.include = ROOT / profile["output"]
        self.headers = [profile["umbrella"]["path"], *(h["path"] for h in profile["headers"])]

    def compile(self, compiler, standard: str, text: str) -> subprocess.CompletedProcess:
        c, cpp = compiler
        command = [cpp, "-x", "c++"] if standard.startswith("c++") else [c, "-x", "c"]
        return subprocess.run([*command, f"-std={standard}", *WARNINGS, f"-I{self.include}", "-"], input=text, text=True,
                              capture_output=True, check=False)

    def test_there_are_compilers(self):
        self.assertTrue(COMPILERS, "neither gcc nor clang-19 is here")

    def test_alone_and_twice(self):
        for compiler, standard, header in itertools.product(COMPILERS, STANDARDS, self.headers):
            with self.subTest(compiler=compiler[0], standard=standard, header=header):
                run = self.compile(compiler, standard, f'#include "{header}"\n#include <{header}>\n')
                self.assertEqual(run.returncode, 0, run.stderr)

    def test_in_any_order(self):
        text = "".join(f"#include <{header}>\n" for header in reversed(self.headers))
        for compiler, standard in itertools.product(COMPILERS, STANDARDS):
            with self.subTest(compiler=compiler[0], standard=standard):
                run = self.compile(compiler, standard, text)
                self.assertEqual(run.returncode, 0, run.stderr)

    def test_the_flags_refuse_what_is_not_c99(self):
        for compiler in COMPILERS:
            with self.subTest(compiler=compiler[0]):
                run = self.compile(compiler, "c99", f"#include <{self.headers[0]}>\nstruct s {{ struct {{ int a; }}; }};\n")
                self.assertNotEqual(run.returncode, 0)

    def test_constants_stand_in_preprocessor_conditions(self):
        text = f"#include <{self.headers[0]}>\n#if HURRAY_C_ABI_VERSION < 4\n#error old\n#endif\n"
        for compiler in COMPILERS:
            self.assertEqual(self.compile(compiler, "c99", text).returncode, 0)


if __name__ == "__main__":
    unittest.main()

"""Handles are opaque: with the headers alone a program can pass them on, and can neither look behind them nor copy or make
what is there. Every handle of abi.json, as C and as C++, with every compiler that is here."""

import json
import pathlib
import re
import shutil
import subprocess
import unittest

ABI = json.loads(pathlib.Path("abi/abi.json").read_text(encoding="utf-8"))
HANDLES = [handle["name"] for handle in ABI["handles"]]
COMPILERS = [c for c in (("gcc", "-xc", "-std=c11"), ("g++", "-xc++", "-std=c++17"),
                         ("clang-19", "-xc", "-std=c11", "-ferror-limit=0"),
                         ("clang++-19", "-xc++", "-std=c++17", "-ferror-limit=0")) if shutil.which(c[0])]

ALLOWED = "{0} *pass{0}({0} *handle) {{ {0} *copy = handle; return copy; }}"
# One line each: the compiler must complain about every line.
REFUSED = {
    "its size": "unsigned long size{0}(void) {{ return sizeof({0}); }}",
    "copying what is there": "void copy{0}({0} *to, const {0} *from) {{ *to = *from; }}",
    "a field": "int field{0}({0} *handle) {{ return handle->field != 0; }}",
    "making one": "void make{0}(void) {{ {0} handle; (void)&handle; }}",
    "the next one": "{0} *next{0}({0} *handle) {{ return handle + 1; }}",
}


def lines_in_error(compiler: tuple[str, ...], lines: list[str]) -> set[int]:
    """Which of the lines, from 0, the compiler refuses."""
    code = "#include <hurray.h>\n" + "\n".join(lines) + "\n"
    run = subprocess.run([*compiler, "-fsyntax-only", "-Iabi/include", "-"], input=code, text=True, capture_output=True,
                         check=False)
    found = {int(line) - 2 for line in re.findall(r"^<stdin>:(\d+):\d+: (?:fatal )?error:", run.stderr, re.MULTILINE)}
    if (run.returncode != 0) != bool(found):
        raise AssertionError(run.stderr)
    return found


class Opaque(unittest.TestCase):
    def test_there_are_handles_and_compilers(self):
        self.assertGreaterEqual(len(HANDLES), 11)
        self.assertIn("HurrayBuffer", HANDLES)
        self.assertTrue(COMPILERS, "no compiler is here")

    def test_a_pointer_may_be_passed_on(self):
        for compiler in COMPILERS:
            self.assertEqual(lines_in_error(compiler, [ALLOWED.format(name) for name in HANDLES]), set(), compiler[0])

    def test_nobody_looks_behind_a_pointer(self):
        for compiler in COMPILERS:
            for what, code in REFUSED.items():
                with self.subTest(compiler=compiler[0], what=what):
                    refused = lines_in_error(compiler, [code.format(name) for name in HANDLES])
                    self.assertEqual(refused, set(range(len(HANDLES))))

    def test_with_a_struct_that_is_known_all_of_that_compiles(self):
        """So that the lines above are refused for what they are about."""
        for compiler in COMPILERS:
            lines = ["typedef struct Known { int field; } Known;", *(code.format("Known") for code in REFUSED.values())]
            self.assertEqual(lines_in_error(compiler, lines), set(), compiler[0])

    def test_no_parameter_is_an_object(self):
        """Every handle that a function takes or gives is a pointer, or a pointer to one."""
        for function in ABI["functions"]:
            for parameter in function["params"]:
                self.assertNotEqual(parameter["type"]["kind"], "handle", f"{function['name']}: {parameter['name']}")
            self.assertNotEqual(function["return"]["kind"], "handle", function["name"])


if __name__ == "__main__":
    unittest.main()

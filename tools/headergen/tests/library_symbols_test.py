"""The built library exports exactly what the headers declare, in the right version nodes, under its soname."""

import ctypes
import json
import subprocess
import unittest

from sample import ROOT

from hg import profile, symbols  # noqa: E402  (sample puts the folder on the path)

LIBRARY = ROOT / "abi/libhurray.so"
STUB = ROOT / "abi/stub5/libhurray.so"


class Library(unittest.TestCase):
    def test_symbols(self):
        chosen = profile.load(ROOT, "abi/headergen.json")
        abi = json.loads((ROOT / chosen.abi_json).read_text(encoding="utf-8"))
        for library in (LIBRARY, STUB):
            with self.subTest(library):
                self.assertEqual(symbols.compare(library, abi, chosen.version_nodes), [])

    def test_stub_is_a_stranger(self):
        stub = ctypes.CDLL(str(STUB))
        self.assertEqual(stub.hurray_c_abi_version(), 5)
        self.assertEqual(stub.hurray_c_abi_supports(4), 0)
        self.assertEqual(stub.hurray_buffer_destroy(None), -2)

    def test_soname_and_flags(self):
        run = subprocess.run(["readelf", "-d", str(LIBRARY)], capture_output=True, text=True, check=True)
        self.assertIn("Library soname: [libhurray.so.1]", run.stdout)
        self.assertIn("NODELETE", run.stdout)
        self.assertIn("SYMBOLIC", run.stdout)

    def test_needs_only_the_c_library(self):
        run = subprocess.run(["readelf", "-d", str(LIBRARY)], capture_output=True, text=True, check=True)
        needed = {line.split("[")[1].rstrip("]") for line in run.stdout.splitlines() if "(NEEDED)" in line}
        self.assertLessEqual(needed, {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2",
                                      "ld-linux-aarch64.so.1"})


if __name__ == "__main__":
    unittest.main()

"""The program whose regions are the code of the README."""

import os
import subprocess
import sys
import tempfile
import unittest

EXPECTED = """\
<hurray.Tensor float32 [2, 3] row_major> 42.0
['weights'] {'made by': 'hurray'}
[[42.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
57.0
(2, 3)
(2, 3)
(2, 3)
1 b'\\x05' [True, False, True]
[16256, 16384]
INVALID_LAYOUT 6
"""


class SampleTest(unittest.TestCase):
    def test_output(self):
        sample = os.environ["HURRAY_SAMPLE"]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-P", "-X", "dev", "-W", "error", sample, folder], capture_output=True,
                                  text=True, timeout=60, check=False)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout, EXPECTED)
        self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()

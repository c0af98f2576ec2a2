"""The programs whose regions are the code of the README."""

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


HANDOFF = """\
write 0x10000 on 0x51
record an event on 0x51
0x52 waits for 0xe1
release event 0xe1
read 0x10000 on 0x52
free 0x10000
write 0x10000 on 0x51
0x52 waits for 0x51
read 0x10000 on 0x52
free 0x10000
"""


class SampleTest(unittest.TestCase):
    def runs(self, sample, expected):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-P", "-X", "dev", "-W", "error", os.path.join(os.environ["HURRAY_SAMPLES"], sample), folder]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout, expected)
        self.assertEqual(done.returncode, 0)

    def test_five_minutes(self):
        self.runs("five_minutes.py", EXPECTED)

    def test_handoff(self):
        self.runs("handoff.py", HANDOFF)


if __name__ == "__main__":
    unittest.main()

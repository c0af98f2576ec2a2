"""The programs whose regions are the code of the README."""

import json
import math
import os
import random
import struct
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
42.0
(2, 3)
(2, 3) 24 57.0
{'layers': 2, 'tokens': ['a', 'b']} 42.0
6 24 True
<hurray.Tensor float32 [2, 3] csr> 42.0
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


def run(sample, argument):
    command = [sys.executable, "-P", "-X", "dev", "-W", "error", os.path.join(os.environ["HURRAY_SAMPLES"], sample), argument]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


class SampleTest(unittest.TestCase):
    def runs(self, sample, expected):
        with tempfile.TemporaryDirectory() as folder:
            done = run(sample, folder)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout, expected)
        self.assertEqual(done.returncode, 0)

    def test_a_layer_against_plain_python(self):
        numbers = random.Random(7)
        rows, columns = 5, 33

        def floats(count):
            return struct.unpack(f"<{count}f", struct.pack(f"<{count}f", *(numbers.gauss(0, 1) for _ in range(count))))

        weight, bias, vector = floats(rows * columns), floats(rows), floats(columns)
        header, data = {}, b""
        for name, shape, values in (("weight", [rows, columns], weight), ("bias", [rows], bias), ("input", [columns], vector)):
            begin, data = len(data), data + struct.pack(f"<{len(values)}f", *values)
            header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
        text = json.dumps(header).encode()
        with tempfile.NamedTemporaryFile() as file:
            file.write(struct.pack("<Q", len(text)) + text + data)
            file.flush()
            done = run("layer.py", file.name)
        self.assertEqual((done.stderr, done.returncode), ("", 0))
        found = [float(line) for line in done.stdout.split()]
        sums = [math.fsum(weight[i * columns + j] * vector[j] for j in range(columns)) + bias[i] for i in range(rows)]
        self.assertEqual(len(found), rows)
        for ours, z in zip(found, sums):
            expected = z * (1 + math.erf(z / math.sqrt(2))) / 2
            self.assertAlmostEqual(ours, expected, delta=1e-5 * max(1, abs(expected)))

    def test_a_layer_of_a_file_that_is_not_there(self):
        done = run("layer.py", "/nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("NotFoundError", done.stderr)

    def test_five_minutes(self):
        self.runs("five_minutes.py", EXPECTED)

    def test_handoff(self):
        self.runs("handoff.py", HANDOFF)


if __name__ == "__main__":
    unittest.main()

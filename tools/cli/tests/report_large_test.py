"""hurray report with tensors of gigabytes: little memory, and samples where all would be too much."""

import json
import os
import resource
import struct
import subprocess

import sections
import support
import wire
from report_page import Page

# Of memory that is not a mapped file. The program's own needs are a few of these.
MEBIBYTES = 700


class LargeTest(support.CliTest):
    def report(self, path, *arguments):
        target = self.folder / "page.html"
        limit = MEBIBYTES << 20
        done = subprocess.run([support.PROGRAM, "report", str(path), "-o", str(target), *arguments], capture_output=True, timeout=600, check=False,
                              env=support.environment(), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))
        self.assertEqual((done.returncode, done.stderr), (support.GOOD, b""))
        return Page(target.read_bytes())

    def sparse_file(self, name, head, size, patches):
        path = self.folder / name
        with path.open("wb") as file:
            file.write(head)
            os.ftruncate(file.fileno(), len(head) + size)
            for place, data in patches.items():
                file.seek(len(head) + place)
                file.write(data)
        return path

    def test_more_than_2_gib(self):
        rows, columns = 640 * 1024, 1024
        size = rows * columns * 4
        self.assertGreater(size, 2**31)
        header = json.dumps({"w": {"dtype": "F32", "shape": [rows, columns], "data_offsets": [0, size]}}).encode()
        path = self.sparse_file("large.safetensors", struct.pack("<Q", len(header)) + header, size,
                                {size - 4: struct.pack("<f", 3.5), 2**31: struct.pack("<f", -1.25)})
        page = self.report(path)
        numbers = page.tensor(0).numbers()
        self.assertEqual((numbers["Minimum"], numbers["Maximum"]), (-1.25, 3.5))
        self.assertIn("A sample: 1,048,576 of 671,088,640 elements, in 1,024 rows of 1,024", page.tensor(0).text())
        self.assertEqual(sum(page.tensor(0).bins()[1]), 2**20)

    def test_quantized_numbers_that_take_too_much_memory_as_a_whole(self):
        # As float32 it would be more than the 256 MiB that copies may take.
        shape = (72 * 1024, 1024)
        size = shape[0] * shape[1]
        descriptor = wire.Descriptor(0x10, shape, 1, quantization=sections.per_tensor(scale=0.5, zero_point=0))
        head = descriptor.encoded()
        middle = shape[0] // 2 * shape[1]
        path = self.sparse_file("large", head, size, {middle: bytes([4]) * (4 * shape[1])})
        page = self.report(path)
        tensor = page.tensor(0)
        self.assertIn("A sample: 65,536 of 75,497,472 elements, in 64 rows of 1,024", tensor.text())
        self.assertIn("The statistics are of the sample, too", tensor.text())
        self.assertEqual(tensor.numbers()["Step"], 0.5)
        self.assertEqual(sum(tensor.bins()[1]), 65536)
        self.assertEqual(tensor.numbers()["Minimum"], 0)

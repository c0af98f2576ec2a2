"""Every language hands the golden tensors to every language: through a .hrry file, a stream and a channel.

One process a language makes files and streams and sends, one takes what all of them made. What comes out is compared, byte
for byte, with what the plain Python encoder says: each file that is made, and each stream and file that is made of what another
language handed over.
"""

import collections
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import unittest

import golden_tensors

LANGUAGES = ("cpp", "java", "csharp", "go", "zig", "python")
SECONDS = 240


class Process:
    """A driver that is given pairs of ends, one after the other, and answers when the last one is through."""

    def __init__(self, language, names, pairs, sockets):
        self.name, self.pairs = language, pairs
        driver = os.environ[f"HURRAY_{language.upper()}_DRIVER"]
        # The sockets are the child's: only when it ends its peer sees their end.
        self.child = subprocess.Popen([driver, "pass", str(names)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      pass_fds=[end.fileno() for end in sockets])
        for end in sockets:
            end.close()
        self.answers, self.errors = b"", b""
        self.thread = threading.Thread(target=self._talk)
        self.thread.start()

    def _talk(self):
        lines = "".join(f"{source}\t{target}\n" for source, target in self.pairs).encode()
        try:
            self.answers, self.errors = self.child.communicate(lines, SECONDS)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.answers, self.errors = self.child.communicate()
            self.errors += b" (killed: it took too long)"

    def failure(self):
        """Waits for its end; why it failed, or nothing."""
        self.thread.join()
        if self.child.returncode == 0:
            return ""
        return f"{self.name}: exit code {self.child.returncode}: {self.errors.decode(errors='replace')}\n"

    def result(self):
        """Its answers."""
        return [json.loads(line) for line in self.answers.decode().splitlines()]


def finish(processes):
    """Waits for all of them. One that fails makes its neighbours fail, too: all are told of."""
    failures = "".join([process.failure() for process in processes])
    if failures:
        raise AssertionError(failures)


class MatrixTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.tensors = golden_tensors.all_tensors()
        cls.stream, cls.file = golden_tensors.stream_of(cls.tensors), golden_tensors.file_of(cls.tensors)
        cls.names = cls.folder / "names"
        cls.names.write_text(golden_tensors.names_of(cls.tensors), encoding="utf-8")
        (cls.folder / "golden").write_bytes(cls.stream)
        cls.run_all()

    @classmethod
    def run_all(cls):
        """Files and streams first, then all processes at once: one sends through six channels, one receives from six."""
        made = {language: [("stream:" + cls.path("golden"), f"{form}:" + cls.path(f"{language}.{form}")) for form in ("hrry", "stream")]
                for language in LANGUAGES}
        makers = [Process(language, cls.names, made[language], []) for language in LANGUAGES]
        finish(makers)
        cls.made = {process.name: process.result() for process in makers}
        with contextlib.ExitStack() as stack:
            sending, receiving = collections.defaultdict(list), collections.defaultdict(list)
            for a, producer in enumerate(LANGUAGES):
                for b, consumer in enumerate(LANGUAGES):
                    out, into = (stack.enter_context(end) for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))
                    sending[producer].append((out, (a + b) % 2))
                    receiving[consumer].append((into, producer))
            processes = []
            for language in LANGUAGES:
                # Memory is copied once and sealed, a mapped file is passed as it is: half of the pairs do the one, half the other.
                pairs = [(("hrry:" + cls.path(f"{language}.hrry") if mapped else "stream:" + cls.path("golden")), f"channel:{end.fileno()}")
                         for end, mapped in sending[language]]
                processes.append(Process(language, cls.names, pairs, [end for end, _ in sending[language]]))
            for language in LANGUAGES:
                pairs = [(f"channel:{end.fileno()}", "stream:" + cls.path(f"{producer}-channel-{language}"))
                         for end, producer in receiving[language]]
                pairs += [(f"{form}:" + cls.path(f"{producer}.{form}"), f"{form}:" + cls.path(f"{producer}-{form}-{language}"))
                          for producer in LANGUAGES for form in ("hrry", "stream")]
                processes.append(Process(language, cls.names, pairs, [end for end, _ in receiving[language]]))
            finish(processes)
            cls.passed = [(process.name, process.pairs, process.result()) for process in processes]

    @classmethod
    def path(cls, name):
        return str(cls.folder / name)

    def equal(self, path, expected):
        data = pathlib.Path(path).read_bytes()
        if data != expected:
            at = next((i for i, (a, b) in enumerate(zip(data, expected)) if a != b), min(len(data), len(expected)))
            self.fail(f"{path}: {len(data)} bytes, expected {len(expected)}; the first other one is at {at}")

    def test_the_set_has_every_kind_of_tensor(self):
        layouts = collections.Counter(tensor.descriptor.as_json()["layout"] for tensor in self.tensors)
        for layout in ("row_major", "col_major", "strided", "tiled", "morton", "hilbert", "coo", "csr", "csc", "csf", "block_paged", "composite"):
            self.assertGreater(layouts[layout], 4, layout)
        fields = [tensor.descriptor.as_json() for tensor in self.tensors]
        for what, count in {
            "quantized": sum(f["quantization"] is not None for f in fields),
            "sharded": sum(f["shard"] is not None for f in fields),
            "rank 0": sum(f["rank"] == 0 for f in fields),
            "empty": sum(0 in f["shape"] for f in fields),
            "below a byte": sum(f["type"] in ("bool", "int4", "uint4", "int2", "uint2", "float4_e2m1", "float6_e2m3") for f in fields),
            "with an offset": sum(f["byte_offset"] != 0 for f in fields),
            "with negative strides": sum(any(s < 0 for s in f["layout_fields"].get("strides", ())) for f in fields),
            "with several buffers": sum(len(f["buffers"]) > 1 for f in fields),
        }.items():
            self.assertGreater(count, 4, what)

    def test_files_and_streams_that_are_made(self):
        for language in LANGUAGES:
            with self.subTest(language):
                self.assertEqual(self.made[language], [{"tensors": len(self.tensors), "live_handles": 0}] * 2)
                self.equal(self.path(f"{language}.hrry"), self.file)
                self.equal(self.path(f"{language}.stream"), self.stream)

    def test_nobody_loses_a_tensor_or_a_handle(self):
        for language, pairs, answers in self.passed:
            with self.subTest(language):
                self.assertEqual(answers, [{"tensors": len(self.tensors), "live_handles": 0}] * len(pairs))

    def compare(self, form, expected):
        for producer in LANGUAGES:
            for consumer in LANGUAGES:
                with self.subTest(f"{producer} to {consumer}"):
                    self.equal(self.path(f"{producer}-{form}-{consumer}"), expected)

    def test_files_from_everyone_to_everyone(self):
        self.compare("hrry", self.file)

    def test_streams_from_everyone_to_everyone(self):
        self.compare("stream", self.stream)

    def test_channels_from_everyone_to_everyone(self):
        self.compare("channel", self.stream)


if __name__ == "__main__":
    unittest.main()

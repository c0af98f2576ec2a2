"""Runs the program that HURRAY_CLI names, and makes its inputs."""

import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["HURRAY_CLI"]
SECONDS = 120
GOOD, FINDING, USAGE, UNREADABLE, FAILED, INTERRUPTED = 0, 1, 2, 3, 4, 130


def environment(**more):
    """A small environment, so that the user's does not matter."""
    keep = {key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "ASAN_OPTIONS") if key in os.environ}
    return {**keep, "LC_ALL": "C.UTF-8", **more}


def run(*arguments, stdin=b"", env=None, check=None, cwd=None):
    """Runs the program; with `check` any other exit code raises with what it wrote to standard error."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], input=stdin, capture_output=True, timeout=SECONDS, check=False,
                          env=env or environment(), cwd=cwd)
    if check is not None and done.returncode != check:
        raise AssertionError(f"{arguments}: exit code {done.returncode}, expected {check}: "
                             f"{done.stdout.decode(errors='replace')[-2000:]}{done.stderr.decode(errors='replace')[-2000:]}")
    return done


def output(*arguments, check=GOOD, **options):
    """What the program wrote to standard output."""
    return run(*arguments, check=check, **options).stdout.decode("utf-8")


def json_of(*arguments, check=GOOD, **options):
    """The JSON that the program printed; integers stay exact."""
    return json.loads(output(*arguments, check=check, **options))


def shared_folder():
    """The folder with files that others wrote, or None where it is not beside the project."""
    path = os.environ.get("HURRAY_SHARED")
    return pathlib.Path(path) if path and pathlib.Path(path).is_dir() else None


_DTYPES = {"F32": "f", "F64": "d", "I8": "b", "U8": "B", "I16": "h", "I32": "i", "I64": "q", "BOOL": "B"}


def safetensors(tensors, metadata=None, align=8):
    """Bytes of a safetensors file: {name: (dtype, shape, numbers)}, written by Python alone."""
    header = {"__metadata__": metadata} if metadata else {}
    data = b""
    for name, (dtype, shape, numbers) in tensors.items():
        packed = numbers if isinstance(numbers, bytes) else struct.pack(f"<{len(numbers)}{_DTYPES[dtype]}", *numbers)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % align)
    return struct.pack("<Q", len(text)) + text + data


class CliTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def assert_fails(self, code, *arguments, says=(), **options):
        """The program ends with `code`, prints nothing to standard output, and names what is wrong."""
        done = run(*arguments, check=code, **options)
        self.assertEqual(done.stdout, b"", arguments)
        text = done.stderr.decode("utf-8")
        self.assertTrue(text.startswith("hurray: "), text)
        for word in [says] if isinstance(says, str) else says:
            self.assertIn(word, text)
        return text

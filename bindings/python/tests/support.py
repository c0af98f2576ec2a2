"""What the tests of the binding share."""

import gc
import os
import pathlib
import subprocess
import sys
import unittest

import hurray
from hurray import _native


def lent():
    """Python buffers and owners that the library holds."""
    return _native.lent_count()


class BaseLine(unittest.TestCase):
    """Every test ends with the handles and lent buffers that it began with."""

    def setUp(self):
        hurray.load()
        gc.collect()
        hurray.drain()
        self.base_line = (hurray.live_handles(), lent())

    def tearDown(self):
        gc.collect()
        hurray.drain()
        self.assertEqual((hurray.live_handles(), lent()), self.base_line, "handles or buffers leaked")

    def refused(self, name, call, *arguments, offset=False, **keywords):
        """Calls and expects HurrayError with that code; returns the error."""
        with self.assertRaises(hurray.HurrayError) as caught:
            call(*arguments, **keywords)
        self.assertEqual(caught.exception.name, name, caught.exception)
        self.assertTrue(caught.exception.message)
        if offset:
            self.assertIsInstance(caught.exception.offset, int)
        return caught.exception


def run_python(program, *arguments, environment=None, flags=("-X", "dev", "-W", "error"), timeout=60):
    """Runs a program text in another Python with the same package; the result of subprocess.run."""
    command = [sys.executable, "-P", *flags, "-c", program, *arguments]
    return subprocess.run(command, env={**os.environ, **(environment or {})}, capture_output=True, text=True,
                          timeout=timeout, check=False)


def shared_folder():
    """The folder with files that others wrote, or None where it is not beside the project."""
    path = os.environ.get("HURRAY_SHARED")
    return pathlib.Path(path) if path and pathlib.Path(path).is_dir() else None

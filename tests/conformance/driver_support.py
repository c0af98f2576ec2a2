"""Runs the conformance driver that HURRAY_DRIVER names."""

import json
import os
import pathlib
import subprocess

DRIVER = os.environ["HURRAY_DRIVER"]
SECONDS = 120


def run(arguments, stdin=b"", check=True):
    """Runs a command of the driver; with `check`, a failure raises with what it wrote to standard error."""
    done = subprocess.run([DRIVER, *arguments], input=stdin, capture_output=True, timeout=SECONDS, check=False)
    if check and done.returncode != 0:
        raise AssertionError(f"{arguments}: exit code {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done


def json_lines(data):
    """The JSON values of a text, one a line; integers stay exact."""
    return [json.loads(line) for line in data.decode("utf-8").split("\n") if line]


def shared_folder():
    """The folder with files that others wrote, or None where it is not beside the project."""
    path = os.environ.get("HURRAY_SHARED")
    return pathlib.Path(path) if path and pathlib.Path(path).is_dir() else None

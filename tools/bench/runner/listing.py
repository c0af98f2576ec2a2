"""Opening .hrry files and listing their tensors: instructions a tensor, and time and memory of many of them."""

import os
import shutil
import statistics
import subprocess
import tempfile

from runner.instructions import CountFailed, executed_by
from runner.rows import Row

OPEN = "hrry/open+list/1000"
MEMORY = "hrry/resident/1000000"
TIME = "hrry/open+list/1000000"
NAMES = [OPEN, MEMORY, TIME]

# Times that the file is opened: what else the program does is the same.
FEW, MANY = 2, 6
REPETITIONS = 5


def write(program, path, count, form):
    subprocess.run([program, "write", path, str(count), form], check=True)


def listed(program, path, times=1):
    """Bytes that became resident, and nanoseconds."""
    out = subprocess.run([program, "list", path, str(times)], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [int(number) for number in out.split()[:2]]


def measure(program, names, smoke):
    """Yields the rows of these names."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "listing.hrry")
        if OPEN in names:
            yield opening(program, path, 10 if smoke else 1000)
        if MEMORY in names or TIME in names:
            yield from many(program, path, names, 1000 if smoke else 1_000_000)


def opening(program, path, count):
    row = Row(OPEN, "instructions", None, 1500, {"unit": "instructions a tensor"})
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        row.note = "needs Debian's valgrind (tools/setup installs it)"
        return row
    write(program, path, count, "spaced")
    try:
        executed = [executed_by(valgrind, [program, "list", path, str(times)]) for times in (FEW, MANY)]
        row.value = (executed[1] - executed[0]) / (MANY - FEW) / count
    except CountFailed as failure:
        row.note = str(failure)
    return row


def many(program, path, names, count):
    """Memory of `count` tensors, and their time against that of a tenth of them."""
    tenth = os.path.join(os.path.dirname(path), "tenth.hrry")
    write(program, path, count, "packed")
    write(program, tenth, count // 10, "packed")
    resident, large, small = [], [], []
    for _ in range(REPETITIONS):
        small.append(listed(program, tenth)[1])
        measured = listed(program, path)
        resident.append(measured[0])
        large.append(measured[1])
    if MEMORY in names:
        yield Row(MEMORY, "bytes", statistics.median(resident) / count, 300, {"unit": "bytes a tensor"})
    if TIME in names:
        ratios = [s / (count // 10) / (n / count) for s, n in zip(small, large)]
        details = {
            "baseline": f"{count // 10} tensors, each a tenth of the file",
            "subject_ns": statistics.median(large),
            "baseline_ns": statistics.median(small) * 10,
            "lowest_ratio": min(ratios),
            "highest_ratio": max(ratios),
            "repetitions": REPETITIONS,
        }
        yield Row(TIME, "ratio", statistics.median(ratios), 0.5, details)

"""Measures import + view + close of one tensor against NumPy's and, where it is installed, PyTorch's own DLPack exchange.

    bazel run //bindings/python:bench [-- --json FILE] [-- --smoke]

One run has all of them in turns, and ratios are taken within it. Calls from Python into extensions are counted beside the times.
"""

import argparse
import json
import statistics
import sys
import time

import numpy as np

import hurray

ARRAY = np.arange(1000, dtype=np.float32)


def numpy_dlpack():
    view = np.from_dlpack(ARRAY)
    del view


def hurray_dlpack():
    tensor = hurray.from_dlpack(ARRAY)
    view = memoryview(tensor)
    view.release()
    tensor.close()


def hurray_wrap():
    tensor = hurray.Tensor.wrap(ARRAY)
    view = memoryview(tensor)
    view.release()
    tensor.close()


def hurray_capsule():
    tensor = hurray.from_hurray(SOURCE)
    view = memoryview(tensor)
    view.release()
    tensor.close()


def numpy_of_hurray():
    view = np.from_dlpack(SOURCE)
    del view


def torch_dlpack():
    import torch

    view = torch.from_dlpack(TORCH)
    del view


def calls(function):
    """How many calls into C a function makes, that of the profiler's end aside."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event == "c_call"

    function()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count - 1


def nanoseconds(function, loops):
    begin = time.perf_counter_ns()
    for _ in range(loops):
        function()
    return (time.perf_counter_ns() - begin) / loops


def measure(smoke):
    """Rows of name, calls into C, median in nanoseconds and its ratio to NumPy's."""
    functions = [numpy_dlpack, hurray_dlpack, hurray_wrap, hurray_capsule, numpy_of_hurray]
    try:
        import torch

        globals()["TORCH"] = torch.from_numpy(ARRAY)
        functions.append(torch_dlpack)
    except ImportError:
        print("bench: PyTorch is not installed, and left out", file=sys.stderr)
    loops, rounds = (1, 1) if smoke else (5000, 15)
    times = {function: [] for function in functions}
    for _ in range(rounds):
        for function in functions:
            times[function].append(nanoseconds(function, loops))
    base = statistics.median(times[numpy_dlpack])
    return [{"name": f.__name__, "calls": calls(f), "ns": statistics.median(times[f]), "ratio": statistics.median(times[f]) / base}
            for f in functions]


def main(arguments):
    parser = argparse.ArgumentParser(prog="bench")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--smoke", action="store_true", help="once, with figures that mean nothing")
    options = parser.parse_args(arguments)
    global SOURCE
    with hurray.Tensor.wrap(ARRAY) as SOURCE:
        rows = measure(options.smoke)
    print("exchange              calls       ns   of NumPy's")
    for row in rows:
        print(f"{row['name']:<20} {row['calls']:>6} {row['ns']:>8.0f} {row['ratio']:>10.2f}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=2)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Runs the unittest tests of one file.

Fails, beyond what unittest does, when there are no tests, and when an exception ended in nobody's hands: in a finalizer
(where warnings that are errors land, too) or at the end of a thread.
"""

import gc
import importlib.util
import os
import sys
import threading
import unittest

lost = []


def note_unraisable(unraisable):
    lost.append(f"{unraisable.err_msg or 'ignored'}: {unraisable.object!r}: {unraisable.exc_value!r}")
    sys.__unraisablehook__(unraisable)


def note_thread(arguments):
    lost.append(f"in thread {arguments.thread and arguments.thread.name}: {arguments.exc_value!r}")
    threading.__excepthook__(arguments)


def main() -> int:
    path = sys.argv[1]
    # Helpers of the test lie beside it.
    sys.path.insert(0, os.path.dirname(path))
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.unraisablehook = note_unraisable
    threading.excepthook = note_thread
    spec.loader.exec_module(module)
    program = unittest.main(module=module, argv=[path, "-v"] + sys.argv[2:], exit=False)
    gc.collect()
    for text in lost:
        print(f"lost exception: {text}", file=sys.stderr)
    if program.result.testsRun == 0:
        print("no tests ran", file=sys.stderr)
        return 1
    return 0 if program.result.wasSuccessful() and not lost else 1


if __name__ == "__main__":
    sys.exit(main())

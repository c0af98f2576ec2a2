"""Runs the unittest tests of one file. Fails when there are none, which unittest itself calls a success."""

import importlib.util
import os
import sys
import unittest


def main() -> int:
    path = sys.argv[1]
    # The name of the file, so that helpers of the test can be imported beside it.
    sys.path.insert(0, os.path.dirname(path))
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    program = unittest.main(module=module, argv=[path, "-v"] + sys.argv[2:], exit=False)
    if program.result.testsRun == 0:
        print("no tests ran", file=sys.stderr)
        return 1
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())

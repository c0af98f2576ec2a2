"""The log callback: told of exceptions that the library caught, on Python's main thread, without ever holding the library up."""

import ctypes
import os
import sys
import threading
import time
import unittest

import hurray
from support import BaseLine, run_python

library = ctypes.CDLL(os.environ["HURRAY_LIBRARY"])


def panic(library=library):
    """Makes the library catch an exception: of the C++ library's, which has no vector that long. Without the GIL."""
    context = ctypes.c_void_p()
    status = library.hurray_tensor_context_new(4, b"x", ctypes.c_uint64(2**63), None, None, ctypes.byref(context))
    assert status == hurray.Status.INTERNAL_PANIC and context.value is None, status


class LogTest(BaseLine):
    def setUp(self):
        super().setUp()
        self.told = []
        self.addCleanup(hurray.set_log_callback, None)

    def tell(self, code, message):
        self.told.append((code, message, threading.get_native_id()))

    def wait_for(self, count):
        """Python comes to pending calls between instructions of its main thread."""
        deadline = time.monotonic() + 30
        while len(self.told) < count and time.monotonic() < deadline:
            pass
        self.assertGreaterEqual(len(self.told), count)

    def test_a_caught_exception_is_told_with_code_and_text_as_the_diagnostics_keep_it(self):
        hurray.set_log_callback(self.tell)
        panic()
        self.wait_for(1)
        ((code, message, thread),) = self.told
        self.assertEqual((code, thread), (hurray.Status.INTERNAL_PANIC, threading.get_native_id()))
        self.assertIn("vector", message)
        kept = hurray.diagnostics()[-1]
        self.assertEqual((kept.code, kept.message), (code, message))

    def test_messages_of_other_threads_come_to_the_main_thread(self):
        hurray.set_log_callback(self.tell)
        thread = threading.Thread(target=lambda: [panic() for _ in range(10)])
        thread.start()
        thread.join()
        self.wait_for(10)
        self.assertEqual({thread for _, _, thread in self.told}, {threading.get_native_id()})
        self.assertEqual(len(self.told), 10)

    def test_the_one_callback_is_replaced_and_removed(self):
        first = []
        hurray.set_log_callback(lambda *message: first.append(message))
        hurray.set_log_callback(self.tell)
        panic()
        self.wait_for(1)
        hurray.set_log_callback(None)
        panic()
        sum(range(100000))
        self.assertEqual((first, len(self.told)), ([], 1))

    def test_a_flood_loses_the_oldest_at_most(self):
        hurray.set_log_callback(self.tell)
        sorted(range(100), key=lambda number: panic() or number)
        self.wait_for(32)
        self.assertLessEqual(len(self.told), 100)

    def test_what_it_raises_goes_to_the_unraisable_hook(self):
        def fail(code, message):
            self.told.append(message)
            raise ValueError(message)

        found = []
        before = sys.unraisablehook
        sys.unraisablehook = lambda report: found.append((type(report.exc_value), report.object))
        self.addCleanup(setattr, sys, "unraisablehook", before)
        hurray.set_log_callback(fail)
        panic()
        self.wait_for(1)
        self.assertEqual(found, [(ValueError, fail)])

    def test_it_may_use_the_library_and_remove_itself(self):
        def once(code, message):
            with hurray.Tensor.wrap(b"abc") as tensor:
                self.told.append(bytes(tensor))
            hurray.set_log_callback(None)

        hurray.set_log_callback(once)
        panic()
        self.wait_for(1)
        panic()
        sum(range(100000))
        self.assertEqual(self.told, [b"abc"])

    def test_what_is_no_callable(self):
        for wrong in (1, "x", object()):
            with self.assertRaises(TypeError):
                hurray.set_log_callback(wrong)

    def test_threads_with_and_without_the_gil_do_not_lock_each_other_out(self):
        """Messages under the library's lock on threads without the GIL, and panics on a thread that has it."""
        hurray.set_log_callback(self.tell)
        holding = ctypes.PyDLL(os.environ["HURRAY_LIBRARY"])
        stop = threading.Event()

        def with_the_gil():
            for _ in range(200):
                panic(holding)
            stop.set()

        def without():
            while not stop.is_set():
                panic()

        threads = [threading.Thread(target=without) for _ in range(3)] + [threading.Thread(target=with_the_gil)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.wait_for(1)


class ProcessTest(unittest.TestCase):
    PRELUDE = """
import atexit, ctypes, os
import hurray
library = ctypes.CDLL(os.environ["HURRAY_LIBRARY"])
def panic():
    context = ctypes.c_void_p()
    status = library.hurray_tensor_context_new(4, b"x", ctypes.c_uint64(2**63), None, None, ctypes.byref(context))
    assert status == hurray.Status.INTERNAL_PANIC
def teller(text, write=os.write):
    return lambda code, message: write(1, text + b"\\n")
"""

    def test_nothing_is_told_after_the_end_of_python(self):
        done = run_python("import atexit\natexit.register(lambda: panic())\n" + self.PRELUDE + """
hurray.set_log_callback(teller(b"in time"))
panic()
sum(range(100000))
""")
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", "in time\n"))

    def test_a_child_of_fork_starts_without_one(self):
        done = run_python(self.PRELUDE + """
hurray.set_log_callback(teller(b"parent"))
child = os.fork()
if child == 0:
    panic()
    sum(range(100000))
    hurray.set_log_callback(teller(b"child"))
    panic()
    sum(range(100000))
    os._exit(0)
_, status = os.waitpid(child, 0)
assert status == 0
panic()
sum(range(100000))
""")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "child\nparent\n")


if __name__ == "__main__":
    unittest.main()

"""Finding, checking and loading the shared library."""

import os
import pickle
import tempfile
import unittest

import hurray
from hurray import errors
from hurray._constants import Status
from support import BaseLine, run_python


class LoadTest(unittest.TestCase):
    def in_another_process(self, library, program):
        done = run_python(program, environment={"HURRAY_LIBRARY": library})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_a_library_of_version_5_is_refused_and_both_numbers_are_named(self):
        stub = os.environ["HURRAY_STUB5"]
        self.in_another_process(stub, """
import hurray
for _ in range(2):  # a failure leaves nothing behind that makes the next attempt pass
    try:
        hurray.Tensor.wrap(b"x")
    except hurray.LibraryVersionError as error:
        assert isinstance(error, (hurray.HurrayError, ImportError))
        assert (error.expected, error.found) == (4, 5), error
        assert "version 5" in str(error) and "version 4" in str(error), error
        assert error.code is hurray.Status.VERSION_MISMATCH
    else:
        raise SystemExit("the stub was accepted")
""")

    def test_a_later_version_is_accepted_only_when_it_vouches_for_ours(self):
        self.in_another_process(os.environ["HURRAY_NOT_VOUCHING"], """
import hurray
try:
    hurray.load()
except hurray.LibraryVersionError as error:
    assert (error.expected, error.found) == (4, 5), error
else:
    raise SystemExit("accepted")
""")
        # This one passes the version check, and then lacks all else.
        self.in_another_process(os.environ["HURRAY_VOUCHING"], """
import hurray
try:
    hurray.load()
except hurray.LibraryVersionError:
    raise
except hurray.LibraryLoadError as error:
    assert "no function hurray_" in str(error), error
else:
    raise SystemExit("loaded")
""")

    def test_a_missing_file_is_a_typed_error(self):
        self.in_another_process("/nonexistent/libhurray.so.1", """
import hurray
try:
    hurray.load()
except hurray.LibraryVersionError:
    raise
except hurray.LibraryLoadError as error:
    assert error.path == "/nonexistent/libhurray.so.1" and error.path in str(error), error
else:
    raise SystemExit("loaded")
""")

    def test_what_is_no_library_is_a_typed_error(self):
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            file.write(b"this is no shared object")
            file.flush()
            self.in_another_process(file.name, """
import hurray
try:
    hurray.load()
except hurray.LibraryLoadError as error:
    assert error.name == "IO", error
else:
    raise SystemExit("loaded")
""")

    def test_another_shared_library_is_refused(self):
        self.in_another_process("libc.so.6", """
import hurray
try:
    hurray.load()
except hurray.LibraryLoadError as error:
    assert "hurray_c_abi_version" in str(error), error
else:
    raise SystemExit("loaded")
""")

    def test_import_alone_loads_nothing(self):
        self.in_another_process("/nonexistent", "import hurray; assert not hurray._native.loaded()")

    def test_threads_that_need_the_library_first_load_it_once(self):
        self.in_another_process(os.environ["HURRAY_LIBRARY"], """
import threading, hurray
barrier = threading.Barrier(8)
failures = []
def work():
    barrier.wait()
    try:
        hurray.Tensor.wrap(b"x").close()
    except BaseException as error:
        failures.append(error)
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not failures, failures
""")

    def test_a_second_load_into_a_process_is_refused(self):
        hurray.load()
        with self.assertRaises(RuntimeError):
            hurray._native.load(os.environ["HURRAY_LIBRARY"])

    def test_sub_interpreters_are_refused(self):
        self.in_another_process(os.environ["HURRAY_LIBRARY"], """
import _xxsubinterpreters as interpreters
import hurray
other = interpreters.create()
try:
    interpreters.run_string(other, "import hurray")
except interpreters.RunFailedError as error:
    assert "main interpreter only" in str(error), error
else:
    raise SystemExit("imported")
interpreters.destroy(other)
""")


class RuntimeTest(BaseLine):
    def test_runtime_info(self):
        info = hurray.runtime_info()
        self.assertEqual(info.c_abi_version, hurray.C_ABI_VERSION)
        self.assertEqual(info.build_id, hurray._native.build_id())
        self.assertTrue(os.path.samefile(info.library_path, os.environ["HURRAY_LIBRARY"]))
        self.assertEqual(info.version, hurray.__version__)
        self.assertEqual(hurray._native.c_abi_supports(4), 1)
        self.assertEqual(hurray._native.c_abi_supports(5), 0)

    def test_live_handles_by_kind(self):
        before = hurray.live_handles(hurray.HandleKind.TENSOR)
        with hurray.Tensor.wrap(b"abc"):
            self.assertEqual(hurray.live_handles(hurray.HandleKind.TENSOR).handles, before.handles + 1)
        self.assertEqual(hurray.live_handles(hurray.HandleKind.TENSOR), before)
        self.refused("INVALID_ARGUMENT", hurray.live_handles, 999)

    def test_diagnostics_is_a_list(self):
        self.assertIsInstance(hurray.diagnostics(), list)

    def test_handle_checks(self):
        before = hurray.runtime_info().handle_checks
        hurray.set_handle_checks(True)
        self.assertEqual(hurray.runtime_info().handle_checks, 1)
        hurray.set_handle_checks(bool(before))


class ErrorTest(unittest.TestCase):
    def test_offset_is_read_from_the_end_of_the_message(self):
        self.assertEqual(hurray.HurrayError(-3, "rank: 65 [byte 16]").offset, 16)
        self.assertIsNone(hurray.HurrayError(-3, "rank [byte 16] is wrong").offset)
        self.assertIsNone(hurray.HurrayError(-3, "rank [byte x]").offset)

    def test_unknown_codes_are_errors_of_unknown_kind(self):
        error = errors.make_error(-12345, "news", "hurray_x", "")
        self.assertIs(type(error), hurray.HurrayError)
        self.assertEqual((error.code, error.name), (-12345, "UNKNOWN"))
        self.assertIn("news", str(error))

    def test_every_code_makes_its_error(self):
        for status in Status:
            with self.subTest(status):
                error = errors.make_error(status, "text", "hurray_x", "")
                self.assertIs(error.code, status)
                self.assertEqual(error.name, status.name)

    def test_python_expects_these_to_be_its_own(self):
        self.assertIsInstance(errors.make_error(Status.NOT_FOUND, "x", None, ""), KeyError)
        self.assertIsInstance(errors.make_error(Status.INDEX_OUT_OF_BOUNDS, "x", None, ""), IndexError)
        self.assertIsInstance(errors.make_error(Status.INVALID_HANDLE, "x", None, "closed"), ValueError)
        self.assertIsInstance(errors.make_error(Status.INVALID_HANDLE, "x", None, "busy"), RuntimeError)

    def test_errors_are_pickled(self):
        for error in [
            hurray.HurrayError(-3, "x [byte 7]", "f"),
            hurray.NotFoundError(-23, "y"),
            errors.make_load_error("p", "r", 4, 5),
            errors.make_load_error("p", "r", None, None),
        ]:
            copy = pickle.loads(pickle.dumps(error))
            self.assertIs(type(copy), type(error))
            self.assertEqual(vars(copy), vars(error))
            self.assertEqual(str(copy), str(error))


if __name__ == "__main__":
    unittest.main()

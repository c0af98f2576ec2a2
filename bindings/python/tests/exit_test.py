"""The end of Python with live objects: exit code 0, and nothing is called back once the runtime has ended."""

import unittest

from support import run_python

# Before each program: lent memory whose release prints, and the other runtime of late_end.c.
PRELUDE = """
import atexit, ctypes, os, sys, threading, time
import numpy as np
import hurray

class Watched(np.ndarray):
    pass

class Printer:
    # Bound now: at the end of Python globals are gone.
    def __init__(self, text, write=os.write):
        self.text, self.write = text, write
    def __del__(self):
        self.write(1, b"released " + self.text + b"\\n")

def watched(text, size=64):
    memory = np.zeros(size, np.uint8).view(Watched)
    memory.printer = Printer(text)
    return memory

library = ctypes.CDLL(os.environ["HURRAY_LIBRARY"])
other = ctypes.CDLL(os.environ["HURRAY_LATE_END"])
other.late_end_keep.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
other.late_end_begin.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
hurray.load()
other.late_end_begin(ctypes.cast(library.hurray_buffer_list_destroy, ctypes.c_void_p),
                     ctypes.cast(library.hurray_tensor_context_destroy, ctypes.c_void_p))

def hand_over(tensor):
    with tensor:
        other.late_end_keep(*tensor.export_pair())
"""


class ExitTest(unittest.TestCase):
    def ends(self, program, expected, flags=("-X", "dev", "-W", "error")):
        """Runs a program to its end: code 0, nothing on stderr, and exactly that output."""
        done = run_python(PRELUDE + program, flags=flags)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, expected)

    def test_memory_that_another_runtime_ends_after_python_is_never_called_back(self):
        self.ends("""
hand_over(hurray.Tensor.wrap(watched(b"lent memory")))
hand_over(hurray.Tensor.zeros("uint8", [100]))
with hurray.Tensor.zeros("uint8", [64]) as tensor:
    parts, made = tensor.export()
    with made:
        context = hurray.TensorContext.new(made.descriptor_bytes, owner=Printer(b"owner"))
    hand_over(hurray.Tensor.from_pair(parts, context))
os.write(1, b"the end\\n")
""", "the end\nended 3 pairs after Python: 0\n")

    def test_a_release_before_the_end_is_called_back(self):
        """The same means show a release where one must come: what is not printed above did not happen."""
        self.ends("""
with hurray.Tensor.wrap(watched(b"in time")) as tensor:
    pair = tensor.export_pair()
assert library.hurray_buffer_list_destroy(ctypes.byref(ctypes.c_void_p(pair[0]))) == 0
assert library.hurray_tensor_context_destroy(ctypes.byref(ctypes.c_void_p(pair[1]))) == 0
os.write(1, b"the end\\n")
""", "released in time\nthe end\nended 0 pairs after Python: 0\n")

    def test_live_tensors_of_lent_memory_of_the_library_and_of_files(self):
        self.ends("""
import tempfile
lent = hurray.Tensor.wrap(watched(b"lent"))
own = hurray.Tensor.zeros("float32", [1000])
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.safetensors")
    hurray.save_file({"a": own}, path)
    file = hurray.File.open(path)
    mapped = file["a"]
buffer = hurray.Buffer.wrap(watched(b"buffer"))[0]
parts = hurray.BufferList()
parts.append(buffer.share())
context = hurray.TensorContext.new(b"x", owner=Printer(b"owner"))
queue = hurray.ReleaseQueue()
views = [memoryview(lent), lent.numpy(), mapped.numpy(share=True)]
capsule = lent.__hurray__()
pair = lent.export_pair()
class Cycle: pass
cycle = Cycle(); cycle.me = cycle; cycle.tensor = lent.share()
sys.modules["kept alive"] = cycle
os.write(1, b"the end\\n")
""", "the end\nended 0 pairs after Python: 0\n", flags=("-X", "dev", "-W", "ignore"))

    def test_releases_that_wait_on_a_queue_at_the_end_are_leaked(self):
        self.ends("""
queue = hurray.ReleaseQueue()
buffer, _ = hurray.Buffer.wrap(watched(b"queued"))
buffer.set_release_queue(queue)
forgotten = hurray.Tensor.wrap(watched(b"forgotten"))
del buffer, forgotten
assert queue.pending == 1
os.write(1, b"the end\\n")
""", "the end\nended 0 pairs after Python: 0\n", flags=("-X", "dev", "-W", "ignore"))

    def test_events_that_nobody_released_are_never_called_back(self):
        self.ends("""
def handed_off(text, write=os.write):
    say = lambda what: lambda address: write(1, b"released " + what + b" of " + text + b"\\n")
    handle = hurray.BufferHandle(64, 64, hurray.Device.CUDA, hurray.SyncMode.EVENT)
    return hurray.Buffer.handoff(handle, 0x10000, release=say(b"memory"),
                                 event=hurray.EventPayload(7, say(b"event"), handle.device_tag))

class Source:
    def export_tensor(self, stream):
        buffer = handed_off(b"what was handed over")
        descriptor = hurray.Descriptor.build("uint8", [64], buffers=[buffer.handle])
        parts = hurray.BufferList()
        parts.append(buffer)
        return parts, hurray.TensorContext.new(descriptor.encode())

# Another runtime gets the pair: as it asks a producer for one.
class Struct(ctypes.Structure):
    _fields_ = [("sizes", ctypes.c_uint64), ("context", ctypes.c_void_p), ("export", ctypes.c_void_p)]
pair = (ctypes.c_void_p * 2)()
with hurray.Producer.of(Source()) as producer:
    struct = Struct.from_address(producer.address)
    export = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint8, *[ctypes.c_void_p] * 3)
    assert export(struct.export)(struct.context, 0, 0, ctypes.addressof(pair), ctypes.addressof(pair) + 8, 0) == 0
other.late_end_keep(*pair)
handed_off(b"what was closed in time").close()
live = handed_off(b"what is live")
os.write(1, b"the end\\n")
""", "released event of what was closed in time\nreleased memory of what was closed in time\nthe end\n"
     "ended 1 pairs after Python: 0\n", flags=("-X", "dev", "-W", "ignore"))

    def test_a_producer_that_is_asked_after_python_has_ended_reports_that(self):
        self.ends("""
class Source:
    def export_tensor(self, stream):
        os.write(1, b"exported\\n")
producer = hurray.Producer.of(Source())
ctypes.pythonapi.Py_IncRef(ctypes.py_object(producer))  # the struct is the object's
other.late_end_keep_producer.argtypes = [ctypes.c_void_p] * 3
other.late_end_keep_producer(producer.address, ctypes.cast(library.hurray_producer_request, ctypes.c_void_p),
                             ctypes.cast(library.hurray_producer_release, ctypes.c_void_p))
os.write(1, b"the end\\n")
""", "the end\nasked after Python: -12, producer->export_tensor: Python has ended; released: 0\n"
     "ended 0 pairs after Python: 0\n")

    def test_closing_in_an_exit_handler_that_runs_after_ours_leaks(self):
        done = run_python("""
import atexit
kept = []
@atexit.register  # registered before the package's own handler, so it runs after that
def last():
    for tensor in kept:
        tensor.close()
    print("closed", flush=True)
""" + PRELUDE + """
kept.append(hurray.Tensor.wrap(watched(b"too late")))
kept.append(hurray.Tensor.zeros("int8", [10]))
""")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "closed\nended 0 pairs after Python: 0\n")

    def test_closing_in_an_exit_handler_that_runs_before_ours_releases(self):
        self.ends("""
tensor = hurray.Tensor.wrap(watched(b"in a handler"))
atexit.register(tensor.close)
os.write(1, b"the end\\n")
""", "the end\nreleased in a handler\nended 0 pairs after Python: 0\n")

    def test_a_thread_that_python_never_saw_ends_tensors_while_python_ends(self):
        for delay in (0, 0.002, 0.02):
            with self.subTest(delay):
                done = run_python(PRELUDE + f"""
for _ in range(3000):
    hand_over(hurray.Tensor.wrap(bytearray(8)))
assert other.late_end_start() == 0
time.sleep({delay})
os.write(1, b"the end\\n")
os.close(1)  # what the exit handler of the other runtime prints depends on how far its thread came
""")
                self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", "the end\n"))

    def test_threads_of_python_that_release_while_python_ends(self):
        for _ in range(3):
            self.ends("""
def work():
    while True:
        hurray.Tensor.wrap(bytearray(8)).close()
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
""", "ended 0 pairs after Python: 0\n")

    def test_an_uncaught_exception_and_sys_exit_keep_their_exit_codes(self):
        for end, code in (("sys.exit(0)", 0), ("sys.exit(7)", 7), ("raise SystemExit", 0), ("1 / 0", 1)):
            with self.subTest(end):
                done = run_python(PRELUDE + f"""
tensor = hurray.Tensor.wrap(watched(b"live"))
view = tensor.numpy()
{end}
""", flags=("-X", "dev", "-W", "ignore"))
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(done.stdout, "ended 0 pairs after Python: 0\n")


if __name__ == "__main__":
    unittest.main()

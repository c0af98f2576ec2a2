"""Forks: the child reads and ends what it inherited and calls nothing of the parent's back; what it makes is its own."""

import os
import sys
import unittest

from support import run_python

# Before each program: memory whose release is counted in the process where it runs, and forks whose failures show.
PRELUDE = """
import gc, os, sys, tempfile, threading, time, warnings
import numpy as np
import hurray
from hurray import Buffer, ReleaseQueue, Tensor, TensorContext, _native

released = []

class Counted:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        released.append(self.name)

class Watched(np.ndarray):
    pass

def watched(name, size=64):
    memory = np.arange(size, dtype=np.uint8).view(Watched)
    memory.counted = Counted(name)
    return memory

def in_child(action, end=os._exit):
    child = os.fork()
    if child == 0:
        try:
            action()
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        end(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0, status
"""


class ForkTest(unittest.TestCase):
    def runs(self, program, flags=("-X", "dev", "-W", "error")):
        done = run_python(PRELUDE + program, flags=flags)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_the_child_reads_every_kind_of_memory_that_it_inherited(self):
        self.runs("""
lent = Tensor.wrap(watched("lent"))
own = Tensor.zeros("uint8", [64])
own.numpy()[:] = 7
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.safetensors")
    hurray.save_file({"a": lent}, path)
    file = hurray.File.open(path)
    mapped = file["a"]

def child():
    for tensor, expected in ((lent, list(range(64))), (own, [7] * 64), (mapped, list(range(64)))):
        assert tensor.tolist() == expected
        assert bytes(memoryview(tensor)) == bytes(expected)
    assert file.keys() == ["a"]
    for handle in (lent, own, mapped, file):
        handle.close()
    assert released == [], released

in_child(child)
assert lent.tolist() == mapped.tolist() == list(range(64))
for handle in (lent, own, mapped, file):
    handle.close()
assert released == ["lent"]
""")

    def test_ends_in_the_child_release_nothing_of_the_parents(self):
        """By close, by the collector, by a drain, by consent and through every kind of handle."""
        self.runs("""
hurray.drain()
before = hurray.live_handles()
def everything():
    tensor = Tensor.wrap(watched("tensor"))
    consenting, _ = Buffer.wrap(watched("consenting"))
    consenting.set_release_any_thread()
    parts = hurray.BufferList()
    parts.append(Buffer.wrap(watched("list"))[0])
    context = TensorContext.new(b"x", owner=Counted("owner"))
    with Tensor.wrap(watched("exported")) as exported:
        pair = exported.export()
        capsule = exported.__hurray__()
    return [tensor, consenting, parts, context, *pair, capsule]

kept = everything()
names = ["tensor", "consenting", "list", "owner", "exported"]

def child_closes():
    kept.pop()
    for handle in kept:
        handle.close()
    assert released == [], released
    assert hurray.live_handles() == before, hurray.live_handles()

def child_forgets():
    warnings.simplefilter("ignore")
    kept.clear()
    gc.collect()
    hurray.drain(default=True)
    assert released == [], released
    assert hurray.live_handles() == before, hurray.live_handles()

in_child(child_closes)
in_child(child_forgets)
kept.pop()
while kept:
    kept.pop().close()
hurray.drain()
assert sorted(released) == sorted(names), released
assert hurray.live_handles() == before
""")

    def test_releases_that_wait_at_the_fork_are_the_parents(self):
        self.runs("""
warnings.simplefilter("ignore")
queue = ReleaseQueue()
queued, _ = Buffer.wrap(watched("queued"))
queued.set_release_queue(queue)
forgotten = Tensor.wrap(watched("forgotten"))
del queued, forgotten
assert (released, queue.pending) == ([], 1)

def child():
    assert hurray.drain(default=True) == 0
    assert (queue.pending, queue.drain()) == (0, 0)
    queue.close()
    Tensor.wrap(b"x").close()
    assert released == [], released

in_child(child)
assert (hurray.drain(), queue.drain()) == (1, 1)
assert released == ["forgotten", "queued"], released
""")

    def test_what_the_child_makes_is_released_in_the_child_as_ever(self):
        self.runs("""
inherited = Tensor.wrap(watched("parent's"))

def child():
    with Tensor.wrap(watched("closed")):
        pass
    assert released == ["closed"], released
    warnings.simplefilter("ignore")
    Tensor.wrap(watched("forgotten"))
    assert released == ["closed"], released
    assert hurray.drain() == 1
    assert released == ["closed", "forgotten"], released
    with TensorContext.new(b"x", owner=Counted("owner")):
        pass
    assert released == ["closed", "forgotten", "owner"], released
    buffer, _ = Buffer.wrap(watched("consent"))
    buffer.set_release_any_thread()
    del buffer
    assert released[3:] == ["consent"], released
    inherited.close()
    assert len(released) == 4

in_child(child)
assert released == []
inherited.close()
assert released == ["parent's"]
""")

    def test_events_and_memory_that_were_handed_off_are_the_parents_to_release(self):
        self.runs("""
handle = hurray.BufferHandle(64, 64, hurray.Device.CUDA, hurray.SyncMode.EVENT)
def handed_off(event):
    return Buffer.handoff(handle, 0x10000, release=lambda address: released.append("memory"),
                          event=hurray.EventPayload(event, released.append, handle.device_tag))
kept = [handed_off(1), handed_off(2)]

def child():
    kept[0].close()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kept.clear()
    hurray.drain(default=True)
    assert released == [], released
    with handed_off(3) as own:
        own.release_event()
        assert released == [3], released
    assert released == [3, "memory"], released

def child_releases():
    kept[0].release_event()  # ends the child's own copy of it, and calls nothing back
    assert released == [], released

in_child(child)
in_child(child_releases)
kept[0].release_event()
for buffer in kept:
    buffer.close()
assert released == [1, "memory", 2, "memory"], released
""")

    def test_a_producer_of_the_parent_is_forked_for_its_child(self):
        self.runs("""
class Source:
    def export_tensor(self, stream):
        released.append("asked")
        with Tensor.zeros("uint8", [4]) as tensor:
            return tensor.export()

producer = hurray.Producer.of(Source())

def child():
    try:
        producer.request()
    except hurray.HurrayError as error:
        assert error.name == "FORKED", error
    else:
        raise SystemExit("asked")
    producer.close()
    assert released == []
    with hurray.request(Source()) as tensor:
        assert tensor.tolist() == [0] * 4
    assert released == ["asked"]

in_child(child)
with producer.request() as tensor:
    pass
producer.close()
""")

    def test_shares_and_exports_that_the_child_makes_of_what_it_inherited(self):
        self.runs("""
tensor = Tensor.wrap(watched("parent's"))

def child():
    with tensor.share() as share, hurray.from_hurray(share) as imported:
        assert imported.tolist() == list(range(64))
    array = tensor.numpy(share=True)
    tensor.close()
    assert array[63] == 63
    del array
    gc.collect()
    hurray.drain()
    assert released == [], released

in_child(child)
tensor.close()
assert released == ["parent's"]
""")

    def test_a_child_of_a_child(self):
        self.runs("""
first = Tensor.wrap(watched("first"))

def child():
    second = Tensor.wrap(watched("second"))
    def grandchild():
        third = Tensor.wrap(watched("third"))
        for tensor in (first, second, third):
            assert tensor.tolist() == list(range(64))
            tensor.close()
        assert released == ["third"], released
    in_child(grandchild)
    second.close()
    first.close()
    assert released == ["second"], released

in_child(child)
first.close()
assert released == ["first"]
""")

    def test_a_child_that_ends_as_a_program_does_exits_with_code_0(self):
        output = self.runs("""
tensor = Tensor.wrap(watched("parent's"))
view = tensor.numpy()
def child():
    globals()["own"] = Tensor.wrap(watched("child's"))
    os.write(1, b"child\\n")
in_child(child, end=sys.exit)
""", flags=("-X", "dev", "-W", "ignore"))
        self.assertEqual(output, "child\n")

    def test_a_fork_while_other_threads_make_and_end_tensors(self):
        """No lock of the library that another thread holds at the fork stops the child."""
        self.runs("""
stop = threading.Event()
kept = Tensor.wrap(watched("kept"))
def work():
    while not stop.is_set():
        memory = bytearray(16)
        with Tensor.wrap(memory) as tensor, tensor.share():
            pass
        Tensor.zeros("uint8", [64]).close()
        Tensor.wrap(memory)
threads = [threading.Thread(target=work) for _ in range(3)]
warnings.simplefilter("ignore")
for thread in threads: thread.start()

def child():
    for _ in range(20):
        with Tensor.wrap(bytearray(16)) as tensor, tensor.share():
            pass
        hurray.drain(default=True)
    kept.close()
    assert released == [], released

for _ in range(20):
    in_child(child)
stop.set()
for thread in threads: thread.join()
kept.close()
assert released == ["kept"]
""")

    def test_a_fork_from_another_thread_than_the_main_one(self):
        self.runs("""
tensor = Tensor.wrap(watched("parent's"))
def child():
    assert tensor.tolist() == list(range(64))
    tensor.close()
    with Tensor.wrap(watched("child's")):
        pass
    assert released == ["child's"], released
failures = []
def fork():
    try:
        in_child(child)
    except BaseException as error:
        failures.append(error)
thread = threading.Thread(target=fork)
thread.start()
thread.join()
assert not failures, failures
tensor.close()
assert released == ["parent's"], released
""")

    def test_multiprocessing_with_fork_reads_inherited_tensors(self):
        self.runs("""
import multiprocessing
tensor = Tensor.wrap(watched("parent's", 200))
def work(start):
    return sum(tensor.tolist()[start:start + 50])
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        sums = pool.map(work, [0, 50, 100, 150])
        pool.close()
        pool.join()
    assert sum(sums) == sum(range(200)), sums
    assert released == []
    tensor.close()
    assert released == ["parent's"]
""")

    def test_multiprocessing_with_spawn_takes_arrays_and_refuses_tensors(self):
        self.assertEqual(run_python(PRELUDE + """
import pickle
with Tensor.wrap(watched("x")) as tensor:
    try:
        pickle.dumps(tensor)
    except TypeError as error:
        assert "stream" in str(error)
    else:
        raise SystemExit("pickled")
    descriptor = pickle.loads(pickle.dumps(tensor.descriptor))
    assert descriptor == tensor.descriptor
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(np.array(tensor.numpy()))), np.arange(64, dtype=np.uint8))
""").returncode, 0)


if __name__ == "__main__":
    if sys.platform != "linux" or not hasattr(os, "fork"):
        raise SystemExit("these tests are for systems with fork")
    unittest.main()

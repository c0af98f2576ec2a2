"""Garbage collectors: no release or owner callback runs on a collector's thread without consent; shown with thread ids.

Python's collector runs on whatever thread happens to allocate, and a finalizer on whatever thread drops the last
reference: either is a foreign thread for whoever lent the memory.
"""

import gc
import os
import tempfile
import threading
import unittest
import warnings
import weakref

import numpy as np

import hurray
from hurray import Buffer, BufferList, Descriptor, ReleaseQueue, Tensor, TensorContext, from_hurray
from support import BaseLine


class Recorder:
    """Writes down the native id of the thread on which it is deleted."""

    def __init__(self, threads):
        self.threads = threads

    def __del__(self):
        self.threads.append(threading.get_native_id())


class Watched(np.ndarray):
    """An array that can carry attributes; it lives as long as its buffer is out."""


def watched(threads, size=64):
    """Memory to lend: its release is recorded."""
    memory = np.zeros(size, np.uint8).view(Watched)
    memory.recorder = Recorder(threads)
    return memory


class Cycle:
    """Garbage that only the collector finds."""

    def __init__(self, held, probe):
        self.me, self.held, self.probe = self, held, probe


def on_another_thread(action):
    """Runs something on a new thread and returns that thread's native id."""
    ids = []

    def work():
        ids.append(threading.get_native_id())
        action()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return ids[0]


def collected_on_another_thread(test, build):
    """Lets the collector of another thread find what build() made; returns the id of the thread on which it ran, by
    the word of a probe that it found in the same garbage."""
    probes = []
    # The collector of this thread must not be first.
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            Cycle(build(), Recorder(probes))
            test.assertEqual(probes, [])
            thread = on_another_thread(gc.collect)
    finally:
        gc.enable()
    test.assertEqual(probes, [thread])
    return thread


def dropped_on_another_thread(test, build):
    """Lets another thread drop the last reference to what build() made; returns that thread's id."""
    probes = []

    def drop():
        box = [build(), Recorder(probes)]
        box.clear()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        thread = on_another_thread(drop)
    test.assertEqual(probes, [thread])
    return thread


ENDS = {"collected": collected_on_another_thread, "dropped": dropped_on_another_thread}


# --- What can be forgotten while it is the last to use lent memory; each takes the list for the thread ids ---------


def forgotten_tensor(threads):
    return Tensor.wrap(watched(threads))


def forgotten_buffer(threads):
    return Buffer.wrap(watched(threads))[0]


def forgotten_aligned_buffer(threads):
    raw = watched(threads, 192)
    start = -raw.ctypes.data % 64
    return Buffer.wrap_aligned(raw[start : start + 64])


def forgotten_list(threads):
    parts = BufferList()
    parts.append(forgotten_buffer(threads))
    return parts


def forgotten_share(threads):
    with Tensor.wrap(watched(threads)) as tensor:
        return tensor.share()


def forgotten_array(threads):
    with Tensor.wrap(watched(threads)) as tensor:
        return tensor.numpy(share=True)


def forgotten_capsule(threads):
    with Tensor.wrap(watched(threads)) as tensor:
        return tensor.__hurray__()


def forgotten_import(threads):
    with Tensor.wrap(watched(threads)) as tensor:
        return from_hurray(tensor)


def forgotten_pair(threads):
    with Tensor.wrap(watched(threads)) as tensor:
        return tensor.export()


def forgotten_context(threads):
    return TensorContext.new(b"x", owner=Recorder(threads))


def forgotten_import_with_an_owner(threads):
    with Tensor.zeros("uint8", [64]) as tensor:
        parts, made = tensor.export()
        with made:
            context = TensorContext.new(made.descriptor_bytes, owner=Recorder(threads))
        return Tensor.from_pair(parts, context)


def forgotten_view(threads):
    return memoryview(Tensor.wrap(watched(threads)))


def forgotten_file_writer(threads):
    with tempfile.TemporaryDirectory() as folder:
        writer = hurray.FileWriter.create(os.path.join(folder, "model"))
        with Tensor.wrap(watched(threads)) as tensor:
            writer.add("a", tensor)
        return writer


FORGOTTEN = {name.removeprefix("forgotten_"): make for name, make in globals().items() if name.startswith("forgotten_")}


class FinalizerTest(BaseLine):
    def test_no_release_runs_on_the_thread_of_a_finalizer(self):
        for end_name, end in ENDS.items():
            for name, make in FORGOTTEN.items():
                with self.subTest(f"{name} {end_name}"):
                    releases = []
                    finalizer = end(self, lambda: make(releases))
                    self.assertEqual(releases, [], "released by the finalizer")
                    self.assertEqual(hurray.drain(), 1)
                    self.assertEqual(releases, [threading.get_native_id()])
                    self.assertNotEqual(releases[0], finalizer)
                    self.assertEqual(hurray.drain(), 0)

    def test_the_release_runs_at_the_next_create_or_close_on_its_thread(self):
        keeper = Tensor.wrap(b"x")
        closed = [keeper.share() for _ in range(len(FORGOTTEN))]
        descriptor = Descriptor.build("uint8", [64], buffers=[hurray.BufferHandle(64)])
        made = []
        resumes = {
            "create a tensor": lambda: made.append(Tensor.wrap(b"abc")),
            "create a buffer": lambda: made.append(Buffer.allocate(1)),
            "create a list": lambda: made.append(BufferList()),
            "create a context": lambda: made.append(TensorContext.new(b"")),
            "share": lambda: made.append(keeper.share()),
            "export": lambda: made.extend(keeper.export()),
            "import": lambda: made.append(Tensor.from_pair(*keeper.export_pair())),
            "decode": lambda: made.append(Descriptor.decode(descriptor.encode())),
            "close": lambda: closed.pop().close(),
        }
        for name, resume in resumes.items():
            with self.subTest(name):
                releases = []
                finalizer = collected_on_another_thread(self, lambda: forgotten_tensor(releases))
                self.assertEqual(releases, [])
                thread = on_another_thread(resume)
                self.assertEqual(releases, [thread])
                self.assertNotEqual(thread, finalizer)
        for handle in [*made, *closed, keeper]:
            handle.close()

    def test_a_drain_runs_releases_on_the_draining_thread(self):
        releases = []
        collected_on_another_thread(self, lambda: forgotten_tensor(releases))
        drainer = on_another_thread(hurray.drain)
        self.assertEqual(releases, [drainer])

    def test_releases_run_in_the_order_in_which_they_became_due_and_each_once(self):
        order = []

        class Numbered:
            def __init__(self, number):
                self.number = number

            def __del__(self):
                order.append(self.number)

        queue = ReleaseQueue()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            kept = []
            for number in range(100):
                memory = np.zeros(1, np.uint8).view(Watched)
                memory.number = Numbered(number)
                buffer, _ = Buffer.wrap(memory)
                buffer.set_release_queue(queue)
                kept.append(buffer)
            del memory, buffer
            while kept:
                kept.pop(0)
        self.assertEqual((order, queue.pending), ([], 100))
        self.assertEqual(queue.drain(30), 30)
        self.assertEqual(order, list(range(30)))
        self.assertEqual(queue.drain(), 70)
        self.assertEqual(order, list(range(100)))
        queue.close()
        self.assertEqual(order, list(range(100)))


class ConsentTest(BaseLine):
    def test_with_consent_the_release_runs_on_the_thread_of_the_finalizer(self):
        def consenting(threads):
            buffer = forgotten_buffer(threads)
            buffer.set_release_any_thread()
            return buffer

        def consenting_list(threads):
            parts = BufferList()
            parts.append(consenting(threads))
            return parts

        def consenting_tensor(threads):
            with consenting(threads) as buffer:
                return Tensor.from_bytes_of(buffer)

        for end_name, end in ENDS.items():
            for make in (consenting, consenting_list, consenting_tensor):
                with self.subTest(f"{make.__name__} {end_name}"):
                    releases = []
                    finalizer = end(self, lambda: make(releases))
                    self.assertEqual(releases, [finalizer])
                    self.assertNotEqual(finalizer, threading.get_native_id())
                    self.assertEqual(hurray.drain(), 0)

    def test_memory_of_the_library_needs_no_consent(self):
        before = hurray.live_handles()
        collected_on_another_thread(self, lambda: Tensor.zeros("uint8", [1000]))
        self.assertEqual(hurray.live_handles(), before)
        self.assertEqual(hurray.drain(), 0)

    def test_consent_comes_before_sharing_and_from_the_lender(self):
        with Buffer.wrap(bytearray(8))[0] as buffer, buffer.share():
            self.refused("INVALID_ARGUMENT", buffer.set_release_any_thread)
            with ReleaseQueue() as queue:
                self.refused("INVALID_ARGUMENT", buffer.set_release_queue, queue)
        with Buffer.allocate(64) as own:
            self.refused("INVALID_ARGUMENT", own.set_release_any_thread)


class QueueTest(BaseLine):
    """A queue of one's own: for memory whose release must run on a thread of the program's choice."""

    @staticmethod
    def queued(queue, threads):
        buffer = forgotten_buffer(threads)
        buffer.set_release_queue(queue)
        return buffer

    def test_what_waits_on_a_queue_runs_only_where_that_is_drained(self):
        releases = []
        with ReleaseQueue() as queue:
            finalizer = collected_on_another_thread(self, lambda: self.queued(queue, releases))
            hurray.drain()
            Tensor.wrap(b"abc").close()
            self.assertEqual((releases, queue.pending), ([], 1))
            drainer = on_another_thread(queue.drain)
            self.assertEqual(releases, [drainer])
            self.assertNotEqual(drainer, finalizer)

    def test_closing_a_queue_runs_what_waits_on_the_closing_thread(self):
        releases = []
        queue = ReleaseQueue()
        collected_on_another_thread(self, lambda: self.queued(queue, releases))
        self.assertEqual(releases, [])
        closer = on_another_thread(queue.close)
        self.assertEqual(releases, [closer])

    def test_a_forgotten_queue_runs_nothing_on_the_thread_of_its_finalizer(self):
        def queue_with_a_release(threads):
            queue = ReleaseQueue()
            buffer = self.queued(queue, threads)
            del buffer
            self.assertEqual((threads, queue.pending), ([], 1))
            return queue

        for end_name, end in ENDS.items():
            with self.subTest(end_name):
                releases = []
                finalizer = end(self, lambda: queue_with_a_release(releases))
                self.assertEqual(releases, [], "released by the finalizer of the queue")
                self.assertEqual(hurray.drain(), 1)
                self.assertEqual(releases, [threading.get_native_id()])
                self.assertNotEqual(releases[0], finalizer)

    def test_what_becomes_due_after_the_end_of_its_queue_still_waits_for_a_drain(self):
        releases = []
        queue = ReleaseQueue()
        box = [self.queued(queue, releases)]
        queue.close()
        collected_on_another_thread(self, box.pop)
        self.assertEqual(releases, [])
        # The process's default queue, which is drained explicitly only.
        hurray.drain()
        self.assertEqual(releases, [])
        self.assertEqual(hurray.drain(default=True), 1)
        self.assertEqual(releases, [threading.get_native_id()])


class StormTest(BaseLine):
    def test_threads_that_forget_everywhere_release_everything_once_and_never_in_a_finalizer(self):
        """Finalizers run on four threads; releases must run on threads that are in a create, close or drain."""
        lock = threading.Lock()
        releases = []
        misplaced = []
        in_call = threading.local()

        class Checked:
            def __del__(self):
                if not getattr(in_call, "yes", False):
                    misplaced.append(threading.get_native_id())
                with lock:
                    releases.append(1)

        def call(function, *arguments):
            in_call.yes = True
            try:
                return function(*arguments)
            finally:
                in_call.yes = False

        def work(rounds):
            for i in range(rounds):
                memory = np.zeros(8, np.uint8).view(Watched)
                memory.checked = Checked()
                tensor = call(Tensor.wrap, memory)
                del memory
                if i % 3 == 0:
                    cycle = Cycle(tensor, None)
                    del cycle
                elif i % 3 == 1:
                    call(tensor.close)
                del tensor

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            threads = [threading.Thread(target=work, args=(600,)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            gc.collect()
        call(hurray.drain)
        self.assertEqual(len(releases), 4 * 600)
        self.assertEqual(misplaced, [])

    def test_a_watch_on_garbage_is_dead_before_its_memory_is(self):
        """A weak reference to a forgotten tensor is cleared by the collector; the memory is still there until a drain."""
        releases = []
        tensor = forgotten_tensor(releases)
        watch = weakref.ref(tensor)
        box = [tensor]
        del tensor
        collected_on_another_thread(self, box.pop)
        self.assertIsNone(watch())
        self.assertEqual(releases, [])
        hurray.drain()
        self.assertEqual(len(releases), 1)


if __name__ == "__main__":
    unittest.main()

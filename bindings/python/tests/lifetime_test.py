"""Ends: close, double close, use after close, the garbage collector as backup, threads.

Threads of collectors: collector_test. The end of Python: exit_test. Forks: fork_test."""

import gc
import os
import threading
import unittest
import warnings
import weakref

import numpy as np

import hurray
from hurray import Buffer, BufferList, Descriptor, ReleaseQueue, Tensor
from support import BaseLine, lent, run_python


class Source(np.ndarray):
    """An array that can be watched: it is alive as long as its buffer is out."""


def source(size=16):
    return np.zeros(size, np.uint8).view(Source)


def resource_warnings(action):
    """Runs something and returns the ResourceWarnings that it led to."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
        gc.collect()
    return [w for w in caught if issubclass(w.category, ResourceWarning)]


class CloseTest(BaseLine):
    def test_close_gives_the_memory_back_at_once(self):
        memory = bytearray(8)
        tensor = Tensor.wrap(memory)
        with self.assertRaises(BufferError):
            memory.append(1)
        before = lent()
        tensor.close()
        self.assertEqual(lent(), before - 1)
        memory.append(1)

    def test_close_is_idempotent(self):
        tensor = Tensor.wrap(b"abc")
        before = lent()
        for _ in range(3):
            tensor.close()
            self.assertTrue(tensor.closed)
        self.assertEqual(lent(), before - 1)
        with tensor_block_error(self):
            with tensor:
                pass

    def test_everything_refuses_use_after_close(self):
        tensor = Tensor.wrap(b"abc")
        tensor.close()
        uses = {
            "info": lambda: tensor.info, "shape": lambda: tensor.shape, "dtype": lambda: tensor.dtype,
            "layout": lambda: tensor.layout, "nbytes": lambda: tensor.nbytes, "strides": lambda: tensor.strides,
            "readonly": lambda: tensor.readonly, "contiguous": lambda: tensor.contiguous, "device": lambda: tensor.device,
            "descriptor": lambda: tensor.descriptor, "buffers": lambda: tensor.buffers, "shard": lambda: tensor.shard,
            "numpy": tensor.numpy, "memoryview": tensor.memoryview, "raw": tensor.raw, "raw_bytes": tensor.raw_bytes,
            "tolist": tensor.tolist, "share": tensor.share, "copy": tensor.copy, "export": tensor.export,
            "export_pair": tensor.export_pair, "__hurray__": tensor.__hurray__, "bytes": lambda: bytes(memoryview(tensor)),
            "write": lambda: hurray.Writer.to_memory().write(tensor),
        }
        for name, use in uses.items():
            with self.subTest(name):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ResourceWarning)
                    with self.assertRaises(hurray.ClosedError):
                        use()
                    gc.collect()
        self.assertIn("closed", repr(tensor))

    def test_fields_read_before_close_do_not_come_back_after_it(self):
        tensor = Tensor.wrap(b"abc")
        self.assertEqual(tensor.shape, (3,))
        tensor.close()
        with self.assertRaises(hurray.ClosedError):
            tensor.shape

    def test_borrowed_handles_end_with_their_owner(self):
        tensor = Tensor.wrap(bytes(100))
        (buffer,) = tensor.buffers
        self.assertGreaterEqual(buffer.nbytes, 100)
        self.refused("INVALID_HANDLE", BufferList.append, owned := BufferList(), buffer)
        owned.close()
        tensor.close()
        self.assertTrue(buffer.closed)
        with self.assertRaises(hurray.ClosedError):
            buffer.info
        with self.assertRaises(hurray.ClosedError):
            buffer.share()

    def test_buffers_that_were_pushed_belong_to_the_list(self):
        parts = BufferList(1)
        buffer = Buffer.allocate(64)
        parts.append(buffer)
        self.assertTrue(buffer.closed)
        with self.assertRaises(hurray.ClosedError):
            parts.append(buffer)
        self.assertEqual(len(parts), 1)
        borrowed = parts[0]
        self.assertEqual([b.nbytes for b in parts], [64])
        with self.assertRaises(IndexError):
            parts[1]
        parts.close()
        with self.assertRaises(hurray.ClosedError):
            borrowed.nbytes

    def test_a_list_that_moved_into_a_tensor_is_closed(self):
        parts = BufferList()
        parts.append(Buffer.allocate(64))
        descriptor = Descriptor.build("uint8", [64], buffers=[hurray.BufferHandle(64)])
        wrong = Descriptor.build("uint8", [65], buffers=[hurray.BufferHandle(65)])
        with self.assertRaises(hurray.HurrayError):
            Tensor.from_list(wrong, parts)
        self.assertEqual(len(parts), 1, "the failed call took the list")
        with Tensor.from_list(descriptor, parts) as tensor:
            self.assertTrue(parts.closed)
            self.assertEqual(tensor.shape, (64,))

    def test_memory_lives_until_the_last_share(self):
        memory = source()
        watch = weakref.ref(memory)
        first = Tensor.wrap(memory)
        del memory
        second = first.share()
        third = second.share()
        first.close()
        third.close()
        self.assertIsNotNone(watch())
        second.numpy()[3] = 7
        second.close()
        self.assertIsNone(watch())

    def test_an_array_with_a_share_of_its_own_outlives_the_tensor(self):
        memory = source()
        watch = weakref.ref(memory)
        with Tensor.wrap(memory) as tensor:
            array = tensor.numpy(share=True)
            self.assertEqual(tensor.exports, 0)
        del memory
        array[0] = 5
        self.assertIsNotNone(watch())
        self.assertEqual(resource_warnings(lambda: None), [])
        del array
        gc.collect()
        hurray.drain()
        self.assertIsNone(watch())

    def test_a_with_block_under_a_live_view_says_so(self):
        tensor = Tensor.wrap(b"abc")
        with self.assertRaises(BufferError):
            with tensor:
                view = memoryview(tensor)
        view.release()
        tensor.close()


def tensor_block_error(test):
    return test.assertRaises(hurray.ClosedError)


class CollectorTest(BaseLine):
    def test_a_forgotten_tensor_warns_and_its_memory_waits_for_the_next_close(self):
        memory = source()
        watch = weakref.ref(memory)

        def forget():
            Tensor.wrap(memory)

        caught = resource_warnings(forget)
        self.assertEqual(len(caught), 1)
        self.assertIn("unclosed <hurray.Tensor uint8 [16] row_major>", str(caught[0].message))
        del memory
        self.assertIsNotNone(watch(), "released by the collector itself")
        self.assertEqual(hurray.drain(), 1)
        self.assertIsNone(watch())
        self.assertEqual(hurray.drain(), 0)

    def test_making_and_closing_drain_the_queue(self):
        keeper = Tensor.wrap(b"x")
        for action in (lambda: Tensor.wrap(b"abc").close(), lambda: keeper.share().close(),
                       lambda: Buffer.allocate(1).close()):
            memory = source()
            watch = weakref.ref(memory)
            resource_warnings(lambda: Tensor.wrap(memory) and None)
            del memory
            self.assertIsNotNone(watch())
            action()
            self.assertIsNone(watch())
        memory = source()
        watch = weakref.ref(memory)
        resource_warnings(lambda: Tensor.wrap(memory) and None)
        del memory
        keeper.close()
        self.assertIsNone(watch())

    def test_every_kind_warns_but_descriptors(self):
        with Tensor.wrap(b"abc") as tensor:
            kinds = {
                "Tensor": lambda: tensor.share() and None,
                "Buffer": lambda: Buffer.allocate(1) and None,
                "BufferList": lambda: BufferList() and None,
                "TensorContext": lambda: hurray.TensorContext.new(b"x") and None,
                "ReleaseQueue": lambda: ReleaseQueue() and None,
                "Writer": lambda: hurray.Writer.to_memory() and None,
                "Reader": lambda: hurray.Reader.from_memory(b"") and None,
            }
            for name, forget in kinds.items():
                with self.subTest(name):
                    self.assertEqual(len(resource_warnings(forget)), 1)
            for quiet in (lambda: tensor.descriptor and None, lambda: tensor.buffers and None,
                          lambda: tensor.__hurray__() and None,
                          lambda: hurray.DescriptorBuilder("int8", 1, [1]) and None):
                self.assertEqual(resource_warnings(quiet), [])
        hurray.drain()

    def test_cycles(self):
        class Box:
            pass

        memory = source()
        watch = weakref.ref(memory)
        box = Box()
        box.me = box
        box.tensor = Tensor.wrap(memory)
        del memory

        def forget():
            nonlocal box
            box = None

        self.assertEqual(len(resource_warnings(forget)), 1)
        hurray.drain()
        self.assertIsNone(watch())

    def test_a_subclass_with_a_dictionary(self):
        tensor = Tensor.wrap(b"abc")

        class Named(Tensor):
            pass

        with self.assertRaises(TypeError):
            Named()
        tensor.close()

    def test_a_storm_of_garbage(self):
        before = lent()

        def storm():
            for i in range(3000):
                tensor = Tensor.wrap(bytearray(i % 7))
                if i % 3 == 0:
                    tensor.close()
                elif i % 3 == 1:
                    tensor.numpy(share=True)
                if i % 500 == 0:
                    gc.collect()

        resource_warnings(storm)
        hurray.drain()
        self.assertEqual(lent(), before)

    def test_a_warning_that_is_an_error_is_reported_and_raises_nothing(self):
        done = run_python("import hurray; hurray.Tensor.wrap(b'abc'); print('alive')")
        self.assertEqual(done.returncode, 0)
        self.assertIn("alive", done.stdout)
        self.assertIn("ResourceWarning: unclosed <hurray.Tensor", done.stderr)


class OwnerTest(BaseLine):
    class Owner:
        pass

    def test_the_owner_of_a_context_is_released_exactly_once(self):
        owner = self.Owner()
        watch = weakref.ref(owner)
        context = hurray.TensorContext.new(b"descriptor", owner=owner)
        del owner
        self.assertIsNotNone(watch())
        self.assertEqual(context.descriptor_bytes, b"descriptor")
        context.close()
        self.assertIsNone(watch())
        context.close()

    def test_the_owner_lives_as_long_as_the_imported_memory(self):
        owner = self.Owner()
        watch = weakref.ref(owner)
        with Tensor.wrap(b"abc") as tensor:
            parts, made = tensor.export()
            context = hurray.TensorContext.new(made.descriptor_bytes, owner=owner)
            made.close()
            del owner
            imported = Tensor.from_pair(parts, context)
        share = imported.share()
        imported.close()
        self.assertIsNotNone(watch())
        share.close()
        self.assertIsNone(watch())

    def test_a_failed_context_keeps_no_owner(self):
        before = lent()
        self.refused("VERSION_MISMATCH", hurray.TensorContext.new, b"x", owner=self.Owner(), abi_version=0)
        self.refused("INVALID_ARGUMENT", hurray.TensorContext.new, b"x", owner=self.Owner(), abi_version=2**32)
        self.assertEqual(lent(), before)


class ReentrancyTest(BaseLine):
    def test_a_release_that_uses_the_library(self):
        class Hook:
            def __init__(self, action):
                self.action = action

            def __del__(self):
                self.action()

        made = []

        class Watched(np.ndarray):
            pass

        memory = np.zeros(4, np.uint8).view(Watched)
        memory.hook = Hook(lambda: made.append(Tensor.wrap(b"from inside")))
        tensor = Tensor.wrap(memory)
        del memory
        tensor.close()
        self.assertEqual(len(made), 1)
        self.assertEqual(bytes(made[0]), b"from inside")
        made[0].close()

    def test_an_exception_that_is_under_way_survives_a_release(self):
        with self.assertRaises(ZeroDivisionError):
            with Tensor.wrap(bytearray(4)):
                1 / 0


class ThreadTest(BaseLine):
    def test_shares_on_many_threads(self):
        memory = np.arange(1000, dtype=np.int64)
        failures = []
        with Tensor.wrap(memory) as tensor:
            def work(share):
                try:
                    for _ in range(200):
                        with share.share() as mine:
                            assert mine.numpy()[-1] == 999
                except BaseException as error:
                    failures.append(error)
                finally:
                    share.close()

            threads = [threading.Thread(target=work, args=(tensor.share(),)) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(failures, [])

    def test_a_reader_that_waits_lets_others_run_and_refuses_them(self):
        read_end, write_end = os.pipe()
        reader = hurray.Reader.from_fd(read_end, close_fd=True)
        got = []
        thread = threading.Thread(target=lambda: got.append(reader.next()))
        thread.start()
        try:
            deadline = threading.Event()
            refusals = set()
            for _ in range(200):
                try:
                    reader.close()
                except hurray.BusyError:
                    refusals.add("close")
                try:
                    reader.next()
                except hurray.BusyError:
                    refusals.add("next")
                except hurray.ClosedError:
                    self.fail("closed under the waiting thread")
                if refusals == {"close", "next"}:
                    break
                deadline.wait(0.01)
            self.assertEqual(refusals, {"close", "next"})
        finally:
            with hurray.Writer.to_fd(write_end, close_fd=True) as writer, Tensor.wrap(b"abc") as tensor:
                writer.write(tensor)
            thread.join()
        with got[0] as arrived:
            self.assertEqual(bytes(arrived), b"abc")
        self.assertIsNone(reader.next())
        reader.close()

    def test_a_tensor_may_be_closed_while_another_thread_writes_it(self):
        read_end, write_end = os.pipe()
        size = 1 << 22
        tensor = Tensor.zeros("uint8", [size])
        writer = hurray.Writer.to_fd(write_end, close_fd=True)

        def write():
            writer.write(tensor)
            writer.close()

        thread = threading.Thread(target=write)
        thread.start()
        os.read(read_end, 1)  # the writer is at work
        tensor.close()
        while os.read(read_end, 1 << 20):
            pass
        thread.join()
        os.close(read_end)


if __name__ == "__main__":
    unittest.main()

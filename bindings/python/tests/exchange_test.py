"""Tensors to and from other runtimes: pairs of list and context, addresses, and capsules."""

import ctypes
import gc
import unittest
import weakref

import numpy as np

import hurray
from hurray import BufferList, Tensor, TensorContext, _native, from_hurray
from support import BaseLine

api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
api.PyCapsule_GetName.restype = ctypes.c_char_p
api.PyCapsule_GetName.argtypes = [ctypes.py_object]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_GetContext.restype = ctypes.c_void_p
api.PyCapsule_GetContext.argtypes = [ctypes.py_object]
api.PyCapsule_SetContext.argtypes = [ctypes.py_object, ctypes.c_void_p]


def arrays():
    base = np.arange(24, dtype=np.float32)
    return [base, base.reshape(2, 3, 4), np.asfortranarray(base.reshape(4, 6)), base[::-3], base[:0], base[3:4].reshape(()),
            np.broadcast_to(base[:3], (2, 3))]


class PairTest(BaseLine):
    def test_objects(self):
        for source in arrays():
            with Tensor.wrap(source) as tensor:
                parts, context = tensor.export()
                self.assertEqual(context.abi_version, 4)
                self.assertEqual(context.descriptor_bytes, tensor.descriptor.encode())
                self.assertEqual(len(parts), 1)
                imported = Tensor.from_pair(parts, context)
                self.assertTrue(parts.closed and context.closed)
            with imported:
                back = imported.numpy()
                np.testing.assert_array_equal(back, source)
                if source.size:
                    self.assertEqual(back.ctypes.data, source.ctypes.data)
                del back

    def test_addresses(self):
        for source in arrays():
            with Tensor.wrap(source) as tensor:
                pair = tensor.export_pair()
            with Tensor.from_pair(*pair) as imported:
                np.testing.assert_array_equal(imported.numpy(), source)

    def test_contexts_of_other_versions_are_refused_and_stay_the_callers(self):
        for version in (1, 3, 5, 2**32 - 1):
            with Tensor.wrap(b"abc") as tensor:
                parts, made = tensor.export()
                with parts, TensorContext.new(made.descriptor_bytes, abi_version=version) as context:
                    made.close()
                    for attempt in (lambda: Tensor.from_pair(parts, context),
                                    lambda: Tensor.from_pair(parts._address, context._address)):
                        error = self.refused("VERSION_MISMATCH", attempt)
                        self.assertIn(str(version), error.message)
                        self.assertIn("4", error.message)
                    self.assertFalse(parts.closed or context.closed)
                    self.assertEqual(context.abi_version, version)

    def test_pairs_that_do_not_belong_together_stay_the_callers(self):
        with Tensor.wrap(b"abc") as small, Tensor.wrap(np.zeros(1000)) as large:
            small_parts, small_context = small.export()
            large_parts, large_context = large.export()
            with small_parts, small_context, large_parts, large_context:
                with self.assertRaises(hurray.HurrayError):
                    Tensor.from_pair(small_parts, large_context)
                with BufferList() as nothing:
                    self.refused("INVALID_LAYOUT", Tensor.from_pair, nothing, small_context)
                with TensorContext.new(b"no descriptor") as hostile:
                    error = self.refused("INVALID_MAGIC", Tensor.from_pair, small_parts, hostile)
                    self.assertIsNotNone(error.offset)
                with TensorContext.new(b"") as empty:
                    self.assertEqual(empty.descriptor_bytes, b"")
                    self.refused("INVALID_LAYOUT", Tensor.from_pair, small_parts, empty)
                for handle in (small_parts, small_context, large_parts, large_context):
                    self.assertFalse(handle.closed)
                self.assertEqual(len(small_parts), 1)

    def test_null_and_nonsense(self):
        self.refused("NULL_POINTER", Tensor.from_pair, 0, 0)
        self.refused("NULL_POINTER", Tensor.from_pair, 1 << 20, 0)
        self.refused("INVALID_ARGUMENT", Tensor.from_pair, -1, 1)
        with self.assertRaises(TypeError):
            Tensor.from_pair("a", "b")
        with BufferList() as parts:
            with self.assertRaises(TypeError):
                Tensor.from_pair(parts, 1)

    def test_closed_and_swapped_handles(self):
        with Tensor.wrap(b"abc") as tensor:
            parts, context = tensor.export()
            with self.assertRaises(TypeError):
                _native.tensor_import(context, parts)
            parts.close()
            with self.assertRaises(hurray.ClosedError):
                Tensor.from_pair(parts, context)
            context.close()


class CapsuleTest(BaseLine):
    def test_there_and_back(self):
        for source in arrays():
            with Tensor.wrap(source) as tensor, from_hurray(tensor) as imported:
                np.testing.assert_array_equal(imported.numpy(), source)

    def test_form(self):
        with Tensor.wrap(b"abc") as tensor:
            capsule = tensor.__hurray__()
            self.assertEqual(api.PyCapsule_GetName(capsule), b"hurray_tensor")
            self.assertTrue(api.PyCapsule_GetPointer(capsule, b"hurray_tensor"))
            self.assertTrue(api.PyCapsule_GetContext(capsule))
            with from_hurray(capsule) as imported:
                self.assertEqual(api.PyCapsule_GetName(capsule), b"used_hurray_tensor")
                self.assertEqual(bytes(imported), b"abc")
            self.assertIn("taken", self.refused("INVALID_ARGUMENT", from_hurray, capsule).message)

    def test_a_capsule_that_nobody_took_frees_what_it_has(self):
        memory = np.zeros(4, np.uint8).view(type("Watched", (np.ndarray,), {}))
        watch = weakref.ref(memory)
        with Tensor.wrap(memory) as tensor:
            capsule = tensor.__hurray__()
        del memory
        self.assertIsNotNone(watch())
        del capsule
        gc.collect()
        hurray.drain()
        self.assertIsNone(watch())

    def test_a_capsule_keeps_the_memory_of_a_closed_tensor(self):
        with Tensor.wrap(bytearray(b"abc")) as tensor:
            capsule = tensor.__hurray__()
        with from_hurray(capsule) as imported:
            self.assertEqual(bytes(imported), b"abc")

    def test_other_names_are_refused(self):
        memory = ctypes.create_string_buffer(256)
        for name in (b"dltensor", b"hurray_tensors", b"", None):
            capsule = api.PyCapsule_New(ctypes.addressof(memory), name, None)
            self.refused("INVALID_ARGUMENT", from_hurray, capsule)

    def test_a_foreign_magic_is_refused_and_nothing_of_it_is_freed(self):
        name = ctypes.create_string_buffer(b"hurray_tensor")
        fake_list, fake_context = ctypes.create_string_buffer(b"L" * 256), ctypes.create_string_buffer(b"C" * 256)
        capsule = api.PyCapsule_New(ctypes.addressof(fake_list), ctypes.addressof(name), None)
        self.refused("NULL_POINTER", from_hurray, capsule)
        api.PyCapsule_SetContext(capsule, ctypes.addressof(fake_context))
        self.refused("INVALID_HANDLE", from_hurray, capsule)
        with Tensor.wrap(b"abc") as tensor:
            parts, context = tensor.export()
            with parts, context:
                # A context of ours beside a list that is not, and the other way round.
                api.PyCapsule_SetContext(capsule, context._address)
                self.refused("INVALID_HANDLE", from_hurray, capsule)
                swapped = api.PyCapsule_New(context._address, ctypes.addressof(name), None)
                api.PyCapsule_SetContext(swapped, parts._address)
                self.refused("INVALID_HANDLE", from_hurray, swapped)
                self.assertFalse(parts.closed or context.closed)
        self.assertEqual(fake_list.raw[:256], b"L" * 256)
        self.assertEqual(fake_context.raw[:256], b"C" * 256)

    def test_a_refused_capsule_keeps_what_it_has(self):
        with Tensor.wrap(b"abc") as tensor:
            parts, made = tensor.export()
            context = TensorContext.new(made.descriptor_bytes, abi_version=5)
            made.close()
            name = ctypes.create_string_buffer(b"hurray_tensor")
            capsule = api.PyCapsule_New(parts._address, ctypes.addressof(name), None)
            api.PyCapsule_SetContext(capsule, context._address)
            error = self.refused("VERSION_MISMATCH", from_hurray, capsule)
            self.assertIn("5", error.message)
            self.assertEqual(api.PyCapsule_GetName(capsule), b"hurray_tensor")
            parts.close()
            context.close()

    def test_what_is_no_capsule(self):
        for wrong in (None, 1, b"x", object()):
            with self.assertRaises(TypeError):
                from_hurray(wrong)

    def test_any_object_with_the_method(self):
        class Other:
            def __init__(self, tensor):
                self.tensor = tensor

            def __hurray__(self):
                return self.tensor.__hurray__()

        with Tensor.wrap(b"abc") as tensor, from_hurray(Other(tensor)) as imported:
            self.assertEqual(bytes(imported), b"abc")

    def test_read_only_travels(self):
        for data, readonly in ((b"abc", True), (bytearray(b"abc"), False)):
            with Tensor.wrap(data) as tensor, from_hurray(tensor) as imported:
                self.assertEqual(imported.readonly, readonly)


if __name__ == "__main__":
    unittest.main()

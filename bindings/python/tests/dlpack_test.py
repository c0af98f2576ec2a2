"""DLPack both ways: types, geometry, read-only memory, the consumed-capsule rule, lifetimes, what it cannot say, hostile capsules."""

import ctypes
import gc
import threading
import unittest

import numpy as np

import hurray
from hurray import Scheme, Tensor, from_dlpack
from support import BaseLine, lent

TYPES = ("float16 float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64 complex64 complex128").split()


class Geometry(ctypes.Structure):
    """DLPack's DLTensor."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class Plain(ctypes.Structure):
    """DLPack's DLManagedTensor."""

    _fields_ = [("tensor", Geometry), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    """DLPack's DLManagedTensorVersioned."""

    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", Geometry)]


python = ctypes.pythonapi
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_GetName.restype = ctypes.c_char_p
python.PyCapsule_GetName.argtypes = [ctypes.py_object]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def name_of(capsule):
    return python.PyCapsule_GetName(capsule)


def contents(capsule):
    """The struct in a capsule that nobody has taken."""
    kind = Versioned if name_of(capsule) == b"dltensor_versioned" else Plain
    return kind.from_address(python.PyCapsule_GetPointer(capsule, name_of(capsule)))


class Foreign:
    """An exporter of a hand-made struct, which counts the calls of its deleter."""

    def __init__(self, shape=(3,), strides=None, code=2, bits=32, lanes=1, versioned=True, major=1, flags=0, device=1, data=True,
                 byte_offset=0, ndim=None):
        self.memory = (ctypes.c_float * 64)(*range(64))
        self.deleted = 0
        self.shape = (ctypes.c_int64 * max(1, len(shape)))(*shape)
        self.strides = None if strides is None else (ctypes.c_int64 * max(1, len(strides)))(*strides)
        self.deleter = Deleter(self.delete)
        self.struct = Versioned() if versioned else Plain()
        if versioned:
            self.struct.major, self.struct.minor, self.struct.flags = major, 0, flags
        self.struct.deleter = ctypes.cast(self.deleter, ctypes.c_void_p)
        tensor = self.struct.tensor
        tensor.data = ctypes.addressof(self.memory) if data else None
        tensor.device_type, tensor.ndim = device, len(shape) if ndim is None else ndim
        tensor.code, tensor.bits, tensor.lanes = code, bits, lanes
        tensor.shape = ctypes.cast(self.shape, ctypes.POINTER(ctypes.c_int64))
        if self.strides is not None:
            tensor.strides = ctypes.cast(self.strides, ctypes.POINTER(ctypes.c_int64))
        tensor.byte_offset = byte_offset
        self.name = b"dltensor_versioned" if versioned else b"dltensor"

    def delete(self, _):
        self.deleted += 1

    def capsule(self):
        return python.PyCapsule_New(ctypes.addressof(self.struct), self.name, None)

    def __dlpack__(self, **_):
        self.handed = self.capsule()
        return self.handed


class ExportTest(BaseLine):
    def test_numpy_reads_every_type_and_geometry(self):
        base = np.arange(24).reshape(2, 3, 4)
        for name in TYPES:
            for array in (base.astype(name), base.astype(name)[:, ::-1, ::2], np.asfortranarray(base.astype(name)), base.astype(name)[1, 2, 3:],
                          np.zeros((3, 0, 2), name), np.array(5, name), np.broadcast_to(np.ones(1, name), (1,)).copy()):
                with self.subTest(name, shape=array.shape), Tensor.wrap(array) as tensor:
                    taken = np.from_dlpack(tensor)
                    self.assertEqual(taken.dtype, array.dtype)
                    np.testing.assert_array_equal(taken, array)
                    if array.size:
                        self.assertEqual(taken.__array_interface__["data"][0], array.__array_interface__["data"][0])
                    del taken

    def test_the_device_is_the_host(self):
        with Tensor.wrap(np.ones(3)) as tensor:
            self.assertEqual(tensor.__dlpack_device__(), (1, 0))

    def test_the_capsule_is_of_the_version_that_the_consumer_knows(self):
        with Tensor.wrap(np.arange(3.0)) as tensor:
            for version, name, found in ((None, b"dltensor", None), ((0, 8), b"dltensor", None), ((1, 0), b"dltensor_versioned", (1, 0)),
                                         ((1, 1), b"dltensor_versioned", (1, 1)), ((1, 9), b"dltensor_versioned", (1, 1)),
                                         ((7, 0), b"dltensor_versioned", (1, 1))):
                capsule = tensor.__dlpack__(max_version=version)
                self.assertEqual(name_of(capsule), name)
                if found is not None:
                    struct = contents(capsule)
                    self.assertEqual((struct.major, struct.minor, struct.flags), (*found, 0))
                del capsule

    def test_the_struct_says_where_the_first_element_is(self):
        array = np.arange(24, dtype=np.int16).reshape(2, 3, 4)[::-1, 1:, ::2]
        with Tensor.wrap(array) as tensor:
            capsule = tensor.__dlpack__(max_version=(1, 1))
            geometry = contents(capsule).tensor
            self.assertEqual(geometry.data + geometry.byte_offset, array.__array_interface__["data"][0])
            self.assertEqual(geometry.shape[:3], list(array.shape))
            self.assertEqual(geometry.strides[:3], [stride // 2 for stride in array.strides])
            self.assertEqual((geometry.device_type, geometry.device_id, geometry.code, geometry.bits, geometry.lanes), (1, 0, 0, 16, 1))
            del geometry, capsule

    def test_read_only_memory_is_said_by_version_1_and_refused_before(self):
        with Tensor.wrap(np.arange(3.0), readonly=True) as tensor:
            capsule = tensor.__dlpack__(max_version=(1, 0))
            self.assertEqual(contents(capsule).flags, 1)
            del capsule
            with self.assertRaises(BufferError):
                tensor.__dlpack__()
            with self.assertRaises(BufferError):
                np.from_dlpack(tensor)  # this NumPy asks for no version
            capsule = tensor.__dlpack__(copy=True)
            del capsule

    def test_copies_are_said_and_do_not_keep_the_tensor(self):
        source = np.arange(6.0).reshape(2, 3)[:, ::2]
        tensor = Tensor.wrap(source)
        capsule = tensor.__dlpack__(max_version=(1, 1), copy=True)
        self.assertEqual(tensor.exports, 0)
        tensor.close()
        struct = contents(capsule)
        self.assertEqual(struct.flags, 2)
        self.assertNotEqual(struct.tensor.data, source.__array_interface__["data"][0])
        self.assertEqual(struct.tensor.strides[:2], [2, 1])
        with from_dlpack(capsule) as taken:
            self.assertEqual(taken.tolist(), source.tolist())
        with Tensor.wrap(np.arange(3)) as tensor:
            capsule = tensor.__dlpack__(copy=False)
            self.assertEqual(tensor.exports, 1)
            del capsule

    def test_exports_count_as_views(self):
        tensor = Tensor.wrap(np.arange(3.0))
        capsule = tensor.__dlpack__()
        self.assertEqual(tensor.exports, 1)
        with self.assertRaises(BufferError):
            tensor.close()
        array = np.from_dlpack(tensor)
        self.assertEqual(tensor.exports, 2)
        del capsule
        self.assertEqual(tensor.exports, 1)
        part = array[1:]
        del array
        with self.assertRaises(BufferError):
            tensor.close()
        del part
        self.assertEqual(tensor.exports, 0)
        tensor.close()

    def test_a_consumer_may_end_on_any_thread(self):
        tensor = Tensor.wrap(np.arange(3.0))
        arrays = [np.from_dlpack(tensor) for _ in range(8)]
        threads = [threading.Thread(target=arrays.pop) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(tensor.exports, 0)
        tensor.close()

    def test_what_dlpack_cannot_say_is_a_buffer_error(self):
        cases = {
            "packed bool": lambda: Tensor.from_numpy(np.array([True, False])),
            "packed int4": lambda: Tensor.zeros("int4", [4]),
            "float128": lambda: Tensor.zeros("float128", [2]),
            "quantized": lambda: _quantized(),
            "sparse": lambda: _sparse(),
            "tiled": lambda: _tiled(),
        }
        for name, make in cases.items():
            with self.subTest(name), make() as tensor:
                for version in (None, (1, 1)):
                    with self.assertRaises(BufferError) as caught:
                        tensor.__dlpack__(max_version=version)
                    self.assertTrue(str(caught.exception))
                self.assertEqual(tensor.exports, 0)
        with Tensor.zeros("float8_e4m3", [2]) as tensor:
            for version in (None, (1, 0)):
                with self.assertRaises(BufferError):
                    tensor.__dlpack__(max_version=version)
            with from_dlpack(tensor) as taken:
                self.assertEqual(taken.dtype, hurray.ElementType.FLOAT8_E4M3)
        with Tensor.wrap(np.ones(2)) as tensor:
            for arguments in ({"stream": 0}, {"stream": -1}, {"dl_device": (2, 0)}):
                with self.assertRaises(BufferError):
                    tensor.__dlpack__(**arguments)
            capsule = tensor.__dlpack__(dl_device=(1, 0))
            del capsule

    def test_device_memory_is_a_buffer_error(self):
        handle = hurray.BufferHandle(64, 64, hurray.Device.CUDA)
        with hurray.Buffer.handoff(handle, 1 << 20) as buffer:
            with Tensor.from_buffers(hurray.Descriptor.build("float32", [16], buffers=[handle]), [buffer]) as tensor:
                with self.assertRaises(BufferError):
                    tensor.__dlpack__()
                with self.assertRaises(BufferError):
                    tensor.__dlpack_device__()

    def test_a_closed_tensor_is_refused(self):
        tensor = Tensor.wrap(np.ones(2))
        tensor.close()
        with self.assertRaises(hurray.ClosedError):
            tensor.__dlpack__()


class ImportTest(BaseLine):
    def test_numpy_gives_every_type_and_geometry(self):
        base = np.arange(24).reshape(2, 3, 4)
        for name in TYPES:
            for array in (base.astype(name), base.astype(name)[:, ::-1, ::2], np.asfortranarray(base.astype(name)),
                          np.zeros((3, 0, 2), name), np.array(5, name)):
                with self.subTest(name, shape=array.shape), from_dlpack(array) as tensor:
                    np.testing.assert_array_equal(tensor.numpy(), array)
                    self.assertEqual(tensor.copied_bytes, 0)

    def test_the_owner_gets_the_memory_back_once(self):
        for versioned in (True, False):
            foreign = Foreign(versioned=versioned)
            tensor = from_dlpack(foreign)
            share = tensor.share()
            self.assertEqual(tensor.tolist(), [0, 1, 2])
            tensor.close()
            self.assertEqual(foreign.deleted, 0)
            share.close()
            self.assertEqual(foreign.deleted, 1)
            gc.collect()
            self.assertEqual(foreign.deleted, 1)

    def test_a_forgotten_tensor_gives_it_back_at_the_next_drain(self):
        foreign = Foreign()
        tensor = from_dlpack(foreign)
        with self.assertWarns(ResourceWarning):
            del tensor
        self.assertEqual(foreign.deleted, 0)
        hurray.drain()
        self.assertEqual(foreign.deleted, 1)

    def test_an_exporter_without_a_deleter(self):
        foreign = Foreign()
        foreign.struct.deleter = None
        with from_dlpack(foreign) as tensor:
            self.assertEqual(tensor.tolist(), [0, 1, 2])

    def test_the_capsule_is_consumed(self):
        for versioned, used in ((True, b"used_dltensor_versioned"), (False, b"used_dltensor")):
            foreign = Foreign(versioned=versioned)
            capsule = foreign.capsule()
            with from_dlpack(capsule):
                self.assertEqual(name_of(capsule), used)
                self.refused("INVALID_ARGUMENT", from_dlpack, capsule)
            self.assertEqual(foreign.deleted, 1)

    def test_ours_taken_back(self):
        tensor = Tensor.wrap(np.arange(6.0))
        for version in (None, (1, 1)):
            capsule = tensor.__dlpack__(max_version=version)
            taken = from_dlpack(capsule)
            self.assertEqual(tensor.exports, 1)
            taken.close()
            self.assertEqual(tensor.exports, 0)
            del capsule
        tensor.close()

    def test_read_only_stays_read_only(self):
        for flags in (0, 1):
            with from_dlpack(Foreign(flags=flags)) as tensor:
                self.assertEqual(tensor.readonly, bool(flags))
        with Tensor.wrap(b"abc") as source, from_dlpack(source) as tensor:
            self.assertTrue(tensor.readonly)

    def test_offsets_strides_and_unused_strides(self):
        with from_dlpack(Foreign(shape=(2, 2), strides=(2, -1), byte_offset=20)) as tensor:
            self.assertEqual(tensor.tolist(), [[5, 4], [7, 6]])
        with from_dlpack(Foreign(shape=(2, 1, 2), strides=(4, 1 << 62, 1))) as tensor:
            self.assertEqual(tensor.tolist(), [[[0, 1]], [[4, 5]]])
        with from_dlpack(Foreign(shape=(0, 1 << 40, 1 << 40), data=False)) as tensor:
            self.assertEqual(tensor.shape, (0, 1 << 40, 1 << 40))
        with from_dlpack(Foreign(shape=())) as tensor:
            self.assertEqual((tensor.ndim, tensor.tolist()), (0, 0))

    def test_pinned_host_memory_is_host_memory(self):
        for device in (3, 11):
            with from_dlpack(Foreign(device=device)) as tensor:
                self.assertEqual(tensor.tolist(), [0, 1, 2])

    def test_bfloat16_and_new_floats(self):
        for code, bits, name in ((4, 16, "BFLOAT16"), (10, 8, "FLOAT8_E4M3"), (12, 8, "FLOAT8_E5M2"), (14, 8, "FLOAT8_E8M0")):
            with from_dlpack(Foreign(code=code, bits=bits)) as tensor:
                self.assertEqual(tensor.dtype.name, name)

    def test_copy_and_device(self):
        array = np.arange(4.0)
        for copy in (None, False):
            with from_dlpack(array, copy=copy, device="cpu") as tensor:
                array[0] += 1
                self.assertEqual(tensor.tolist(), array.tolist())
        with from_dlpack(array, copy=True, device=(1, 0)) as tensor:
            array[0] += 1
            self.assertNotEqual(tensor.tolist(), array.tolist())
        with Tensor.wrap(array) as source, from_dlpack(source, copy=True) as tensor:
            self.assertEqual((source.exports, tensor.tolist()), (0, array.tolist()))
        self.refused("UNSUPPORTED", from_dlpack, array, device="cuda")
        with from_dlpack(array[1:], alignment=hurray.AlignmentPolicy.COPY) as tensor:
            self.assertEqual(tensor.copied_bytes, 24)

    def test_hostile_structs_are_refused_and_stay_their_owners(self):
        cases = {
            "UNSUPPORTED": [{"device": 2}, {"device": 99}, {"lanes": 4}, {"lanes": 0}, {"code": 6, "bits": 8}],
            "INVALID_TYPE": [{"code": 99}, {"bits": 3}, {"code": 3}, {"code": 17, "bits": 4}, {"bits": 128}],
            "INVALID_LAYOUT": [{"shape": (-1,)}, {"ndim": -1}, {"ndim": 65}, {"shape": (1 << 40, 1 << 40)},
                               {"shape": (2, 2), "strides": (1 << 62, 1)}, {"shape": (3, 3), "strides": (1 << 60, 1 << 60)},
                               {"byte_offset": (1 << 64) - 1}],
            "NULL_POINTER": [{"data": False}],
            "VERSION_MISMATCH": [{"major": 2}, {"major": 0}],
        }
        for code, variants in cases.items():
            for variant in variants:
                with self.subTest(code, **variant):
                    foreign = Foreign(**variant)
                    before = (hurray.live_handles(), lent())
                    self.refused(code, from_dlpack, foreign)
                    self.assertEqual((name_of(foreign.handed), foreign.deleted), (foreign.name, 0))
                    self.assertEqual((hurray.live_handles(), lent()), before)
        foreign = Foreign()
        foreign.struct.tensor.shape = None
        self.refused("NULL_POINTER", from_dlpack, foreign)

    def test_what_is_no_exporter(self):
        for wrong in (17, "x", None, object()):
            with self.assertRaises(TypeError):
                from_dlpack(wrong)
        capsule = python.PyCapsule_New(ctypes.addressof(Foreign().struct), b"something", None)
        self.refused("INVALID_ARGUMENT", from_dlpack, capsule)

        class Raises:
            def __dlpack__(self, **_):
                raise RuntimeError("of its own")

        with self.assertRaisesRegex(RuntimeError, "of its own"):
            from_dlpack(Raises())

        class NoCapsule:
            def __dlpack__(self, **_):
                return 17

        with self.assertRaises(TypeError):
            from_dlpack(NoCapsule())

        class Old:
            def __dlpack__(self):
                raise TypeError("of its own")

        with self.assertRaisesRegex(TypeError, "of its own"):
            from_dlpack(Old())

    def test_the_version_is_asked_for_and_old_exporters_are_asked_without(self):
        asked = []

        class New:
            def __dlpack__(self, *, max_version=None):
                asked.append(max_version)
                return Foreign.capsule(foreign)

        class Old:
            def __dlpack__(self):
                asked.append(None)
                return Foreign.capsule(foreign)

        foreign = Foreign()
        for exporter in (New(), Old(), Old(), New()):
            from_dlpack(exporter).close()
        self.assertEqual(asked, [(1, 1), None, None, (1, 1)])


class StormTest(BaseLine):
    def test_collections_during_every_call(self):
        source = np.arange(64.0)
        threshold = gc.get_threshold()
        gc.set_threshold(1)
        try:
            for _ in range(300):
                with from_dlpack(source) as tensor:
                    array = np.from_dlpack(tensor)
                    with from_dlpack(tensor) as again:
                        self.assertEqual(again.element([1]), 1)
                    del array
        finally:
            gc.set_threshold(*threshold)


def _quantized():
    with Tensor.wrap(np.arange(64, dtype=np.float32)) as tensor:
        return tensor.quantize(Scheme.PER_TENSOR_AFFINE, "int8")


def _sparse():
    with Tensor.wrap(np.eye(4, dtype=np.float32)) as tensor:
        return tensor.transcode(hurray.Layout.CSR)


def _tiled():
    with Tensor.wrap(np.arange(64, dtype=np.float32).reshape(8, 8)) as tensor:
        return tensor.transcode(hurray.Tiled((hurray.Tile((4, 4)),)))


if __name__ == "__main__":
    unittest.main()

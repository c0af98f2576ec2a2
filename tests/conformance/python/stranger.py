"""Handles that the library under test did not make, of //tests/conformance/device: spies of a pretended other copy, strangers."""

import ctypes
import os

_library = ctypes.CDLL(os.environ["HURRAY_STRANGER"])
_POINTER, _TEXT = ctypes.c_void_p, ctypes.c_char_p
_U64, _U32, _U8 = ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint8

BUFFER, LIST, CONTEXT, TENSOR = 3, 4, 5, 6

for _name, _result, *_arguments in [
    ("spy_new", _POINTER, _U32),
    ("spy_destroy", None, _POINTER),
    ("spy_vouch", None, _POINTER, _U32, _U32),
    ("spy_set_context_version", None, _POINTER, _U32),
    ("spy_answer", _U8, _POINTER, _TEXT, ctypes.c_int32),
    ("spy_pair_new", None, _POINTER, _POINTER, _POINTER),
    ("spy_event_pair_new", None, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER),
    ("spy_stream_pair_new", None, _POINTER, _POINTER, _POINTER, _POINTER),
    ("spy_handle_new", _POINTER, _POINTER, _U32),
    ("spy_live_handles", _U64, _POINTER),
    ("spy_misuses", _U64, _POINTER),
    ("spy_log_copy", _U64, _POINTER, _TEXT, _U64),
    ("spy_log_clear", None, _POINTER),
    ("spy_accessor_calls", _U64, _POINTER),
    ("stranger_new", _POINTER, _U64, _U32, _U32, _U32),
    ("stranger_right_magic", _U64, _U32),
    ("stranger_foreign_new", _POINTER),
    ("stranger_generation_new", _POINTER, _U32),
    ("stranger_free", None, _POINTER),
]:
    _function = getattr(_library, _name)
    _function.restype, _function.argtypes = _result, _arguments


class Spy:
    """A pretended copy of the library of a version, vouching for the versions from `vouches[0]` to `vouches[1]`."""

    def __init__(self, version, vouches=None):
        self.address = _library.spy_new(version)
        assert self.address
        if vouches is not None:
            _library.spy_vouch(self.address, *vouches)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        _library.spy_destroy(self.address)

    def _pair(self, function, *arguments):
        parts, context = _POINTER(), _POINTER()
        function(self.address, *arguments, ctypes.byref(parts), ctypes.byref(context))
        assert parts.value and context.value
        return parts.value, context.value

    def pair(self):
        """Addresses of a list and a context; float32 [3, 4] of the values 0 to 11."""
        return self._pair(_library.spy_pair_new)

    def event_pair(self, sync_handle, release, context=None):
        """The same on device 1 with an event; `release` is the address of a C function."""
        return self._pair(_library.spy_event_pair_new, sync_handle, release, context)

    def stream_pair(self, stream):
        """The same on device 1, ordered on a stream."""
        return self._pair(_library.spy_stream_pair_new, stream)

    def set_context_version(self, version):
        _library.spy_set_context_version(self.address, version)

    def answer(self, function, status):
        assert _library.spy_answer(self.address, function.encode(), status) == 1

    @property
    def live_handles(self):
        return _library.spy_live_handles(self.address)

    @property
    def misuses(self):
        return _library.spy_misuses(self.address)

    @property
    def accessor_calls(self):
        """Calls of anything but the question for the version."""
        return _library.spy_accessor_calls(self.address)

    @property
    def log(self):
        length = _library.spy_log_copy(self.address, None, 0)
        text = ctypes.create_string_buffer(length + 1)
        _library.spy_log_copy(self.address, text, length + 1)
        return text.value.decode().splitlines()

    def clear(self):
        _library.spy_log_clear(self.address)


class Strangers:
    """Makes pointers to what is no exchange handle, whose memory ends where it should not be read on."""

    def __init__(self):
        self.made = []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for address in self.made:
            _library.stranger_free(address)

    def _keep(self, address):
        assert address
        self.made.append(address)
        return address

    def foreign(self):
        """Of another implementation: a wrong magic, and nothing behind it."""
        return self._keep(_library.stranger_foreign_new())

    def generation(self, kind):
        """The right magic with a generation that does not exist."""
        return self._keep(_library.stranger_generation_new(kind))

    def without_table(self, kind):
        """The right prefix, without a table."""
        return self._keep(_library.stranger_new(_library.stranger_right_magic(kind), 1, 4, 24))

"""The fake device of //tests/conformance/device, as a Python program sees a driver: by ctypes, its pointers as integers."""

import ctypes
import enum
import os


class Violation(enum.IntEnum):
    """What a producer or consumer can do wrong; the names are the driver's (checked by a test)."""

    OK = 0
    UNORDERED_READ = 1
    UNORDERED_WRITE = 2
    WAIT_UNRECORDED = 3
    HANDOFF_UNSYNCED = 4
    HANDOFF_EVENT_UNRECORDED = 5
    HANDOFF_EVENT_MISSES_WRITE = 6
    EVENT_RECORDED_LATE = 7
    HANDOFF_NO_DEPENDENCY = 8
    EVENT_RELEASED_TWICE = 9
    EVENT_NEVER_RELEASED = 10
    EVENT_USED_AFTER_RELEASE = 11
    MEMORY_RELEASED_TWICE = 12
    MEMORY_NEVER_RELEASED = 13
    MEMORY_USED_AFTER_RELEASE = 14
    UNKNOWN_HANDLE = 15
    HANDOFF_UNPAIRED = 16
    HANDOFF_BAD_MODE = 17
    RELEASED_BY_FAILED_HANDOFF = 18


_POINTER, _TEXT, _U64, _U8 = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint8
_JUDGED = Violation  # a FakeViolation

_FUNCTIONS = {
    "stream_new": (_POINTER, _POINTER, _TEXT),
    "event_new": (_POINTER, _POINTER),
    "event_record": (_JUDGED, _POINTER, _POINTER, _POINTER),
    "stream_wait_event": (_JUDGED, _POINTER, _POINTER, _POINTER),
    "stream_wait_stream": (_JUDGED, _POINTER, _POINTER, _POINTER),
    "host_wait_stream": (_JUDGED, _POINTER, _POINTER),
    "host_wait_event": (_JUDGED, _POINTER, _POINTER),
    "memory_new": (_POINTER, _POINTER, _U64),
    "stream_read": (_JUDGED, _POINTER, _POINTER, _POINTER),
    "stream_write": (_JUDGED, _POINTER, _POINTER, _POINTER),
    "host_read": (_JUDGED, _POINTER, _POINTER),
    "host_write": (_JUDGED, _POINTER, _POINTER),
    "handoff_begin": (_JUDGED, _POINTER, _POINTER, _U8, _POINTER),
    "handoff_returned": (_JUDGED, _POINTER, _POINTER, _U8, _POINTER),
    "handoff_failed": (_JUDGED, _POINTER, _POINTER, _U8, _POINTER),
    "event_release_count": (_U64, _POINTER, _POINTER),
    "memory_release_count": (_U64, _POINTER, _POINTER),
    "event_release_thread": (_U64, _POINTER, _POINTER),
    "memory_release_thread": (_U64, _POINTER, _POINTER),
    "events_outstanding": (_U64, _POINTER),
    "memory_outstanding": (_U64, _POINTER),
    "violation_count": (_U64, _POINTER),
    "violation_count_of": (_U64, _POINTER, ctypes.c_uint32),
    "violations_clear": (None, _POINTER),
    "log_mark": (None, _POINTER, _TEXT),
}

_library = ctypes.CDLL(os.environ["HURRAY_FAKE_DEVICE"])
_library.fake_device_new.restype = _POINTER
_library.fake_violation_name.restype = _TEXT
_library.fake_stray_calls.restype = _U64
_library.fake_current_thread.restype = _U64
for _name, (_result, *_arguments) in {**_FUNCTIONS, "device_destroy": (None, _POINTER), "device_finish": (_JUDGED, _POINTER)}.items():
    _function = getattr(_library, "fake_" + _name)
    _function.restype = ctypes.c_uint32 if _result is Violation else _result
    _function.argtypes = _arguments
_library.fake_event_release.argtypes = _library.fake_memory_release.argtypes = [_POINTER, _POINTER]
_library.fake_event_release.restype = _library.fake_memory_release.restype = None
_library.fake_log_copy.argtypes = [_POINTER, _TEXT, _U64]
_library.fake_log_copy.restype = _U64
_library.fake_violation_message_copy.argtypes = [_POINTER, _U64, _TEXT, _U64]
_library.fake_violation_message_copy.restype = _U64
_library.fake_violation_kind.argtypes = [_POINTER, _U64]
_library.fake_violation_kind.restype = ctypes.c_uint32


def violation_name(kind):
    """The driver's name of a kind."""
    return _library.fake_violation_name(ctypes.c_uint32(kind)).decode()


def current_thread():
    """Id of this thread, comparable with those of releases."""
    return _library.fake_current_thread()


def stray_calls():
    """Callbacks that came for a device that is gone."""
    return _library.fake_stray_calls()


class FakeDevice:
    """A device; its functions are methods: `device.event_record(event, stream)`."""

    TAG = 1

    def __init__(self):
        self.address = _library.fake_device_new()
        for name, (result, *_) in _FUNCTIONS.items():
            setattr(self, name, self._bound(getattr(_library, "fake_" + name), result is Violation))

    def _bound(self, function, judged):
        def call(*arguments):
            result = function(self.address, *(a.encode() if isinstance(a, str) else a for a in arguments))
            return Violation(result) if judged else result

        return call

    # The two callbacks, as a driver for Python has them.

    def event_release(self, event):
        _library.fake_event_release(event, self.address)

    def memory_release(self, memory):
        _library.fake_memory_release(memory, self.address)

    def finish(self):
        """What was handed off and never released, or OK."""
        return Violation(_library.fake_device_finish(self.address))

    def destroy(self):
        _library.fake_device_destroy(self.address)
        self.address = None

    @property
    def log(self):
        """All lines."""
        length = _library.fake_log_copy(self.address, None, 0)
        text = ctypes.create_string_buffer(length + 1)
        _library.fake_log_copy(self.address, text, length + 1)
        return text.value.decode().splitlines()

    @property
    def violations(self):
        """Kinds, in order."""
        return [Violation(_library.fake_violation_kind(self.address, i)) for i in range(self.violation_count())]

    def message(self, index):
        """What the violation number `index` was."""
        text = ctypes.create_string_buffer(512)
        _library.fake_violation_message_copy(self.address, index, text, len(text))
        return text.value.decode()

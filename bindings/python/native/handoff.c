#include "bindings/python/native/handoff.h"

#include <string.h>

#include "bindings/python/native/convert.h"
#include "bindings/python/native/errors.h"
#include "bindings/python/native/handle.h"
#include "bindings/python/native/lent.h"
#include "bindings/python/native/library.h"

// The callbacks of the two kinds have one type, so that one trampoline serves both.
_Static_assert(_Generic((HurrayEventReleaseFn)0, HurrayReleaseCallback: 1, default: 0), "callbacks of two types");

// What the library is about to be lent.
typedef struct Loan {
    void *address;
    HpyLent *memory;  // null: an address that lives for ever
    HpyLent *event;   // null: no event, or one without a release
    bool read_only;
} Loan;

static void forget(Loan *loan) {
    hpy_lent_forget(loan->memory);
    hpy_lent_forget(loan->event);
    loan->memory = NULL;
    loan->event = NULL;
}

static bool callable(PyObject *object, const char *name) {
    if (object == Py_None || PyCallable_Check(object)) return true;
    PyErr_Format(PyExc_TypeError, "%s: expected a callable or None, got %R", name, (PyObject *)Py_TYPE(object));
    return false;
}

static bool pointer(PyObject *object, const char *name, void **out) {
    uint64_t number = 0;
    if (object != Py_None && !hpy_unsigned(object, UINTPTR_MAX, name, &number)) return false;
    *out = (void *)(uintptr_t)number;
    return true;
}

// Memory of the object, or the memory at an address, of at least the length that the 16 bytes name.
static bool take_memory(PyObject *data, PyObject *release, const HurrayBufferHandleBytes *handle, Loan *loan) {
    if (data == Py_None || PyLong_Check(data)) {
        if (!pointer(data, "data", &loan->address)) return false;
        if (release == Py_None) return true;
        loan->memory = hpy_lent_callable(release);
        return loan->memory != NULL;
    }
    loan->memory = hpy_lent_new(data, PyBUF_SIMPLE);
    if (loan->memory == NULL) return false;
    const Py_buffer *buffer = hpy_lent_buffer(loan->memory);
    uint64_t byte_size = 0;
    memcpy(&byte_size, handle->bytes, sizeof byte_size);  // little-endian, as this host
    if ((uint64_t)buffer->len < byte_size) {
        hpy_raise_format(HURRAY_ERR_BUFFER_TOO_SMALL, NULL, "data: the handle names %llu bytes, the object has %zd",
                         (unsigned long long)byte_size, buffer->len);
        return false;
    }
    loan->address = buffer->len == 0 ? NULL : buffer->buf;
    loan->read_only = buffer->readonly != 0;
    if (release != Py_None) hpy_lent_on_release(loan->memory, release);
    return true;
}

static bool payload(PyObject *object, Py_ssize_t length, const char *name) {
    if (PyTuple_Check(object) && PyTuple_Size(object) == length) return true;
    PyErr_Format(PyExc_TypeError, "%s: expected None or a tuple of %zd, got %R", name, length, (PyObject *)Py_TYPE(object));
    return false;
}

static bool take_event(PyObject *object, HurrayEventPayload *out, Loan *loan) {
    memset(out, 0, sizeof *out);
    if (object == Py_None) return true;
    uint64_t device = 0;
    if (!payload(object, 3, "event")) return false;
    PyObject *release = PyTuple_GetItem(object, 1);
    if (!pointer(PyTuple_GetItem(object, 0), "event.sync_handle", &out->sync_handle) ||
        !callable(release, "event.event_release") ||
        !hpy_unsigned(PyTuple_GetItem(object, 2), UINT8_MAX, "event.sync_handle_device_tag", &device)) {
        return false;
    }
    out->sync_handle_device_tag = (uint8_t)device;
    if (release == Py_None) return true;
    loan->event = hpy_lent_callable(release);
    if (loan->event == NULL) return false;
    out->event_release_fn = hpy_lent_release;
    out->event_release_context = loan->event;
    return true;
}

static bool take_stream(PyObject *object, HurrayStreamPayload *out) {
    memset(out, 0, sizeof *out);
    if (object == Py_None) return true;
    uint64_t device = 0;
    if (!payload(object, 2, "stream") || !pointer(PyTuple_GetItem(object, 0), "stream.consumer_stream", &out->consumer_stream) ||
        !hpy_unsigned(PyTuple_GetItem(object, 1), UINT8_MAX, "stream.consumer_stream_device_tag", &device)) {
        return false;
    }
    out->consumer_stream_device_tag = (uint8_t)device;
    return true;
}

static bool take_handle(PyObject *object, HurrayBufferHandleBytes *out) {
    HpyBytes bytes;
    if (!hpy_bytes(object, "handle_bytes", &bytes)) return false;
    const bool fits = hpy_same_length(bytes.length, sizeof out->bytes, "handle_bytes and its 16 bytes");
    if (fits) memcpy(out->bytes, bytes.data, sizeof out->bytes);
    hpy_bytes_release(&bytes);
    return fits;
}

PyObject *hpy_buffer_handoff(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    HurrayBufferHandleBytes handle;
    HurrayEventPayload event;
    HurrayStreamPayload stream;
    Loan loan = {NULL, NULL, NULL, false};
    if (calls == NULL || !hpy_expect(count, 5, "buffer_handoff(handle_bytes, data, release, event, stream)") ||
        !take_handle(args[0], &handle) || !callable(args[2], "release") || !take_stream(args[4], &stream)) {
        return NULL;
    }
    if (!take_event(args[3], &event, &loan) || !take_memory(args[1], args[2], &handle, &loan)) {
        forget(&loan);
        return NULL;
    }
    hpy_drain(calls);
    HurrayBuffer *buffer = NULL;
    HurrayError error;
    const HurrayStatus status =
        calls->hurray_buffer_handoff(&handle, loan.address, loan.memory == NULL ? NULL : hpy_lent_release, loan.memory,
                                     args[3] == Py_None ? NULL : &event, args[4] == Py_None ? NULL : &stream, &buffer, &error);
    if (status != HURRAY_OK) {
        // Nothing has moved, and neither callback ran or will.
        forget(&loan);
        return hpy_raise(status, &error, "hurray_buffer_handoff");
    }
    // Neither can fail: the handle is new, and nobody shares it.
    if (loan.memory != NULL) (void)calls->hurray_buffer_set_release_queue(buffer, hpy_queue(), NULL);
    if (loan.read_only) (void)calls->hurray_buffer_set_read_only(buffer, NULL);
    return hpy_handle_new(HURRAY_HANDLE_BUFFER, buffer);
}

static PyObject *get(PyObject *object, bool event) {
    const HpyCalls *calls = hpy_calls();
    HpyHandle *buffer = calls == NULL ? NULL : hpy_handle_take(object, HURRAY_HANDLE_BUFFER, "buffer");
    if (buffer == NULL) return NULL;
    void *found = NULL;
    uint8_t device = 0;
    HurrayError error;
    const HurrayStatus status = event ? calls->hurray_buffer_event(buffer->pointer, &found, &device, &error)
                                      : calls->hurray_buffer_stream(buffer->pointer, &found, &device, &error);
    if (status != HURRAY_OK) return hpy_raise(status, &error, event ? "hurray_buffer_event" : "hurray_buffer_stream");
    return hpy_tuple(2, PyLong_FromVoidPtr(found), PyLong_FromUnsignedLong(device));
}

PyObject *hpy_buffer_event(PyObject *module, PyObject *buffer) {
    (void)module;
    return get(buffer, true);
}

PyObject *hpy_buffer_stream(PyObject *module, PyObject *buffer) {
    (void)module;
    return get(buffer, false);
}

PyObject *hpy_buffer_event_release(PyObject *module, PyObject *object) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    HpyHandle *buffer = calls == NULL ? NULL : hpy_handle_take(object, HURRAY_HANDLE_BUFFER, "buffer");
    if (buffer == NULL) return NULL;
    HurrayStatus status = HURRAY_OK;
    HurrayError error;
    // The callback may be another runtime's and wait for a thread that wants the GIL. Until it is back, neither it nor
    // anybody else may end the buffer, or the list or tensor that it is part of.
    hpy_handle_set_busy(buffer, true);
    Py_BEGIN_ALLOW_THREADS
    status = calls->hurray_buffer_event_release(buffer->pointer, &error);
    Py_END_ALLOW_THREADS
    hpy_handle_set_busy(buffer, false);
    if (status != HURRAY_OK) return hpy_raise(status, &error, "hurray_buffer_event_release");
    Py_RETURN_NONE;
}

#include "bindings/python/native/callbacks.h"

#include <string.h>

#include "bindings/python/gen/structs.h"
#include "bindings/python/native/convert.h"
#include "bindings/python/native/errors.h"
#include "bindings/python/native/handle.h"
#include "bindings/python/native/library.h"
#include "bindings/python/native/runtime.h"

// What goes to Python at one time: a callable gets copies, which it may keep, so they are bounded.
enum { piece_size = 1 << 20 };

static HurrayStatus report_raised(PyObject *callable) {
    PyErr_WriteUnraisable(callable);
    return HURRAY_ERR_INTERNAL_PANIC;
}

// The status that a callable returned instead of what was asked for; takes over `result`, which may be null.
static HurrayStatus status_of(PyObject *callable, PyObject *result, const char *expected) {
    int64_t status = 0;
    const bool good = result != NULL && PyLong_Check(result) && hpy_signed(result, INT32_MIN, -1, "status", &status);
    if (!good && PyErr_Occurred() == NULL) PyErr_Format(PyExc_TypeError, "expected %s, or a negative status", expected);
    Py_XDECREF(result);
    return good ? (HurrayStatus)status : report_raised(callable);
}

static int64_t copy_out(PyObject *callable, PyObject *result, void *into, uint64_t capacity) {
    Py_buffer bytes;
    if (PyObject_GetBuffer(result, &bytes, PyBUF_SIMPLE) != 0) return report_raised(callable);
    const uint64_t length = (uint64_t)bytes.len;
    if (length <= capacity) memcpy(into, bytes.buf, (size_t)length);
    PyBuffer_Release(&bytes);
    // Longer than asked for: the library refuses the count.
    return (int64_t)length;
}

// The HurrayReadFn.
static int64_t read_callback(void *context, void *into, uint64_t capacity) {
    HpyEntry entry;
    if (!hpy_enter(&entry)) return HURRAY_ERR_CANCELLED;
    if (capacity > piece_size) capacity = piece_size;
    PyObject *callable = context;
    Py_INCREF(callable);
    PyObject *result = PyObject_CallFunction(callable, "K", (unsigned long long)capacity);
    int64_t count = 0;
    if (result != NULL && PyObject_CheckBuffer(result)) {
        count = copy_out(callable, result, into, capacity);
        Py_DECREF(result);
    } else {
        count = status_of(callable, result, "bytes");
    }
    Py_DECREF(callable);
    hpy_leave(&entry);
    return count;
}

// The HurrayWriteFn.
static HurrayStatus write_callback(void *context, const void *bytes, uint64_t length) {
    HpyEntry entry;
    if (!hpy_enter(&entry)) return HURRAY_ERR_CANCELLED;
    PyObject *callable = context;
    Py_INCREF(callable);
    HurrayStatus status = HURRAY_OK;
    for (uint64_t done = 0; status == HURRAY_OK && done < length;) {
        const uint64_t piece = length - done < piece_size ? length - done : piece_size;
        PyObject *copy = PyBytes_FromStringAndSize((const char *)bytes + done, (Py_ssize_t)piece);
        PyObject *result = copy == NULL ? NULL : PyObject_CallFunctionObjArgs(callable, copy, NULL);
        Py_XDECREF(copy);
        if (result == Py_None) {
            Py_DECREF(result);
        } else {
            status = status_of(callable, result, "None");
        }
        done += piece;
    }
    Py_DECREF(callable);
    hpy_leave(&entry);
    return status;
}

// The HurrayTensorSourceFn.
static HurrayStatus make_callback(void *context, HurrayTensor **out_tensor) {
    HpyEntry entry;
    *out_tensor = NULL;
    if (!hpy_enter(&entry)) return HURRAY_ERR_CANCELLED;
    PyObject *callable = context;
    Py_INCREF(callable);
    HurrayStatus status = HURRAY_OK;
    PyObject *result = PyObject_CallFunctionObjArgs(callable, NULL);
    if (result == NULL || PyLong_Check(result)) {
        status = status_of(callable, result, "a tensor");
    } else {
        HpyHandle *tensor = hpy_handle_take_owned(result, HURRAY_HANDLE_TENSOR, "tensor");
        if (tensor == NULL) {
            status = report_raised(callable);
        } else {
            *out_tensor = tensor->pointer;
            tensor->pointer = NULL;
        }
        Py_DECREF(result);
    }
    Py_DECREF(callable);
    hpy_leave(&entry);
    return status;
}

static bool check_callable(PyObject *object, const char *name) {
    if (PyCallable_Check(object)) return true;
    PyErr_Format(PyExc_TypeError, "%s: expected a callable, got %R", name, (PyObject *)Py_TYPE(object));
    return false;
}

PyObject *hpy_reader_from_callback(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    HurrayStreamOptions options;
    if (calls == NULL || !hpy_expect(count, 2, "reader_from_callback(read, options)") || !check_callable(args[0], "read") ||
        !hpy_to_HurrayStreamOptions(args[1], &options)) {
        return NULL;
    }
    HurrayReader *reader = NULL;
    HurrayError error;
    const HurrayStatus status =
        calls->hurray_reader_from_callback(read_callback, args[0], args[1] == Py_None ? NULL : &options, &reader, &error);
    if (status != HURRAY_OK) return hpy_raise(status, &error, "hurray_reader_from_callback");
    return hpy_handle_new(HURRAY_HANDLE_READER, reader);
}

PyObject *hpy_reader_read(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    if (calls == NULL || !hpy_expect(count, 2, "reader_read(reader, into)")) return NULL;
    HpyHandle *reader = hpy_handle_take(args[0], HURRAY_HANDLE_READER, "reader");
    if (reader == NULL) return NULL;
    Py_buffer into;
    if (PyObject_GetBuffer(args[1], &into, PyBUF_WRITABLE) != 0) return NULL;
    uint64_t read = 0;
    HurrayError error;
    HurrayStatus status = HURRAY_OK;
    Py_INCREF(args[0]);
    reader->busy = true;
    Py_BEGIN_ALLOW_THREADS
    status = calls->hurray_reader_read(reader->pointer, into.len == 0 ? NULL : into.buf, (uint64_t)into.len, &read, &error);
    Py_END_ALLOW_THREADS
    reader->busy = false;
    Py_DECREF(args[0]);
    PyBuffer_Release(&into);
    if (status != HURRAY_OK) return hpy_raise(status, &error, "hurray_reader_read");
    return PyLong_FromUnsignedLongLong(read);
}

PyObject *hpy_writer_to_callback(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    HurrayStreamOptions options;
    if (calls == NULL || !hpy_expect(count, 2, "writer_to_callback(write, options)") || !check_callable(args[0], "write") ||
        !hpy_to_HurrayStreamOptions(args[1], &options)) {
        return NULL;
    }
    HurrayWriter *writer = NULL;
    HurrayError error;
    const HurrayStatus status =
        calls->hurray_writer_to_callback(write_callback, args[0], args[1] == Py_None ? NULL : &options, &writer, &error);
    if (status != HURRAY_OK) return hpy_raise(status, &error, "hurray_writer_to_callback");
    return hpy_handle_new(HURRAY_HANDLE_WRITER, writer);
}

PyObject *hpy_file_writer_to_callback(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    HurrayFileWriterOptions options;
    if (calls == NULL || !hpy_expect(count, 2, "file_writer_to_callback(write, options)") ||
        !check_callable(args[0], "write") || !hpy_to_HurrayFileWriterOptions(args[1], &options)) {
        return NULL;
    }
    HurrayFileWriter *writer = NULL;
    HurrayError error;
    const HurrayStatus status =
        calls->hurray_file_writer_to_callback(write_callback, args[0], args[1] == Py_None ? NULL : &options, &writer, &error);
    if (status != HURRAY_OK) return hpy_raise(status, &error, "hurray_file_writer_to_callback");
    return hpy_handle_new(HURRAY_HANDLE_FILE_WRITER, writer);
}

PyObject *hpy_file_writer_add_source(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    if (calls == NULL || !hpy_expect(count, 4, "file_writer_add_source(writer, name, descriptor, make)") ||
        !check_callable(args[3], "make")) {
        return NULL;
    }
    HpyBytes name = {0};
    if (!hpy_bytes(args[1], "name", &name)) return NULL;
    PyObject *result = NULL;
    HpyHandle *writer = hpy_handle_take(args[0], HURRAY_HANDLE_FILE_WRITER, "writer");
    HpyHandle *descriptor = writer == NULL ? NULL : hpy_handle_take(args[2], HURRAY_HANDLE_DESCRIPTOR, "descriptor");
    if (descriptor != NULL) {
        HurrayError error;
        HurrayStatus status = HURRAY_OK;
        hpy_handle_set_busy(writer, true);
        hpy_handle_set_busy(descriptor, true);
        // The tensor may be made and written at once.
        Py_BEGIN_ALLOW_THREADS
        status = calls->hurray_file_writer_add_source(writer->pointer, name.data, name.length, descriptor->pointer,
                                                      make_callback, args[3], &error);
        Py_END_ALLOW_THREADS
        hpy_handle_set_busy(writer, false);
        hpy_handle_set_busy(descriptor, false);
        if (status == HURRAY_OK) {
            Py_INCREF(Py_None);
            result = Py_None;
        } else {
            hpy_raise(status, &error, "hurray_file_writer_add_source");
        }
    }
    hpy_bytes_release(&name);
    return result;
}

PyObject *hpy_file_writer_set_array(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    uint64_t type = 0;
    if (calls == NULL || !hpy_expect(count, 4, "file_writer_set_array(writer, key, element_type, elements)") ||
        !hpy_unsigned(args[2], UINT8_MAX, "element_type", &type)) {
        return NULL;
    }
    PyObject *tuple = PySequence_Tuple(args[3]);
    if (tuple == NULL) return NULL;
    const size_t length = (size_t)PyTuple_Size(tuple);
    PyObject *result = NULL;
    HpyBytes key = {0};
    size_t filled = 0;
    // At least one, so that no allocation is of 0 bytes. A tuple of `length` pointers is in memory: neither product overflows
    // where Python's own allocator would not refuse it.
    HurrayFileMetadata *elements = PyMem_Calloc(length + 1, sizeof *elements);
    HpyFileMetadataMemory *memory = PyMem_Calloc(length + 1, sizeof *memory);
    if (elements == NULL || memory == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    while (filled < length) {
        // Counted first: what was converted before a failure is freed, too.
        const size_t i = filled++;
        if (!hpy_to_HurrayFileMetadata(PyTuple_GetItem(tuple, (Py_ssize_t)i), &elements[i], &memory[i])) goto done;
    }
    if (!hpy_bytes(args[1], "key", &key)) goto done;
    HpyHandle *writer = hpy_handle_take(args[0], HURRAY_HANDLE_FILE_WRITER, "writer");
    if (writer == NULL) goto done;
    HurrayError error;
    const HurrayStatus status =
        calls->hurray_file_writer_set_array(writer->pointer, key.data, key.length, (uint8_t)type,
                                            length == 0 ? NULL : elements, (uint64_t)length, &error);
    if (status != HURRAY_OK) {
        hpy_raise(status, &error, "hurray_file_writer_set_array");
        goto done;
    }
    Py_INCREF(Py_None);
    result = Py_None;

done:
    for (size_t i = 0; i < filled; ++i) hpy_free_HurrayFileMetadata(&memory[i]);
    PyMem_Free(elements);
    PyMem_Free(memory);
    hpy_bytes_release(&key);
    Py_DECREF(tuple);
    return result;
}

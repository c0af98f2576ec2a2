#include "bindings/python/native/convert.h"

#include <stdarg.h>
#include <string.h>

#include "bindings/python/native/errors.h"

bool hpy_expect(Py_ssize_t got, Py_ssize_t expected, const char *signature) {
    if (got == expected) return true;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, got %zd", signature, expected, got);
    return false;
}

static bool out_of_range(PyObject *object, const char *name, const char *bounds) {
    PyErr_Clear();
    PyObject *text = PyObject_Repr(object);
    if (text != NULL) {
        hpy_raise_format(HURRAY_ERR_INVALID_ARGUMENT, NULL, "%s: expected %s, got %U", name, bounds, text);
        Py_DECREF(text);
    }
    return false;
}

bool hpy_unsigned(PyObject *object, uint64_t most, const char *name, uint64_t *out) {
    PyObject *number = PyNumber_Index(object);
    if (number == NULL) return false;
    const unsigned long long value = PyLong_AsUnsignedLongLong(number);
    const bool failed = value == (unsigned long long)-1 && PyErr_Occurred() != NULL;
    bool good = true;
    if (failed || value > most) {
        char bounds[48];
        PyOS_snprintf(bounds, sizeof bounds, "0 to %llu", (unsigned long long)most);
        good = failed && !PyErr_ExceptionMatches(PyExc_OverflowError) ? false : out_of_range(number, name, bounds);
    }
    Py_DECREF(number);
    *out = value;
    return good;
}

bool hpy_signed(PyObject *object, int64_t least, int64_t most, const char *name, int64_t *out) {
    PyObject *number = PyNumber_Index(object);
    if (number == NULL) return false;
    const long long value = PyLong_AsLongLong(number);
    const bool failed = value == -1 && PyErr_Occurred() != NULL;
    bool good = true;
    if (failed || value < least || value > most) {
        char bounds[64];
        PyOS_snprintf(bounds, sizeof bounds, "%lld to %lld", (long long)least, (long long)most);
        good = failed && !PyErr_ExceptionMatches(PyExc_OverflowError) ? false : out_of_range(number, name, bounds);
    }
    Py_DECREF(number);
    *out = value;
    return good;
}

bool hpy_bytes(PyObject *object, const char *name, HpyBytes *out) {
    memset(out, 0, sizeof *out);
    PyObject *source = object;
    if (PyUnicode_Check(object)) {
        // A lone surrogate is no UTF-8: the codec's own exception says where it stands.
        out->encoded = PyUnicode_AsUTF8String(object);
        if (out->encoded == NULL) return false;
        source = out->encoded;
    }
    if (!PyObject_CheckBuffer(source)) {
        PyErr_Format(PyExc_TypeError, "%s: expected bytes or str, got %R", name, (PyObject *)Py_TYPE(object));
        return false;
    }
    if (PyObject_GetBuffer(source, &out->buffer, PyBUF_SIMPLE) != 0) {
        Py_CLEAR(out->encoded);
        return false;
    }
    out->held = true;
    out->length = (uint64_t)out->buffer.len;
    out->data = out->length == 0 ? NULL : out->buffer.buf;
    return true;
}

void hpy_bytes_release(HpyBytes *bytes) {
    if (bytes->held) PyBuffer_Release(&bytes->buffer);
    bytes->held = false;
    Py_CLEAR(bytes->encoded);
}

static bool numbers(PyObject *object, const char *name, HpyNumbers *out, bool is_signed) {
    out->data = NULL;
    out->length = 0;
    PyObject *tuple = PySequence_Tuple(object);
    if (tuple == NULL) return false;
    const Py_ssize_t count = PyTuple_Size(tuple);
    if (count > 0) {
        out->data = PyMem_Calloc((size_t)count, sizeof(uint64_t));
        if (out->data == NULL) {
            Py_DECREF(tuple);
            PyErr_NoMemory();
            return false;
        }
    }
    bool good = true;
    for (Py_ssize_t i = 0; good && i < count; ++i) {
        PyObject *item = PyTuple_GetItem(tuple, i);
        good = is_signed ? hpy_signed(item, INT64_MIN, INT64_MAX, name, (int64_t *)out->data + i)
                         : hpy_unsigned(item, UINT64_MAX, name, (uint64_t *)out->data + i);
    }
    Py_DECREF(tuple);
    out->length = (uint64_t)count;
    if (!good) hpy_numbers_release(out);
    return good;
}

bool hpy_u64_numbers(PyObject *object, const char *name, HpyNumbers *out) { return numbers(object, name, out, false); }

bool hpy_i64_numbers(PyObject *object, const char *name, HpyNumbers *out) { return numbers(object, name, out, true); }

void hpy_numbers_release(HpyNumbers *values) {
    PyMem_Free(values->data);
    values->data = NULL;
    values->length = 0;
}

bool hpy_length32(uint64_t length, const char *name) {
    if (length <= UINT32_MAX) return true;
    hpy_raise_format(HURRAY_ERR_INVALID_ARGUMENT, NULL, "%s: too many elements", name);
    return false;
}

bool hpy_same_length(uint64_t first, uint64_t second, const char *names) {
    if (first == second) return true;
    hpy_raise_format(HURRAY_ERR_INVALID_ARGUMENT, NULL, "%s: expected the same number of elements, got %llu and %llu", names,
                     (unsigned long long)first, (unsigned long long)second);
    return false;
}

bool hpy_path(PyObject *object, PyObject **out) { return PyUnicode_FSConverter(object, out) != 0; }

static PyObject *tuple_of(const void *values, uint64_t count, bool is_signed) {
    if (values == NULL) Py_RETURN_NONE;
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (uint64_t i = 0; tuple != NULL && i < count; ++i) {
        PyObject *item = is_signed ? PyLong_FromLongLong(((const int64_t *)values)[i])
                                   : PyLong_FromUnsignedLongLong(((const uint64_t *)values)[i]);
        if (item == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, item) != 0) {
            Py_DECREF(tuple);
            return NULL;
        }
    }
    return tuple;
}

PyObject *hpy_tuple_u64(const uint64_t *values, uint64_t count) { return tuple_of(values, count, false); }

PyObject *hpy_tuple_i64(const int64_t *values, uint64_t count) { return tuple_of(values, count, true); }

PyObject *hpy_bytes_or_empty(const void *data, uint64_t length) {
    if (length > (uint64_t)PY_SSIZE_T_MAX) return PyErr_NoMemory();
    return PyBytes_FromStringAndSize(data == NULL ? "" : data, data == NULL ? 0 : (Py_ssize_t)length);
}

PyObject *hpy_text(const char *text) {
    if (text == NULL) Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

PyObject *hpy_text_of(const char *text, uint64_t room) {
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strnlen(text, room), "replace");
}

PyObject *hpy_tuple(Py_ssize_t count, ...) {
    PyObject *tuple = PyTuple_New(count);
    bool good = tuple != NULL;
    va_list items;
    va_start(items, count);
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject *item = va_arg(items, PyObject *);
        if (item == NULL) {
            good = false;
        } else if (tuple == NULL) {
            Py_DECREF(item);
        } else if (PyTuple_SetItem(tuple, i, item) != 0) {
            good = false;
        }
    }
    va_end(items);
    if (good) return tuple;
    Py_XDECREF(tuple);
    return NULL;
}

#include "bindings/python/native/errors.h"

#include <stdarg.h>
#include <string.h>

static PyObject *factory;
static PyObject *load_factory;

static PyObject *replace(PyObject **place, PyObject *callable) {
    PyObject *old = *place;
    Py_INCREF(callable);
    *place = callable;
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

PyObject *hpy_set_error_factory(PyObject *module, PyObject *callable) {
    (void)module;
    return replace(&factory, callable);
}

PyObject *hpy_set_load_error_factory(PyObject *module, PyObject *callable) {
    (void)module;
    return replace(&load_factory, callable);
}

// Takes over `exception`; null means that making it failed, which then is the exception.
static void raise_object(PyObject *exception) {
    if (exception == NULL) return;
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
}

// Takes over `message`. `function` may be null: the check is the extension's own.
static void raise_status(HurrayStatus status, PyObject *message, const char *function, const char *special) {
    if (factory == NULL) {
        PyErr_Format(PyExc_RuntimeError, "status %d: %S", (int)status, message);
    } else {
        raise_object(PyObject_CallFunction(factory, "iOzs", (int)status, message, function, special));
    }
    Py_DECREF(message);
}

PyObject *hpy_raise(HurrayStatus status, const HurrayError *error, const char *function) {
    PyObject *message = NULL;
    if (error != NULL && error->message[0] != '\0') {
        const size_t length = strnlen(error->message, sizeof error->message);
        message = PyUnicode_DecodeUTF8(error->message, (Py_ssize_t)length, "replace");
        if (message == NULL) return NULL;
    } else {
        Py_INCREF(Py_None);
        message = Py_None;
    }
    raise_status(status, message, function, "");
    return NULL;
}

PyObject *hpy_raise_closed(const char *name) {
    PyObject *message = PyUnicode_FromFormat("%s: is closed, or was handed over", name);
    if (message != NULL) raise_status(HURRAY_ERR_INVALID_HANDLE, message, NULL, "closed");
    return NULL;
}

PyObject *hpy_raise_busy(const char *name) {
    PyObject *message = PyUnicode_FromFormat("%s: is in use by another thread", name);
    if (message != NULL) raise_status(HURRAY_ERR_INVALID_HANDLE, message, NULL, "busy");
    return NULL;
}

PyObject *hpy_raise_format(HurrayStatus status, const char *function, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    PyObject *message = PyUnicode_FromFormatV(format, arguments);
    va_end(arguments);
    if (message != NULL) raise_status(status, message, function, "");
    return NULL;
}

static void raise_loading(const char *path, PyObject *reason, PyObject *expected, PyObject *found) {
    PyObject *name = PyUnicode_DecodeFSDefault(path);
    if (name != NULL && reason != NULL && expected != NULL && found != NULL) {
        if (load_factory == NULL) {
            PyErr_Format(PyExc_ImportError, "%U: %U", name, reason);
        } else {
            raise_object(PyObject_CallFunctionObjArgs(load_factory, name, reason, expected, found, NULL));
        }
    }
    Py_XDECREF(name);
    Py_XDECREF(reason);
    Py_XDECREF(expected);
    Py_XDECREF(found);
}

static PyObject *none(void) {
    Py_INCREF(Py_None);
    return Py_None;
}

void hpy_raise_load(const char *path, const char *reason) {
    raise_loading(path, PyUnicode_DecodeFSDefault(reason), none(), none());
}

void hpy_raise_missing(const char *path, const char *function) {
    raise_loading(path, PyUnicode_FromFormat("it has no function %s", function), none(), none());
}

void hpy_raise_version(const char *path, uint32_t expected, uint32_t found) {
    raise_loading(path,
                  PyUnicode_FromFormat("it implements C ABI version %u and does not support version %u, for which this "
                                       "package was built",
                                       (unsigned int)found, (unsigned int)expected),
                  PyLong_FromUnsignedLong(expected), PyLong_FromUnsignedLong(found));
}

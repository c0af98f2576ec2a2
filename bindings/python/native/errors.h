// Failures of the library as Python exceptions. The exceptions themselves are made by a factory in Python
// (hurray/errors.py), so that there is one place that knows their classes.
#ifndef HPY_ERRORS_H_
#define HPY_ERRORS_H_

#include "bindings/python/native/hpy.h"

// set_error_factory(callable): callable(status, message | None, function | None, special)
// -> exception; special is "", "closed" or "busy"
PyObject *hpy_set_error_factory(PyObject *module, PyObject *callable);
// set_load_error_factory(callable): callable(path, reason, expected, found) -> exception
PyObject *hpy_set_load_error_factory(PyObject *module, PyObject *callable);

// Sets the exception for a failed call and returns NULL. `error` may be null: the function reports a code only.
PyObject *hpy_raise(HurrayStatus status, const HurrayError *error, const char *function);

// Use of a handle after its end, or while another thread is in a call with it.
PyObject *hpy_raise_closed(const char *name);
PyObject *hpy_raise_busy(const char *name);

// The same with a message of our own: printf-like, as PyErr_Format. `function` may be null.
PyObject *hpy_raise_format(HurrayStatus status, const char *function, const char *format, ...);

void hpy_raise_load(const char *path, const char *reason);
void hpy_raise_missing(const char *path, const char *function);
void hpy_raise_version(const char *path, uint32_t expected, uint32_t found);

#endif  // HPY_ERRORS_H_

// The library's messages of caught exceptions and broken invariants, told to a Python callable.
#ifndef HPY_LOG_H_
#define HPY_LOG_H_

#include "bindings/python/native/hpy.h"

// set_log_callback(callable | None): callable(status, message) runs on the main thread of Python, soon.
PyObject *hpy_log_set(PyObject *module, PyObject *callable);

// In the child of a fork, which inherits no callback.
void hpy_log_forked(void);

#endif  // HPY_LOG_H_

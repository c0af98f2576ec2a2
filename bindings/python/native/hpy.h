// What every file of the extension includes: Python's limited API of 3.11 and the C ABI of Hurray.
//
// Names of the extension's own start with hpy_. A function that returns PyObject * or bool reports a failure as the
// current Python exception, with NULL or false.
#ifndef HPY_H_
#define HPY_H_

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030b0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include <hurray.h>

#include "bindings/python/gen/calls.h"

// Python keeps functions of types in void pointers, which ISO C leaves to extensions.
#define HPY_SLOT(function) __extension__(void *)(function)

#endif  // HPY_H_

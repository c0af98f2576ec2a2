// An extension module for Python's limited API.
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include "example.h"

static PyObject *sum_of(PyObject *module, PyObject *argument) {
    (void)module;
    Py_buffer view;
    if (PyObject_GetBuffer(argument, &view, PyBUF_CONTIG_RO) != 0) {
        return NULL;
    }
    const int64_t sum = example_sum((const int32_t *)view.buf, (uint64_t)view.len / sizeof(int32_t));
    PyBuffer_Release(&view);
    return PyLong_FromLongLong(sum);
}

static PyMethodDef methods[] = {
    {"sum_of", sum_of, METH_O, "Sum of a buffer of int32."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_native", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void);

PyMODINIT_FUNC PyInit__native(void) { return PyModule_Create(&definition); }

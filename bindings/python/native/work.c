#include "bindings/python/native/work.h"

#include <string.h>

#include "bindings/python/native/convert.h"
#include "bindings/python/native/runtime.h"

// Runs on the thread of the call, which has given the GIL away.
static uint8_t report(void *context, uint64_t done, uint64_t total) {
    HpyWork *work = context;
    HpyEntry entry;
    if (!hpy_enter(&entry)) return 0;
    int go_on = -1;
    PyObject *answer = PyObject_CallFunction(work->progress, "KK", (unsigned long long)done, (unsigned long long)total);
    if (answer != NULL) {
        go_on = PyObject_IsTrue(answer);
        Py_DECREF(answer);
    }
    if (go_on < 0) PyErr_Fetch(&work->type, &work->value, &work->traceback);
    hpy_leave(&entry);
    return go_on > 0 ? 1 : 0;
}

bool hpy_work_options(PyObject *object, HurrayWorkOptions *out, HpyWork *work) {
    memset(out, 0, sizeof *out);
    memset(work, 0, sizeof *work);
    out->struct_size = sizeof *out;
    if (object == Py_None) return true;
    if (!PyTuple_Check(object) || PyTuple_Size(object) != 2) {
        PyErr_SetString(PyExc_TypeError, "options: expected None or a tuple (memory_limit, progress)");
        return false;
    }
    if (!hpy_unsigned(PyTuple_GetItem(object, 0), UINT64_MAX, "memory_limit", &out->memory_limit)) return false;
    PyObject *progress = PyTuple_GetItem(object, 1);
    if (progress == Py_None) return true;
    if (!PyCallable_Check(progress)) {
        PyErr_SetString(PyExc_TypeError, "progress: expected a callable");
        return false;
    }
    Py_INCREF(progress);
    work->progress = progress;
    out->progress = report;
    out->context = work;
    return true;
}

bool hpy_work_raise(HpyWork *work) {
    if (work->type == NULL) return false;
    PyErr_Restore(work->type, work->value, work->traceback);
    work->type = work->value = work->traceback = NULL;
    return true;
}

void hpy_work_end(HpyWork *work) {
    Py_XDECREF(work->progress);
    Py_XDECREF(work->type);
    Py_XDECREF(work->value);
    Py_XDECREF(work->traceback);
    memset(work, 0, sizeof *work);
}

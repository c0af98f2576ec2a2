#include "bindings/python/native/runtime.h"

#include <sched.h>
#include <stdatomic.h>

#include "bindings/python/native/library.h"
#include "bindings/python/native/log.h"

// A thread that asks for the GIL while Python shuts down is ended inside PyGILState_Ensure, with the library's frames
// on its stack. So the end waits for those who are about to ask, and nobody asks after it.
static atomic_uint entering;
static atomic_bool ended;
static uint64_t generation;  // changes only in the child of a fork, which has one thread

bool hpy_announce(void) {
    atomic_fetch_add(&entering, 1);
    if (!atomic_load(&ended)) return true;
    atomic_fetch_sub(&entering, 1);
    return false;
}

void hpy_retract(void) { atomic_fetch_sub(&entering, 1); }

bool hpy_enter(HpyEntry *entry) {
    if (!hpy_announce()) return false;
    entry->state = PyGILState_Ensure();
    PyErr_Fetch(&entry->type, &entry->value, &entry->traceback);
    return true;
}

void hpy_leave(HpyEntry *entry) {
    PyErr_Restore(entry->type, entry->value, entry->traceback);
    PyGILState_Release(entry->state);
    hpy_retract();
}

uint64_t hpy_generation(void) { return generation; }

PyObject *hpy_runtime_end(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    atomic_store(&ended, true);
    Py_BEGIN_ALLOW_THREADS
    while (atomic_load(&entering) != 0) sched_yield();
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

PyObject *hpy_runtime_forked(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    ++generation;
    atomic_store(&entering, 0);  // those who were entering are threads of the parent
    hpy_queue_forked();
    hpy_log_forked();
    Py_RETURN_NONE;
}

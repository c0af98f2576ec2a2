// Python's own lifetime, as seen from callbacks that the library may run on any thread, in any process, at any time.
#ifndef HPY_RUNTIME_H_
#define HPY_RUNTIME_H_

#include "bindings/python/native/hpy.h"

// Takes the GIL for a callback and sets the current exception aside. False once Python has begun to shut down: then
// the callback does nothing, and what it should have freed is leaked.
typedef struct HpyEntry {
    PyGILState_STATE state;
    PyObject *type, *value, *traceback;
} HpyEntry;
bool hpy_enter(HpyEntry *entry);
void hpy_leave(HpyEntry *entry);

// For a callback that gives Python something to do without taking the GIL: between the two, Python does not end. False
// once it has begun to.
bool hpy_announce(void);
void hpy_retract(void);

// Number of forks between the first process and this one. What was made under another number belongs to a parent.
uint64_t hpy_generation(void);

// Registered with atexit and os.register_at_fork by the package.
PyObject *hpy_runtime_end(PyObject *module, PyObject *unused);
PyObject *hpy_runtime_forked(PyObject *module, PyObject *unused);

#endif  // HPY_RUNTIME_H_

// The loaded copy of libhurray: found at run time, asked for its version before anything else of it is resolved.
#ifndef HPY_LIBRARY_H_
#define HPY_LIBRARY_H_

#include "bindings/python/native/hpy.h"

// The functions of the library; loads it on first use. NULL with an exception set when that fails.
const HpyCalls *hpy_calls(void);

// The functions of the library, or NULL when it is not loaded (yet). Sets no exception.
const HpyCalls *hpy_loaded_calls(void);

// Releases what other threads left for us: everything that waits on the binding's release queue, on this thread.
void hpy_drain(const HpyCalls *calls);

// The binding's own release queue.
HurrayReleaseQueue *hpy_queue(void);

// In the child of a fork: what waits on the queues of the parent is the parent's; the child gets a queue of its own.
void hpy_queue_forked(void);

// Takes over a queue that the garbage collector found: its end runs releases, so it waits for the next hpy_drain.
void hpy_queue_forgotten(HurrayReleaseQueue *forgotten);

// load(path) -> None, loaded() -> bool, set_loader(callable), drain() -> int
PyObject *hpy_library_load(PyObject *module, PyObject *path);
PyObject *hpy_library_loaded(PyObject *module, PyObject *unused);
PyObject *hpy_library_set_loader(PyObject *module, PyObject *loader);
PyObject *hpy_library_drain(PyObject *module, PyObject *unused);

#endif  // HPY_LIBRARY_H_

// Python memory and objects that the library was lent: given back exactly once, under the GIL.
#ifndef HPY_LENT_H_
#define HPY_LENT_H_

#include "bindings/python/native/hpy.h"

// A buffer of a Python object, a callable, both, or a foreign owner's memory, in the library's hands.
typedef struct HpyLent HpyLent;

// Takes a buffer of `object`. NULL with an exception set when it has none that fits `flags`.
HpyLent *hpy_lent_new(PyObject *object, int flags);
// Nothing but a callable: for memory, and for events, that Python knows by their addresses only.
HpyLent *hpy_lent_callable(PyObject *callable);
// Calls `callable(address)` at the release, before the buffer is given back. What it raises goes to sys.unraisablehook:
// a release has nobody to raise to.
void hpy_lent_on_release(HpyLent *lent, PyObject *callable);
// Memory of a foreign owner: calls `end(context)` at the release, with the GIL. hpy_lent_forget does not call it.
HpyLent *hpy_lent_foreign(void (*end)(void *context), void *context);
const Py_buffer *hpy_lent_buffer(const HpyLent *lent);
// Gives the buffer back when the library never took it.
void hpy_lent_forget(HpyLent *lent);
// The HurrayReleaseCallback and HurrayEventReleaseFn; the context is the HpyLent.
void hpy_lent_release(void *data, void *context);

// A Python object as owner of a tensor context, and its HurrayOwnerReleaseFn.
typedef struct HpyOwner HpyOwner;
HpyOwner *hpy_owner_new(PyObject *object);
void hpy_owner_forget(HpyOwner *owner);
void hpy_owner_release(void *owner);

// lent_count() -> int: buffers and owners that the library holds now.
PyObject *hpy_lent_count(PyObject *module, PyObject *unused);

#endif  // HPY_LENT_H_

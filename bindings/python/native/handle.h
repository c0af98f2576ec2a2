// The Python object behind every handle of the library: it owns the handle, ends it once, and refuses it afterwards.
#ifndef HPY_HANDLE_H_
#define HPY_HANDLE_H_

#include "bindings/python/native/hpy.h"
#include "bindings/python/native/lent.h"

struct HpyView;

typedef struct HpyHandle {
    PyObject_HEAD
    void *pointer;          // null: closed, or handed over
    PyObject *keeps;        // of a borrowed handle: the handle that it is part of
    struct HpyView *view;   // tensors: made when the first view is asked for
    HpyLent *kept;          // readers of memory: the memory
    Py_ssize_t exports;     // tensors: live views
    uint32_t kind;          // HURRAY_HANDLE_
    bool borrowed;
    bool busy;              // a call without the GIL is using it
    bool quiet;             // left to the garbage collector on purpose: no ResourceWarning
} HpyHandle;

// Makes the classes and puts them into the module.
bool hpy_handle_add(PyObject *module);

// set_class(kind, class): the Python class, a subclass of Handle, of which handles of that kind are made.
PyObject *hpy_handle_set_class(PyObject *module, PyObject *const *args, Py_ssize_t count);

// Wraps a handle that the caller owns; None for null. On failure the handle is ended.
PyObject *hpy_handle_new(uint32_t kind, void *pointer);
// Wraps a handle that is part of another one, and valid as long as that.
PyObject *hpy_handle_borrow(uint32_t kind, void *pointer, PyObject *owner);

// The handle in an argument; refuses other kinds, closed ones, and ones that another thread uses.
HpyHandle *hpy_handle_take(PyObject *object, uint32_t kind, const char *name);
// As hpy_handle_take for a handle whose ownership is about to move: borrowed ones and ones with live views are refused.
HpyHandle *hpy_handle_take_owned(PyObject *object, uint32_t kind, const char *name);

// Marks a handle, and what it is part of, as in use by a call without the GIL, or not any more.
void hpy_handle_set_busy(HpyHandle *self, bool busy);

// Generated: ends a handle of any kind. HURRAY_ERR_INVALID_ARGUMENT for a kind without an end.
HurrayStatus hpy_destroy(const HpyCalls *calls, uint32_t kind, void *pointer, bool deferred);

#endif  // HPY_HANDLE_H_

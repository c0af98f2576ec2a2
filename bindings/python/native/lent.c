#include "bindings/python/native/lent.h"

#include "bindings/python/native/runtime.h"

struct HpyLent {
    Py_buffer buffer;
    uint64_t generation;
};

struct HpyOwner {
    PyObject *object;
    uint64_t generation;
};

static uint64_t live;  // guarded by the GIL

HpyLent *hpy_lent_new(PyObject *object, int flags) {
    HpyLent *lent = PyMem_Malloc(sizeof *lent);
    if (lent == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    if (PyObject_GetBuffer(object, &lent->buffer, flags) != 0) {
        PyMem_Free(lent);
        return NULL;
    }
    lent->generation = hpy_generation();
    ++live;
    return lent;
}

const Py_buffer *hpy_lent_buffer(const HpyLent *lent) { return &lent->buffer; }

void hpy_lent_forget(HpyLent *lent) {
    if (lent == NULL) return;
    PyBuffer_Release(&lent->buffer);
    PyMem_Free(lent);
    --live;
}

void hpy_lent_release(void *data, void *context) {
    (void)data;
    HpyLent *lent = context;
    // In the child of a fork the memory is the parent's to release: the child only lets go of its pages.
    if (lent->generation != hpy_generation()) return;
    HpyEntry entry;
    if (!hpy_enter(&entry)) return;
    hpy_lent_forget(lent);
    hpy_leave(&entry);
}

HpyOwner *hpy_owner_new(PyObject *object) {
    HpyOwner *owner = PyMem_Malloc(sizeof *owner);
    if (owner == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    Py_INCREF(object);
    owner->object = object;
    owner->generation = hpy_generation();
    ++live;
    return owner;
}

void hpy_owner_forget(HpyOwner *owner) {
    if (owner == NULL) return;
    Py_DECREF(owner->object);
    PyMem_Free(owner);
    --live;
}

void hpy_owner_release(void *context) {
    HpyOwner *owner = context;
    if (owner->generation != hpy_generation()) return;
    HpyEntry entry;
    if (!hpy_enter(&entry)) return;
    hpy_owner_forget(owner);
    hpy_leave(&entry);
}

PyObject *hpy_lent_count(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyLong_FromUnsignedLongLong(live);
}

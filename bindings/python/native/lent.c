#include "bindings/python/native/lent.h"

#include "bindings/python/native/runtime.h"

struct HpyLent {
    Py_buffer buffer;    // all null: there is none
    PyObject *callable;  // null: there is none
    void (*end)(void *context);  // null: there is none
    void *end_context;
    uint64_t generation;
};

struct HpyOwner {
    PyObject *object;
    uint64_t generation;
};

static uint64_t live;  // guarded by the GIL

static HpyLent *lent_new(void) {
    HpyLent *lent = PyMem_Calloc(1, sizeof *lent);
    if (lent == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    lent->generation = hpy_generation();
    ++live;
    return lent;
}

HpyLent *hpy_lent_new(PyObject *object, int flags) {
    HpyLent *lent = lent_new();
    if (lent == NULL || PyObject_GetBuffer(object, &lent->buffer, flags) == 0) return lent;
    lent->buffer.obj = NULL;
    hpy_lent_forget(lent);
    return NULL;
}

HpyLent *hpy_lent_callable(PyObject *callable) {
    HpyLent *lent = lent_new();
    if (lent != NULL) hpy_lent_on_release(lent, callable);
    return lent;
}

void hpy_lent_on_release(HpyLent *lent, PyObject *callable) {
    Py_INCREF(callable);
    lent->callable = callable;
}

HpyLent *hpy_lent_foreign(void (*end)(void *context), void *context) {
    HpyLent *lent = lent_new();
    if (lent == NULL) return NULL;
    lent->end = end;
    lent->end_context = context;
    return lent;
}

const Py_buffer *hpy_lent_buffer(const HpyLent *lent) { return &lent->buffer; }

void hpy_lent_forget(HpyLent *lent) {
    if (lent == NULL) return;
    if (lent->buffer.obj != NULL) PyBuffer_Release(&lent->buffer);
    Py_CLEAR(lent->callable);
    PyMem_Free(lent);
    --live;
}

static void call(PyObject *callable, void *address) {
    PyObject *number = PyLong_FromVoidPtr(address);
    PyObject *result = number == NULL ? NULL : PyObject_CallFunctionObjArgs(callable, number, NULL);
    if (result == NULL) PyErr_WriteUnraisable(callable);
    Py_XDECREF(result);
    Py_XDECREF(number);
}

void hpy_lent_release(void *data, void *context) {
    HpyLent *lent = context;
    // In the child of a fork the memory is the parent's to release: the child only lets go of its pages.
    if (lent->generation != hpy_generation()) return;
    HpyEntry entry;
    if (!hpy_enter(&entry)) return;
    if (lent->callable != NULL) call(lent->callable, data);
    if (lent->end != NULL) lent->end(lent->end_context);
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

#include "bindings/python/native/handle.h"

#include "bindings/python/native/convert.h"
#include "bindings/python/native/errors.h"
#include "bindings/python/native/library.h"
#include "bindings/python/native/view.h"

enum { kind_count = 64 };

static PyTypeObject *handle_type;
static PyObject *classes[kind_count];

static const char *name_of(const HpyHandle *self) {
    static const char *const names[] = {"handle", "descriptor", "builder", "buffer", "list", "context", "tensor", "queue",
                                        "reader", "writer",     "file",    "file writer"};
    return self->kind < sizeof names / sizeof names[0] ? names[self->kind] : "handle";
}

// A borrowed handle ends with the one that it is part of.
static bool is_open(const HpyHandle *self) {
    if (self->pointer == NULL) return false;
    return !self->borrowed || is_open((const HpyHandle *)self->keeps);
}

static bool is_busy(const HpyHandle *self) {
    return self->busy || (self->borrowed && is_busy((const HpyHandle *)self->keeps));
}

void hpy_handle_set_busy(HpyHandle *self, bool busy) {
    while (self->borrowed) self = (HpyHandle *)self->keeps;
    self->busy = busy;
}

PyObject *hpy_handle_set_class(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    uint64_t kind = 0;
    if (!hpy_expect(count, 2, "set_class(kind, class)") || !hpy_unsigned(args[0], kind_count - 1, "kind", &kind)) return NULL;
    const int fits = PyObject_IsSubclass(args[1], (PyObject *)handle_type);
    if (fits < 0) return NULL;
    if (fits == 0) {
        PyErr_SetString(PyExc_TypeError, "class: expected a subclass of Handle");
        return NULL;
    }
    PyObject *old = classes[kind];
    Py_INCREF(args[1]);
    classes[kind] = args[1];
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

static HpyHandle *allocate(uint32_t kind, void *pointer) {
    PyTypeObject *type = kind < kind_count && classes[kind] != NULL ? (PyTypeObject *)classes[kind] : handle_type;
    const allocfunc alloc = __extension__(allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    HpyHandle *self = (HpyHandle *)alloc(type, 0);
    if (self == NULL) return NULL;
    self->kind = kind;
    self->pointer = pointer;
    // Descriptors hold nothing but a little memory: there is no need to close them.
    self->quiet = kind == HURRAY_HANDLE_DESCRIPTOR || kind == HURRAY_HANDLE_DESCRIPTOR_BUILDER;
    return self;
}

// Ends a handle on a thread that must not run releases.
static void end_deferred(uint32_t kind, void *pointer) {
    if (kind == HURRAY_HANDLE_RELEASE_QUEUE) {
        hpy_queue_forgotten(pointer);
    } else {
        (void)hpy_destroy(hpy_loaded_calls(), kind, pointer, true);
    }
}

PyObject *hpy_handle_new(uint32_t kind, void *pointer) {
    if (pointer == NULL) Py_RETURN_NONE;
    HpyHandle *self = allocate(kind, pointer);
    if (self == NULL) end_deferred(kind, pointer);
    return (PyObject *)self;
}

PyObject *hpy_handle_borrow(uint32_t kind, void *pointer, PyObject *owner) {
    HpyHandle *self = allocate(kind, pointer);
    if (self == NULL) return NULL;
    self->borrowed = true;
    Py_INCREF(owner);
    self->keeps = owner;
    return (PyObject *)self;
}

HpyHandle *hpy_handle_take(PyObject *object, uint32_t kind, const char *name) {
    if (!PyObject_TypeCheck(object, handle_type)) {
        PyErr_Format(PyExc_TypeError, "%s: expected a handle of hurray, got %R", name, (PyObject *)Py_TYPE(object));
        return NULL;
    }
    HpyHandle *self = (HpyHandle *)object;
    if (self->kind != kind) {
        PyErr_Format(PyExc_TypeError, "%s: another kind of handle was expected than %R", name, (PyObject *)Py_TYPE(object));
        return NULL;
    }
    if (!is_open(self)) {
        hpy_raise_closed(name);
        return NULL;
    }
    if (is_busy(self)) {
        hpy_raise_busy(name);
        return NULL;
    }
    return self;
}

static bool refuse_exports(const HpyHandle *self) {
    if (self->exports == 0) return false;
    PyErr_Format(PyExc_BufferError, "%s: %zd views (memoryview, NumPy array, ...) still use its memory", name_of(self),
                 self->exports);
    return true;
}

HpyHandle *hpy_handle_take_owned(PyObject *object, uint32_t kind, const char *name) {
    HpyHandle *self = hpy_handle_take(object, kind, name);
    if (self == NULL || refuse_exports(self)) return NULL;
    if (self->borrowed) {
        hpy_raise_format(HURRAY_ERR_INVALID_HANDLE, NULL, "%s: is borrowed and cannot be handed over", name);
        return NULL;
    }
    return self;
}

// What hangs on the object beside the handle itself.
static void drop_parts(HpyHandle *self) {
    hpy_view_free(self->view);
    self->view = NULL;
    HpyLent *kept = self->kept;
    self->kept = NULL;
    hpy_lent_forget(kept);
    Py_CLEAR(self->keeps);
}

static PyObject *handle_close(PyObject *object, PyObject *unused) {
    (void)unused;
    HpyHandle *self = (HpyHandle *)object;
    if (self->pointer == NULL) Py_RETURN_NONE;
    if (is_busy(self)) return hpy_raise_busy(name_of(self));
    if (refuse_exports(self)) return NULL;
    if (!self->borrowed) {
        const HpyCalls *calls = hpy_loaded_calls();
        // Out of the object first: a release callback that comes back here finds it closed.
        void *pointer = self->pointer;
        self->pointer = NULL;
        const HurrayStatus status = hpy_destroy(calls, self->kind, pointer, false);
        if (status != HURRAY_OK) {
            drop_parts(self);
            return hpy_raise(status, NULL, "close");
        }
        hpy_drain(calls);
    }
    self->pointer = NULL;
    drop_parts(self);
    Py_RETURN_NONE;
}

// Runs on whatever thread dropped the last reference: the backup for a forgotten close.
static void handle_finalize(PyObject *object) {
    HpyHandle *self = (HpyHandle *)object;
    if (self->pointer == NULL || self->borrowed) return;
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    if (!self->quiet && PyErr_ResourceWarning(object, 1, "unclosed %R", object) != 0) {
        if (PyErr_ExceptionMatches(PyExc_Warning)) PyErr_WriteUnraisable(object);
        PyErr_Clear();
    }
    void *pointer = self->pointer;
    self->pointer = NULL;
    if (pointer != NULL) end_deferred(self->kind, pointer);
    PyErr_Restore(type, value, traceback);
}

static void handle_dealloc(PyObject *object) {
    HpyHandle *self = (HpyHandle *)object;
    if (self->pointer != NULL && !self->borrowed) end_deferred(self->kind, self->pointer);
    self->pointer = NULL;
    drop_parts(self);
    PyTypeObject *type = Py_TYPE(object);
    const freefunc release = __extension__(freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyObject *handle_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    (void)args;
    (void)keywords;
    PyErr_Format(PyExc_TypeError, "%R is not made by calling it; see its class methods", (PyObject *)type);
    return NULL;
}

static PyObject *get_closed(PyObject *object, void *unused) {
    (void)unused;
    return PyBool_FromLong(!is_open((HpyHandle *)object));
}

static PyObject *get_exports(PyObject *object, void *unused) {
    (void)unused;
    return PyLong_FromSsize_t(((HpyHandle *)object)->exports);
}

static PyObject *get_quiet(PyObject *object, void *unused) {
    (void)unused;
    return PyBool_FromLong(((HpyHandle *)object)->quiet);
}

static int set_quiet(PyObject *object, PyObject *value, void *unused) {
    (void)unused;
    const int truth = value == NULL ? 0 : PyObject_IsTrue(value);
    if (truth < 0) return -1;
    ((HpyHandle *)object)->quiet = truth != 0;
    return 0;
}

static PyObject *get_address(PyObject *object, void *unused) {
    (void)unused;
    const HpyHandle *self = (HpyHandle *)object;
    return PyLong_FromVoidPtr(is_open(self) ? self->pointer : NULL);
}

static PyObject *handle_enter(PyObject *object, PyObject *unused) {
    (void)unused;
    if (!is_open((HpyHandle *)object)) return hpy_raise_closed(name_of((HpyHandle *)object));
    Py_INCREF(object);
    return object;
}

static PyObject *handle_require_open(PyObject *object, PyObject *unused) {
    (void)unused;
    if (!is_open((HpyHandle *)object)) return hpy_raise_closed(name_of((HpyHandle *)object));
    Py_RETURN_NONE;
}

static PyObject *handle_exit(PyObject *object, PyObject *arguments) {
    (void)arguments;
    // Through the attribute: a subclass may have more to close.
    return PyObject_CallMethod(object, "close", NULL);
}

static PyMethodDef methods[] = {
    {"close", handle_close, METH_NOARGS,
     "Ends the handle; memory that nothing else shares is released now, on this thread. Does nothing when closed.\n\n"
     "Raises BufferError while a view of a tensor is alive."},
    {"__enter__", handle_enter, METH_NOARGS, "Returns the handle itself; the end of the block closes it."},
    {"__exit__", handle_exit, METH_VARARGS, "Closes the handle."},
    {"_require_open", handle_require_open, METH_NOARGS, "Raises ClosedError when it is closed."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"closed", get_closed, NULL, "Whether the handle is closed or was handed over.", NULL},
    {"exports", get_exports, NULL, "How many live views use the memory.", NULL},
    {"_quiet", get_quiet, set_quiet, "Left to the garbage collector on purpose: no ResourceWarning.", NULL},
    {"_address", get_address, NULL, "Address of the C handle; 0 when closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot handle_slots[] = {
    {Py_tp_doc, "A handle of the C library. Owned by this object, or borrowed from another handle."},
    {Py_tp_new, HPY_SLOT(handle_new)},
    {Py_tp_dealloc, HPY_SLOT(handle_dealloc)},
    {Py_tp_finalize, HPY_SLOT(handle_finalize)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

static PyType_Spec handle_spec = {"hurray._native.Handle", sizeof(HpyHandle), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_FINALIZE, handle_slots};

static PyType_Slot tensor_slots[] = {
    {Py_tp_doc, "A tensor: a handle with the buffer protocol."},
    {Py_bf_getbuffer, HPY_SLOT(hpy_view_get)},
    {Py_bf_releasebuffer, HPY_SLOT(hpy_view_release)},
    {0, NULL},
};

static PyType_Spec tensor_spec = {"hurray._native.TensorHandle", sizeof(HpyHandle), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_FINALIZE, tensor_slots};

// The classes outlive the module: one that is imported anew gets the same ones.
bool hpy_handle_add(PyObject *module) {
    if (handle_type == NULL) handle_type = (PyTypeObject *)PyType_FromSpec(&handle_spec);
    if (handle_type == NULL || PyModule_AddObjectRef(module, "Handle", (PyObject *)handle_type) != 0) return false;
    static PyObject *tensor_type;
    if (tensor_type == NULL) tensor_type = PyType_FromSpecWithBases(&tensor_spec, (PyObject *)handle_type);
    return tensor_type != NULL && PyModule_AddObjectRef(module, "TensorHandle", tensor_type) == 0;
}

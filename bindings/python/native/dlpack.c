#include "bindings/python/native/dlpack.h"

#include <string.h>

#include "bindings/python/native/convert.h"
#include "bindings/python/native/errors.h"
#include "bindings/python/native/handle.h"
#include "bindings/python/native/lent.h"
#include "bindings/python/native/library.h"
#include "bindings/python/native/runtime.h"
#include "bindings/python/native/view.h"
#include "bindings/python/native/wrap.h"

// --- DLPack's binary interface ------------------------------------------------------------------------------

enum { dl_major = 1, dl_minor = 1 };
enum { dl_cpu = 1, dl_cuda_host = 3, dl_rocm_host = 11 };
enum {
    dl_int = 0,
    dl_uint = 1,
    dl_float = 2,
    dl_bfloat = 4,
    dl_complex = 5,
    dl_bool = 6,
    // Since 1.1:
    dl_float8_e4m3fn = 10,
    dl_float8_e5m2 = 12,
    dl_float8_e8m0fnu = 14,
};
#define DL_READ_ONLY UINT64_C(1)
#define DL_COPIED UINT64_C(2)

typedef struct DlTensor {
    void *data;
    int32_t device_type;
    int32_t device_id;
    int32_t ndim;
    struct {
        uint8_t code;
        uint8_t bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape;
    int64_t *strides;  // in elements; null: row-major
    uint64_t byte_offset;
} DlTensor;

typedef struct DlPlain {
    DlTensor tensor;
    void *context;
    void (*deleter)(struct DlPlain *self);
} DlPlain;

typedef struct DlVersioned {
    uint32_t major;
    uint32_t minor;
    void *context;
    void (*deleter)(struct DlVersioned *self);
    uint64_t flags;
    DlTensor tensor;
} DlVersioned;

static const char plain_name[] = "dltensor";
static const char plain_used[] = "used_dltensor";
static const char versioned_name[] = "dltensor_versioned";
static const char versioned_used[] = "used_dltensor_versioned";

// --- Element types ------------------------------------------------------------------------------------------

typedef struct TypePair {
    uint8_t ours;
    uint8_t code;
    uint8_t bits;
    uint8_t since_minor;
} TypePair;

static const TypePair types[] = {
    {HURRAY_TYPE_FLOAT32, dl_float, 32, 0},
    {HURRAY_TYPE_FLOAT16, dl_float, 16, 0},
    {HURRAY_TYPE_BFLOAT16, dl_bfloat, 16, 0},
    {HURRAY_TYPE_FLOAT64, dl_float, 64, 0},
    {HURRAY_TYPE_INT8, dl_int, 8, 0},
    {HURRAY_TYPE_INT16, dl_int, 16, 0},
    {HURRAY_TYPE_INT32, dl_int, 32, 0},
    {HURRAY_TYPE_INT64, dl_int, 64, 0},
    {HURRAY_TYPE_UINT8, dl_uint, 8, 0},
    {HURRAY_TYPE_UINT16, dl_uint, 16, 0},
    {HURRAY_TYPE_UINT32, dl_uint, 32, 0},
    {HURRAY_TYPE_UINT64, dl_uint, 64, 0},
    {HURRAY_TYPE_COMPLEX64, dl_complex, 64, 0},
    {HURRAY_TYPE_COMPLEX128, dl_complex, 128, 0},
    {HURRAY_TYPE_FLOAT8_E4M3, dl_float8_e4m3fn, 8, 1},
    {HURRAY_TYPE_FLOAT8_E5M2, dl_float8_e5m2, 8, 1},
    {HURRAY_TYPE_FLOAT8_E8M0, dl_float8_e8m0fnu, 8, 1},
};
enum { type_count = sizeof types / sizeof types[0] };

// --- Export -------------------------------------------------------------------------------------------------

// What a capsule stands for. It counts as a view of the tensor, which it keeps.
typedef struct Export {
    PyObject *tensor;
    union {
        DlPlain plain;
        DlVersioned versioned;
    };
    int64_t geometry[];  // `rank` sizes, then `rank` strides
} Export;

// Runs on whatever thread the consumer is done on, with or without the GIL.
static void end_export(Export *self) {
    HpyEntry entry;
    if (!hpy_enter(&entry)) return;
    --((HpyHandle *)self->tensor)->exports;
    Py_DECREF(self->tensor);
    PyMem_Free(self);
    hpy_leave(&entry);
}

static void delete_plain(DlPlain *self) { end_export(self->context); }

static void delete_versioned(DlVersioned *self) { end_export(self->context); }

// Nobody took it: a consumer renames the capsule.
static void end_plain_capsule(PyObject *capsule) {
    if (!PyCapsule_IsValid(capsule, plain_name)) return;
    DlPlain *managed = PyCapsule_GetPointer(capsule, plain_name);
    if (managed->deleter != NULL) managed->deleter(managed);
}

static void end_versioned_capsule(PyObject *capsule) {
    if (!PyCapsule_IsValid(capsule, versioned_name)) return;
    DlVersioned *managed = PyCapsule_GetPointer(capsule, versioned_name);
    if (managed->deleter != NULL) managed->deleter(managed);
}

static PyObject *refuse_export(const char *reason) {
    PyErr_SetString(PyExc_BufferError, reason);
    return NULL;
}

// The protocol's exception for what an exporter cannot export is BufferError; the library's own becomes its cause.
static PyObject *refuse_without_view(void) {
    if (PyErr_ExceptionMatches(PyExc_MemoryError)) return NULL;
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyErr_Format(PyExc_BufferError, "DLPack cannot say this: %S", value);
    PyObject *new_type = NULL, *new_value = NULL, *new_traceback = NULL;
    PyErr_Fetch(&new_type, &new_value, &new_traceback);
    PyErr_NormalizeException(&new_type, &new_value, &new_traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    if (new_value != NULL) {
        PyException_SetCause(new_value, value);
    } else {
        Py_XDECREF(value);
    }
    PyErr_Restore(new_type, new_value, new_traceback);
    return NULL;
}

static const TypePair *type_of_view(const HurrayView *view) {
    for (int i = 0; i < type_count; ++i) {
        if (types[i].ours == view->element_type) return &types[i];
    }
    return NULL;
}

PyObject *hpy_dlpack_export(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    int64_t minor = 0;
    if (!hpy_expect(count, 3, "dlpack_export(tensor, minor, copied)") ||
        !hpy_signed(args[1], -1, INT32_MAX, "minor", &minor)) {
        return NULL;
    }
    const int copied = PyObject_IsTrue(args[2]);
    if (copied < 0) return NULL;
    HpyHandle *tensor = hpy_handle_take(args[0], HURRAY_HANDLE_TENSOR, "tensor");
    if (tensor == NULL) return NULL;
    const Py_ssize_t *strides = NULL;
    const HurrayView *view = hpy_view_of(args[0], &strides);
    if (view == NULL) return refuse_without_view();
    if (view->device != HURRAY_DEVICE_CPU) {
        return refuse_export("DLPack needs the number of the device, which a Hurray tensor does not have");
    }
    if ((view->flags & HURRAY_VIEW_QUANTIZED) != 0) {
        return refuse_export("DLPack has no quantization: export dequantize(), or the stored elements by numpy()");
    }
    const TypePair *pair = type_of_view(view);
    if (pair == NULL) {
        return refuse_export("DLPack has no such element type packed as Hurray packs it: export numpy(), which unpacks a copy");
    }
    if (pair->since_minor > 0 && minor < pair->since_minor) {
        return refuse_export("DLPack has 8-bit floats since version 1.1, which the consumer does not know");
    }
    const bool read_only = (view->flags & HURRAY_VIEW_READ_ONLY) != 0;
    if (minor < 0 && read_only) {
        return refuse_export("DLPack before version 1 cannot say that memory is read-only: ask for version 1, or for a copy");
    }

    const size_t rank = view->rank;
    Export *self = PyMem_Calloc(1, sizeof *self + 2 * rank * sizeof(int64_t));
    if (self == NULL) return PyErr_NoMemory();
    DlTensor *exported = minor < 0 ? &self->plain.tensor : &self->versioned.tensor;
    const Py_ssize_t item_size = pair->bits / 8;
    for (size_t i = 0; i < rank; ++i) {
        self->geometry[i] = view->shape[i];
        self->geometry[rank + i] = strides[i] / item_size;
    }
    exported->data = view->data;
    exported->device_type = dl_cpu;
    exported->ndim = (int32_t)rank;
    exported->dtype.code = pair->code;
    exported->dtype.bits = pair->bits;
    exported->dtype.lanes = 1;
    exported->shape = self->geometry;
    exported->strides = self->geometry + rank;
    PyObject *capsule = NULL;
    if (minor < 0) {
        self->plain.context = self;
        self->plain.deleter = delete_plain;
        capsule = PyCapsule_New(&self->plain, plain_name, end_plain_capsule);
    } else {
        self->versioned.major = dl_major;
        self->versioned.minor = minor < dl_minor ? (uint32_t)minor : dl_minor;
        self->versioned.context = self;
        self->versioned.deleter = delete_versioned;
        self->versioned.flags = (read_only ? DL_READ_ONLY : 0) | (copied ? DL_COPIED : 0);
        capsule = PyCapsule_New(&self->versioned, versioned_name, end_versioned_capsule);
    }
    if (capsule == NULL) {
        PyMem_Free(self);
        return NULL;
    }
    Py_INCREF(args[0]);
    self->tensor = args[0];
    ++tensor->exports;
    return capsule;
}

// --- Import -------------------------------------------------------------------------------------------------

static bool refuse(HurrayStatus status, const char *message) {
    hpy_raise_format(status, NULL, "%s", message);
    return false;
}

static void end_plain(void *context) {
    DlPlain *managed = context;
    if (managed->deleter != NULL) managed->deleter(managed);
}

static void end_versioned(void *context) {
    DlVersioned *managed = context;
    if (managed->deleter != NULL) managed->deleter(managed);
}

static bool type_of_tensor(const DlTensor *tensor, uint8_t *out) {
    const unsigned int code = tensor->dtype.code;
    const unsigned int bits = tensor->dtype.bits;
    if (tensor->dtype.lanes != 1) {
        hpy_raise_format(HURRAY_ERR_UNSUPPORTED, NULL, "dlpack: elements of %u lanes, expected 1",
                         (unsigned int)tensor->dtype.lanes);
        return false;
    }
    if (code == dl_bool) {
        return refuse(HURRAY_ERR_UNSUPPORTED, "dlpack: its booleans take a byte each, Hurray's a bit each: use Tensor.from_numpy, "
                                              "which packs a copy");
    }
    for (int i = 0; i < type_count; ++i) {
        if (types[i].code == code && types[i].bits == bits) {
            *out = types[i].ours;
            return true;
        }
    }
    hpy_raise_format(HURRAY_ERR_INVALID_TYPE, NULL, "dlpack: no element type for type code %u with %u bits", code, bits);
    return false;
}

// The geometry of a tensor in bytes, every product checked. `shape` and `strides` have room for PyBUF_MAX_NDIM.
static bool elements_of(const DlTensor *tensor, Py_ssize_t item_size, Py_ssize_t *shape, Py_ssize_t *strides, Py_buffer *out) {
    memset(out, 0, sizeof *out);
    if (tensor->ndim < 0 || tensor->ndim > PyBUF_MAX_NDIM) {
        hpy_raise_format(HURRAY_ERR_INVALID_LAYOUT, NULL, "dlpack: %d dimensions, expected 0 to %d", (int)tensor->ndim,
                         PyBUF_MAX_NDIM);
        return false;
    }
    if (tensor->ndim > 0 && tensor->shape == NULL) return refuse(HURRAY_ERR_NULL_POINTER, "dlpack: its shape is null");
    bool empty = false;
    for (int i = 0; i < tensor->ndim; ++i) {
        if (tensor->shape[i] < 0) {
            hpy_raise_format(HURRAY_ERR_INVALID_LAYOUT, NULL, "dlpack: size %lld of dimension %d, expected at least 0",
                             (long long)tensor->shape[i], i);
            return false;
        }
        shape[i] = (Py_ssize_t)tensor->shape[i];
        empty = empty || shape[i] == 0;
    }
    Py_ssize_t length = item_size;
    for (int i = tensor->ndim - 1; i >= 0; --i) {
        strides[i] = length;
        if (!empty && __builtin_mul_overflow(length, shape[i], &length)) {
            return refuse(HURRAY_ERR_INVALID_LAYOUT, "dlpack: its elements take more bytes than memory has");
        }
        // Of size 1, and in an empty tensor, a stride is never used.
        if (tensor->strides == NULL || empty || shape[i] == 1) continue;
        if (__builtin_mul_overflow((Py_ssize_t)tensor->strides[i], item_size, &strides[i])) {
            return refuse(HURRAY_ERR_INVALID_LAYOUT, "dlpack: its strides reach further than memory does");
        }
    }
    if (empty) length = 0;
    if (!empty && tensor->data == NULL) return refuse(HURRAY_ERR_NULL_POINTER, "dlpack: its data is null");
    uintptr_t address = 0;
    if (__builtin_add_overflow((uintptr_t)tensor->data, (uintptr_t)tensor->byte_offset, &address)) {
        return refuse(HURRAY_ERR_INVALID_LAYOUT, "dlpack: its byte_offset leads out of memory");
    }
    out->buf = (void *)address;
    out->len = length;
    out->itemsize = item_size;
    out->ndim = tensor->ndim;
    out->shape = shape;
    out->strides = tensor->ndim == 0 ? NULL : strides;
    return true;
}

// On failure the capsule keeps what it has.
static PyObject *take_tensor(PyObject *capsule, const DlTensor *source, bool read_only, const char *used,
                             void (*end)(void *context), void *managed) {
    if (source->device_type != dl_cpu && source->device_type != dl_cuda_host && source->device_type != dl_rocm_host) {
        return hpy_raise_format(HURRAY_ERR_UNSUPPORTED, NULL, "dlpack: its memory is not the host's (device type %d)",
                                (int)source->device_type);
    }
    uint8_t type = 0;
    if (!type_of_tensor(source, &type)) return NULL;
    Py_ssize_t shape[PyBUF_MAX_NDIM];
    Py_ssize_t strides[PyBUF_MAX_NDIM];
    Py_buffer elements;
    if (!elements_of(source, source->dtype.bits / 8, shape, strides, &elements)) return NULL;
    HpyLent *lent = hpy_lent_foreign(end, managed);
    if (lent == NULL) return NULL;
    HurrayTensor *tensor = hpy_tensor_of_elements(&elements, type, read_only, lent);
    if (tensor == NULL) return NULL;
    // Taken: whatever happens from here on, the capsule must not end what it no longer owns.
    (void)PyCapsule_SetName(capsule, used);
    return hpy_handle_new(HURRAY_HANDLE_TENSOR, tensor);
}

static PyObject *take_capsule(PyObject *capsule) {
    if (!PyCapsule_CheckExact(capsule)) {
        PyErr_Format(PyExc_TypeError, "__dlpack__: expected a PyCapsule, got %R", (PyObject *)Py_TYPE(capsule));
        return NULL;
    }
    if (PyCapsule_IsValid(capsule, plain_name)) {
        DlPlain *managed = PyCapsule_GetPointer(capsule, plain_name);
        return take_tensor(capsule, &managed->tensor, false, plain_used, end_plain, managed);
    }
    if (PyCapsule_IsValid(capsule, versioned_name)) {
        DlVersioned *managed = PyCapsule_GetPointer(capsule, versioned_name);
        // Of another major version nothing but the version and the deleter may be looked at.
        if (managed->major != dl_major) {
            return hpy_raise_format(HURRAY_ERR_VERSION_MISMATCH, NULL, "dlpack: made by version %u.%u, expected version %d",
                                    (unsigned int)managed->major, (unsigned int)managed->minor, dl_major);
        }
        const bool read_only = (managed->flags & DL_READ_ONLY) != 0;
        return take_tensor(capsule, &managed->tensor, read_only, versioned_used, end_versioned, managed);
    }
    if (PyCapsule_IsValid(capsule, plain_used) || PyCapsule_IsValid(capsule, versioned_used)) {
        return hpy_raise_format(HURRAY_ERR_INVALID_ARGUMENT, NULL, "capsule: was taken already (\"%s\")",
                                PyCapsule_GetName(capsule));
    }
    const char *name = PyCapsule_GetName(capsule);
    PyErr_Clear();
    return hpy_raise_format(HURRAY_ERR_INVALID_ARGUMENT, NULL, "capsule: expected the name \"%s\" or \"%s\", got \"%.100s\"",
                            plain_name, versioned_name, name == NULL ? "" : name);
}

// The class that was last seen to know nothing of versions: NumPy before 2.1, PyTorch before 2.9. Asking it with one costs an
// exception each time.
static PyObject *old_class;

// Asks `source` for a capsule; an exporter that takes no keyword is asked again without.
static PyObject *ask(PyObject *source, PyObject *keywords) {
    PyObject *method = PyObject_GetAttrString(source, "__dlpack__");
    if (method == NULL) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
            PyErr_Format(PyExc_TypeError, "expected an object with __dlpack__, or a capsule of DLPack, got %R",
                         (PyObject *)Py_TYPE(source));
        }
        return NULL;
    }
    PyObject *capsule = NULL;
    PyObject *source_class = (PyObject *)Py_TYPE(source);
    if (source_class == old_class && keywords == Py_None) {
        capsule = PyObject_CallFunctionObjArgs(method, NULL);
    } else {
        PyObject *no_arguments = PyTuple_New(0);
        PyObject *all = keywords == Py_None ? PyDict_New() : PyDict_Copy(keywords);
        PyObject *version = Py_BuildValue("(ii)", dl_major, dl_minor);
        if (no_arguments != NULL && all != NULL && version != NULL && PyDict_SetItemString(all, "max_version", version) == 0) {
            capsule = PyObject_Call(method, no_arguments, all);
        }
        Py_XDECREF(no_arguments);
        Py_XDECREF(all);
        Py_XDECREF(version);
        if (capsule == NULL && keywords == Py_None && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            capsule = PyObject_CallFunctionObjArgs(method, NULL);
            if (capsule != NULL) {
                PyObject *old = old_class;
                Py_INCREF(source_class);
                old_class = source_class;
                Py_XDECREF(old);
            }
        }
    }
    Py_DECREF(method);
    return capsule;
}

PyObject *hpy_dlpack_import(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    if (hpy_calls() == NULL || !hpy_expect(count, 2, "dlpack_import(source, keywords)")) return NULL;
    if (PyCapsule_CheckExact(args[0])) return take_capsule(args[0]);
    if (args[1] != Py_None && !PyDict_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "keywords: expected None or a dictionary");
        return NULL;
    }
    PyObject *capsule = ask(args[0], args[1]);
    if (capsule == NULL) return NULL;
    PyObject *tensor = take_capsule(capsule);
    Py_DECREF(capsule);
    return tensor;
}

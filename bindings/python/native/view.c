#include "bindings/python/native/view.h"

#include <string.h>

#include "bindings/python/native/convert.h"
#include "bindings/python/native/errors.h"
#include "bindings/python/native/handle.h"
#include "bindings/python/native/library.h"

// A view that was asked for once is kept: asking again costs no call into the library. Its pointers live as long as the
// tensor, which cannot be closed while an export lives.
struct HpyView {
    HurrayView view;
    Py_ssize_t item_size;  // 0 for packed elements
    Py_ssize_t length;     // element_count * item_size; byte_size for packed elements
    Py_ssize_t span;       // byte_size
    Py_ssize_t *geometry;  // `rank` sizes, then `rank` strides in bytes; null for rank 0
};

typedef enum Mode { mode_typed, mode_bits, mode_span } Mode;

static const char *const no_memory = "";  // address of views without elements: never read, but not null

void hpy_view_free(HpyView *view) {
    if (view == NULL) return;
    PyMem_Free(view->geometry);
    PyMem_Free(view);
}

static const char *format_of(uint8_t element_type) {
    switch (element_type) {
        case HURRAY_TYPE_FLOAT16: return "e";
        case HURRAY_TYPE_FLOAT32: return "f";
        case HURRAY_TYPE_FLOAT64: return "d";
        case HURRAY_TYPE_INT8: return "b";
        case HURRAY_TYPE_UINT8: return "B";
        case HURRAY_TYPE_INT16: return "h";
        case HURRAY_TYPE_UINT16: return "H";
        case HURRAY_TYPE_INT32: return "i";
        case HURRAY_TYPE_UINT32: return "I";
        case HURRAY_TYPE_INT64: return "q";
        case HURRAY_TYPE_UINT64: return "Q";
        case HURRAY_TYPE_COMPLEX64: return "Zf";
        case HURRAY_TYPE_COMPLEX128: return "Zd";
        default: return NULL;  // bfloat16, the 8-bit floats and packed types have no letter
    }
}

static const char *bits_format(Py_ssize_t item_size) {
    switch (item_size) {
        case 1: return "B";
        case 2: return "H";
        case 4: return "I";
        case 8: return "Q";
        default: return NULL;
    }
}

static bool too_large(void) {
    hpy_raise_format(HURRAY_ERR_UNSUPPORTED, NULL, "tensor: its view is larger than this Python can address");
    return false;
}

static bool set_geometry(HpyView *view) {
    const HurrayView *source = &view->view;
    const Py_ssize_t rank = source->rank;
    if (source->byte_size > (uint64_t)PY_SSIZE_T_MAX) return too_large();
    view->span = (Py_ssize_t)source->byte_size;
    view->item_size = source->bits % 8 == 0 ? (Py_ssize_t)(source->bits / 8) : 0;
    if (source->element_count > (uint64_t)PY_SSIZE_T_MAX ||
        __builtin_mul_overflow((Py_ssize_t)source->element_count, view->item_size, &view->length)) {
        return too_large();
    }
    if (view->item_size == 0) view->length = view->span;
    if (rank == 0) return true;
    view->geometry = PyMem_Calloc((size_t)rank * 2, sizeof(Py_ssize_t));
    if (view->geometry == NULL) {
        PyErr_NoMemory();
        return false;
    }
    Py_ssize_t *strides = view->geometry + rank;
    Py_ssize_t next = view->item_size;
    for (Py_ssize_t i = rank - 1; i >= 0; --i) {
        view->geometry[i] = (Py_ssize_t)source->shape[i];
        if (source->strides != NULL) {
            if (__builtin_mul_overflow((Py_ssize_t)source->strides[i], view->item_size, &strides[i])) return too_large();
            continue;
        }
        strides[i] = next;
        // An empty tensor may have sizes whose product does not fit: its strides are never used.
        const Py_ssize_t size = view->geometry[i] == 0 ? 1 : view->geometry[i];
        if (__builtin_mul_overflow(next, size, &next)) {
            if (source->element_count != 0) return too_large();
            next = view->item_size;
        }
    }
    return true;
}

static HpyView *view_of(HpyHandle *tensor) {
    if (tensor->view != NULL) return tensor->view;
    const HpyCalls *calls = hpy_loaded_calls();
    HpyView *view = PyMem_Calloc(1, sizeof *view);
    if (view == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    view->view.struct_size = sizeof view->view;
    HurrayError error;
    const HurrayStatus status = calls->hurray_tensor_view(tensor->pointer, &view->view, &error);
    if (status != HURRAY_OK) {
        hpy_raise(status, &error, "hurray_tensor_view");
        hpy_view_free(view);
        return NULL;
    }
    if (!set_geometry(view)) {
        hpy_view_free(view);
        return NULL;
    }
    tensor->view = view;
    return view;
}

const HurrayView *hpy_view_of(PyObject *tensor, const Py_ssize_t **out_strides) {
    const HpyView *view = view_of((HpyHandle *)tensor);
    if (view == NULL) return NULL;
    *out_strides = view->geometry == NULL ? NULL : view->geometry + view->view.rank;
    return &view->view;
}

static int refuse(const char *reason) {
    PyErr_SetString(PyExc_BufferError, reason);
    return -1;
}

static bool asks(int flags, int what) { return (flags & what) == what; }

// What the view is in the given mode, all fields filled; then what the consumer did not ask for is taken out.
static int fill(HpyHandle *tensor, PyObject *exporter, Mode mode, Py_buffer *out, int flags) {
    out->obj = NULL;
    if (hpy_handle_take((PyObject *)tensor, HURRAY_HANDLE_TENSOR, "tensor") == NULL) return -1;
    HpyView *view = view_of(tensor);
    if (view == NULL) return -1;
    const HurrayView *source = &view->view;
    if (source->device != HURRAY_DEVICE_CPU) {
        hpy_raise_format(HURRAY_ERR_UNSUPPORTED, NULL, "tensor: its memory is not the host's (device %u)",
                         (unsigned int)source->device);
        return -1;
    }
    const bool read_only = (source->flags & HURRAY_VIEW_READ_ONLY) != 0;
    if (asks(flags, PyBUF_WRITABLE) && read_only) return refuse("the tensor's memory is read-only");
    const bool contiguous = (source->flags & HURRAY_VIEW_CONTIGUOUS) != 0;
    const bool packed = view->item_size == 0;
    // A consumer that asks for neither shape nor format wants bytes, and contiguous elements of any type are that.
    if (mode == mode_typed && contiguous && (flags & (PyBUF_ND | PyBUF_FORMAT)) == 0) mode = mode_span;
    if (packed && mode != mode_span) {
        return refuse("elements smaller than a byte have no view of their own: use Tensor.numpy(), which unpacks a copy, or "
                      "Tensor.raw_bytes()");
    }

    memset(out, 0, sizeof *out);
    char *data = source->data == NULL ? (char *)no_memory : source->data;
    Py_ssize_t item = view->item_size;
    if (mode == mode_span) {
        out->buf = source->data == NULL ? data : data - source->bytes_below;
        out->len = view->span;
        item = 1;
        out->format = "B";
        out->ndim = 1;
        out->shape = &view->span;
        out->strides = NULL;
    } else {
        out->buf = data;
        out->len = view->length;
        out->format = (char *)(mode == mode_bits ? bits_format(item) : format_of(source->element_type));
        out->ndim = source->rank;
        out->shape = view->geometry;
        out->strides = source->rank == 0 ? NULL : view->geometry + source->rank;
    }
    out->itemsize = item;
    out->readonly = read_only;
    if (asks(flags, PyBUF_FORMAT) && out->format == NULL) {
        return refuse("Python has no format letter for this element type: use Tensor.numpy(), or Tensor.raw() for its bits");
    }
    // PyBuffer_IsContiguous takes absent strides for C order.
    const bool c_order = PyBuffer_IsContiguous(out, 'C') != 0;
    const bool f_order = PyBuffer_IsContiguous(out, 'F') != 0;
    if (asks(flags, PyBUF_C_CONTIGUOUS) && !c_order) return refuse("the tensor is not C-contiguous");
    if (asks(flags, PyBUF_F_CONTIGUOUS) && !f_order) return refuse("the tensor is not Fortran-contiguous");
    if (asks(flags, PyBUF_ANY_CONTIGUOUS) && !c_order && !f_order) return refuse("the tensor is not contiguous");
    if (!asks(flags, PyBUF_STRIDES)) {
        if (!c_order) return refuse("the tensor is not C-contiguous and the consumer takes no strides");
        out->strides = NULL;
    } else if (mode == mode_span) {
        static Py_ssize_t one = 1;
        out->strides = &one;
    }
    if (!asks(flags, PyBUF_ND)) out->shape = NULL;
    if (!asks(flags, PyBUF_FORMAT)) out->format = NULL;
    Py_INCREF(exporter);
    out->obj = exporter;
    ++tensor->exports;
    return 0;
}

int hpy_view_get(PyObject *tensor, Py_buffer *out, int flags) {
    return fill((HpyHandle *)tensor, tensor, mode_typed, out, flags);
}

void hpy_view_release(PyObject *tensor, Py_buffer *buffer) {
    (void)buffer;
    --((HpyHandle *)tensor)->exports;
}

// --- Raw views ----------------------------------------------------------------------------------------------

typedef struct RawView {
    PyObject_HEAD
    PyObject *tensor;
    Mode mode;
} RawView;

static PyTypeObject *raw_type;

static int raw_get(PyObject *object, Py_buffer *out, int flags) {
    RawView *self = (RawView *)object;
    return fill((HpyHandle *)self->tensor, object, self->mode, out, flags);
}

static void raw_release(PyObject *object, Py_buffer *buffer) { hpy_view_release(((RawView *)object)->tensor, buffer); }

static void raw_dealloc(PyObject *object) {
    Py_CLEAR(((RawView *)object)->tensor);
    PyTypeObject *type = Py_TYPE(object);
    const freefunc release = __extension__(freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyType_Slot raw_slots[] = {
    {Py_tp_doc, "Another form of a tensor's view, for memoryview() and NumPy."},
    {Py_tp_dealloc, HPY_SLOT(raw_dealloc)},
    {Py_bf_getbuffer, HPY_SLOT(raw_get)},
    {Py_bf_releasebuffer, HPY_SLOT(raw_release)},
    {0, NULL},
};

static PyType_Spec raw_spec = {"hurray._native.RawView", sizeof(RawView), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, raw_slots};

bool hpy_view_add(PyObject *module) {
    if (raw_type == NULL) raw_type = (PyTypeObject *)PyType_FromSpec(&raw_spec);
    return raw_type != NULL && PyModule_AddObjectRef(module, "RawView", (PyObject *)raw_type) == 0;
}

PyObject *hpy_view_raw(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    if (!hpy_expect(count, 2, "raw_view(tensor, mode)")) return NULL;
    if (hpy_handle_take(args[0], HURRAY_HANDLE_TENSOR, "tensor") == NULL) return NULL;
    if (!PyUnicode_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "mode: expected a str");
        return NULL;
    }
    const bool bits = PyUnicode_CompareWithASCIIString(args[1], "bits") == 0;
    if (!bits && PyUnicode_CompareWithASCIIString(args[1], "span") != 0) {
        PyErr_SetString(PyExc_ValueError, "mode: expected \"bits\" or \"span\"");
        return NULL;
    }
    const allocfunc alloc = __extension__(allocfunc)PyType_GetSlot(raw_type, Py_tp_alloc);
    RawView *self = (RawView *)alloc(raw_type, 0);
    if (self == NULL) return NULL;
    Py_INCREF(args[0]);
    self->tensor = args[0];
    self->mode = bits ? mode_bits : mode_span;
    return (PyObject *)self;
}

PyObject *hpy_view_info(PyObject *module, PyObject *object) {
    (void)module;
    HpyHandle *tensor = hpy_handle_take(object, HURRAY_HANDLE_TENSOR, "tensor");
    HpyView *view = tensor == NULL ? NULL : view_of(tensor);
    if (view == NULL) return NULL;
    const HurrayView *v = &view->view;
    PyObject *shape = v->rank == 0 ? PyTuple_New(0) : hpy_tuple_i64(v->shape, v->rank);
    return hpy_tuple(11, PyLong_FromUnsignedLong(v->flags), PyLong_FromVoidPtr(v->data),
                     PyLong_FromUnsignedLongLong(v->byte_size), PyLong_FromUnsignedLong(v->element_type),
                     PyLong_FromUnsignedLong(v->layout), PyLong_FromUnsignedLong(v->device), PyLong_FromUnsignedLong(v->bits),
                     shape, hpy_tuple_i64(v->strides, v->rank), PyLong_FromUnsignedLongLong(v->bytes_below),
                     PyLong_FromUnsignedLongLong(v->element_count));
}

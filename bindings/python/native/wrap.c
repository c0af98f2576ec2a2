#include "bindings/python/native/wrap.h"

#include <string.h>

#include "bindings/python/gen/structs.h"
#include "bindings/python/native/convert.h"
#include "bindings/python/native/errors.h"
#include "bindings/python/native/handle.h"
#include "bindings/python/native/lent.h"
#include "bindings/python/native/library.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Hurray's element types are little-endian, and so must the host be"
#endif

static uint8_t refuse_format(const char *format) {
    hpy_raise_format(HURRAY_ERR_INVALID_TYPE, NULL,
                     "object: no element type for the buffer format \"%s\"; name the type, or convert the data", format);
    return 0;
}

static uint8_t sized(bool is_signed, Py_ssize_t size, const char *format) {
    switch (size) {
        case 1: return is_signed ? HURRAY_TYPE_INT8 : HURRAY_TYPE_UINT8;
        case 2: return is_signed ? HURRAY_TYPE_INT16 : HURRAY_TYPE_UINT16;
        case 4: return is_signed ? HURRAY_TYPE_INT32 : HURRAY_TYPE_UINT32;
        case 8: return is_signed ? HURRAY_TYPE_INT64 : HURRAY_TYPE_UINT64;
        default: return refuse_format(format);
    }
}

// The element type of a buffer format (struct module), or 0 with an exception set.
static uint8_t type_of_format(const char *format, Py_ssize_t size) {
    if (format == NULL) return HURRAY_TYPE_UINT8;
    const char *letters = format;
    if (*letters == '@' || *letters == '=' || *letters == '<') ++letters;
    // Big-endian; of single bytes there is no order.
    if ((*letters == '>' || *letters == '!') && size == 1) ++letters;
    if (strcmp(letters, "Zf") == 0) return HURRAY_TYPE_COMPLEX64;
    if (strcmp(letters, "Zd") == 0) return HURRAY_TYPE_COMPLEX128;
    if (letters[0] == '\0' || letters[1] != '\0') return refuse_format(format);
    switch (letters[0]) {
        case 'e': return HURRAY_TYPE_FLOAT16;
        case 'f': return HURRAY_TYPE_FLOAT32;
        case 'd': return HURRAY_TYPE_FLOAT64;
        case 'b': case 'h': case 'i': case 'l': case 'q': case 'n': return sized(true, size, format);
        case 'B': case 'H': case 'I': case 'L': case 'Q': case 'N': return sized(false, size, format);
        case '?':
            hpy_raise_format(HURRAY_ERR_INVALID_TYPE, NULL,
                             "object: its booleans take a byte each, Hurray's a bit each: pack a copy of them");
            return 0;
        default: return refuse_format(format);
    }
}

static Py_ssize_t size_of_type(uint8_t element_type) {
    switch (element_type) {
        case HURRAY_TYPE_INT8: case HURRAY_TYPE_UINT8: case HURRAY_TYPE_FLOAT8_E4M3: case HURRAY_TYPE_FLOAT8_E5M2:
        case HURRAY_TYPE_FLOAT8_E8M0: return 1;
        case HURRAY_TYPE_FLOAT16: case HURRAY_TYPE_BFLOAT16: case HURRAY_TYPE_INT16: case HURRAY_TYPE_UINT16: return 2;
        case HURRAY_TYPE_FLOAT32: case HURRAY_TYPE_INT32: case HURRAY_TYPE_UINT32: return 4;
        case HURRAY_TYPE_FLOAT64: case HURRAY_TYPE_INT64: case HURRAY_TYPE_UINT64: case HURRAY_TYPE_COMPLEX64: return 8;
        case HURRAY_TYPE_FLOAT128: case HURRAY_TYPE_COMPLEX128: return 16;
        default: return 0;
    }
}

// Memory that a strided buffer reaches, relative to its first element.
typedef struct Reach {
    uint64_t below;  // bytes before the first element
    uint64_t size;   // bytes in all
} Reach;

static bool overflow(void) {
    hpy_raise_format(HURRAY_ERR_INVALID_LAYOUT, NULL, "object: its shape and strides reach further than memory does");
    return false;
}

static bool strided_reach(const Py_buffer *buffer, int64_t *strides, Reach *out) {
    int64_t low = 0;
    int64_t high = 0;
    for (int i = 0; i < buffer->ndim; ++i) {
        const Py_ssize_t size = buffer->shape[i];
        Py_ssize_t stride = buffer->strides[i];
        if (size == 1) stride = 0;  // never used, and some exporters put anything there
        if (stride % buffer->itemsize != 0) {
            hpy_raise_format(HURRAY_ERR_INVALID_LAYOUT, NULL,
                             "object: stride %zd of dimension %d is no multiple of the element's %zd bytes; copy the data",
                             stride, i, buffer->itemsize);
            return false;
        }
        strides[i] = stride / buffer->itemsize;
        int64_t reach = 0;
        int64_t *side = stride < 0 ? &low : &high;
        if (__builtin_mul_overflow((int64_t)stride, (int64_t)(size - 1), &reach) ||
            __builtin_add_overflow(*side, reach, side)) {
            return overflow();
        }
    }
    int64_t extent = 0;
    if (__builtin_sub_overflow(high, low, &extent) || __builtin_add_overflow(extent, (int64_t)buffer->itemsize, &extent)) {
        return overflow();
    }
    out->below = (uint64_t)-low;
    out->size = (uint64_t)extent;
    return true;
}

// Ownership of `lent` moves to the tensor when the call succeeds.
static HurrayTensor *make_tensor(const HpyCalls *calls, const HurrayDenseSpec *spec, char *data, uint64_t size, HpyLent *lent) {
    hpy_drain(calls);
    HurrayTensor *tensor = NULL;
    HurrayError error;
    const HurrayStatus status = calls->hurray_tensor_from_host(spec, size == 0 ? NULL : data, size, hpy_lent_release, lent,
                                                               hpy_queue(), &tensor, &error);
    if (status != HURRAY_OK) {
        hpy_lent_forget(lent);
        hpy_raise(status, &error, "hurray_tensor_from_host");
        return NULL;
    }
    return tensor;
}

// Takes over `tensor`; null: an exception is set.
static PyObject *object_of(HurrayTensor *tensor) {
    return tensor == NULL ? NULL : hpy_handle_new(HURRAY_HANDLE_TENSOR, tensor);
}

HurrayTensor *hpy_tensor_of_elements(const Py_buffer *elements, uint8_t element_type, bool read_only, HpyLent *lent) {
    if (elements->ndim < 0 || elements->ndim > PyBUF_MAX_NDIM || elements->itemsize <= 0) {
        hpy_raise_format(HURRAY_ERR_INVALID_LAYOUT, NULL, "object: %d dimensions of %zd-byte elements", elements->ndim,
                         elements->itemsize);
        goto refused;
    }
    if (size_of_type(element_type) != elements->itemsize) {
        hpy_raise_format(HURRAY_ERR_INVALID_TYPE, NULL, "element_type: type %u does not have the %zd bytes of the object's elements",
                         (unsigned int)element_type, elements->itemsize);
        goto refused;
    }
    uint64_t shape[PyBUF_MAX_NDIM];
    int64_t strides[PyBUF_MAX_NDIM];
    HurrayDenseSpec spec;
    memset(&spec, 0, sizeof spec);
    spec.struct_size = sizeof spec;
    spec.element_type = element_type;
    spec.read_only = read_only;
    spec.rank = (uint32_t)elements->ndim;
    spec.shape = shape;
    for (int i = 0; i < elements->ndim; ++i) shape[i] = (uint64_t)elements->shape[i];
    char *data = elements->buf;
    Reach reach = {0, (uint64_t)elements->len};
    if (PyBuffer_IsContiguous(elements, 'C')) {
        spec.layout = HURRAY_LAYOUT_ROW_MAJOR;
    } else if (PyBuffer_IsContiguous(elements, 'F')) {
        spec.layout = HURRAY_LAYOUT_COL_MAJOR;
    } else {
        if (!strided_reach(elements, strides, &reach)) goto refused;
        spec.layout = HURRAY_LAYOUT_STRIDED;
        spec.strides = strides;
        spec.byte_offset = reach.below;
        data -= reach.below;
    }
    return make_tensor(hpy_loaded_calls(), &spec, data, reach.size, lent);

refused:
    hpy_lent_forget(lent);
    return NULL;
}

PyObject *hpy_tensor_from_array(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    uint64_t type = 0;
    if (hpy_calls() == NULL || !hpy_expect(count, 3, "tensor_from_array(object, element_type, read_only)") ||
        !hpy_unsigned(args[1], UINT8_MAX, "element_type", &type)) {
        return NULL;
    }
    const int read_only = PyObject_IsTrue(args[2]);
    if (read_only < 0) return NULL;
    HpyLent *lent = hpy_lent_new(args[0], PyBUF_RECORDS_RO);
    if (lent == NULL) return NULL;
    const Py_buffer *buffer = hpy_lent_buffer(lent);
    if (type == 0 && buffer->itemsize > 0) {
        type = type_of_format(buffer->format, buffer->itemsize);
        if (type == 0) {
            hpy_lent_forget(lent);
            return NULL;
        }
    }
    return object_of(hpy_tensor_of_elements(buffer, (uint8_t)type, buffer->readonly || read_only, lent));
}

PyObject *hpy_tensor_from_memory(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    uint64_t type = 0;
    uint64_t layout = 0;
    uint64_t byte_offset = 0;
    if (calls == NULL ||
        !hpy_expect(count, 7, "tensor_from_memory(object, element_type, layout, shape, strides, byte_offset, read_only)") ||
        !hpy_unsigned(args[1], UINT8_MAX, "element_type", &type) || !hpy_unsigned(args[2], UINT8_MAX, "layout", &layout) ||
        !hpy_unsigned(args[5], UINT64_MAX, "byte_offset", &byte_offset)) {
        return NULL;
    }
    const int read_only = PyObject_IsTrue(args[6]);
    if (read_only < 0) return NULL;
    HpyNumbers shape = {NULL, 0};
    HpyNumbers strides = {NULL, 0};
    HpyLent *lent = NULL;
    PyObject *result = NULL;
    if (!hpy_u64_numbers(args[3], "shape", &shape) || !hpy_length32(shape.length, "shape")) goto done;
    if (args[4] != Py_None && (!hpy_i64_numbers(args[4], "strides", &strides) ||
                               !hpy_same_length(shape.length, strides.length, "shape and strides"))) {
        goto done;
    }
    lent = hpy_lent_new(args[0], PyBUF_SIMPLE);
    if (lent == NULL) goto done;
    const Py_buffer *buffer = hpy_lent_buffer(lent);
    HurrayDenseSpec spec;
    memset(&spec, 0, sizeof spec);
    spec.struct_size = sizeof spec;
    spec.element_type = (uint8_t)type;
    spec.layout = (uint8_t)layout;
    spec.read_only = buffer->readonly || read_only;
    spec.rank = (uint32_t)shape.length;
    spec.shape = shape.data;
    spec.strides = strides.data;
    spec.byte_offset = byte_offset;
    result = object_of(make_tensor(calls, &spec, buffer->buf, (uint64_t)buffer->len, lent));

done:
    hpy_numbers_release(&shape);
    hpy_numbers_release(&strides);
    return result;
}

PyObject *hpy_buffer_from_memory(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    if (calls == NULL || !hpy_expect(count, 2, "buffer_from_memory(object, read_only)")) return NULL;
    const int read_only = PyObject_IsTrue(args[1]);
    if (read_only < 0) return NULL;
    HpyLent *lent = hpy_lent_new(args[0], PyBUF_SIMPLE);
    if (lent == NULL) return NULL;
    hpy_drain(calls);
    const Py_buffer *memory = hpy_lent_buffer(lent);
    const uint64_t size = (uint64_t)memory->len;
    HurrayBuffer *buffer = NULL;
    uint64_t byte_offset = 0;
    HurrayError error;
    const HurrayStatus status =
        calls->hurray_buffer_from_host(size == 0 ? NULL : memory->buf, size, memory->readonly || read_only,
                                       hpy_lent_release, lent, &buffer, &byte_offset, &error);
    if (status != HURRAY_OK) {
        hpy_lent_forget(lent);
        return hpy_raise(status, &error, "hurray_buffer_from_host");
    }
    // Cannot fail: the handle is new, lent by us, and nobody shares it.
    (void)calls->hurray_buffer_set_release_queue(buffer, hpy_queue(), NULL);
    return hpy_tuple(2, hpy_handle_new(HURRAY_HANDLE_BUFFER, buffer), PyLong_FromUnsignedLongLong(byte_offset));
}

PyObject *hpy_buffer_from_ptr(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    uint64_t alignment = 0;
    uint64_t device = 0;
    if (calls == NULL || !hpy_expect(count, 3, "buffer_from_ptr(object, alignment, device)") ||
        !hpy_unsigned(args[1], UINT32_MAX, "alignment", &alignment) || !hpy_unsigned(args[2], UINT8_MAX, "device", &device)) {
        return NULL;
    }
    HpyLent *lent = hpy_lent_new(args[0], PyBUF_SIMPLE);
    if (lent == NULL) return NULL;
    hpy_drain(calls);
    const Py_buffer *memory = hpy_lent_buffer(lent);
    const bool read_only = memory->readonly != 0;
    HurrayBuffer *buffer = NULL;
    HurrayStatus status =
        calls->hurray_buffer_from_ptr(memory->len == 0 ? NULL : memory->buf, (uint64_t)memory->len, (uint32_t)alignment,
                                      (uint8_t)device, hpy_lent_release, lent, &buffer);
    if (status != HURRAY_OK) {
        hpy_lent_forget(lent);
        return hpy_raise(status, NULL, "hurray_buffer_from_ptr");
    }
    (void)calls->hurray_buffer_set_release_queue(buffer, hpy_queue(), NULL);
    if (read_only) (void)calls->hurray_buffer_set_read_only(buffer, NULL);
    return hpy_handle_new(HURRAY_HANDLE_BUFFER, buffer);
}

PyObject *hpy_tensor_context_new(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    uint64_t version = 0;
    if (calls == NULL || !hpy_expect(count, 3, "tensor_context_new(abi_version, descriptor, owner)") ||
        !hpy_unsigned(args[0], UINT32_MAX, "abi_version", &version)) {
        return NULL;
    }
    HpyBytes descriptor;
    if (!hpy_bytes(args[1], "descriptor", &descriptor)) return NULL;
    PyObject *result = NULL;
    HpyOwner *owner = NULL;
    if (args[2] != Py_None) {
        owner = hpy_owner_new(args[2]);
        if (owner == NULL) goto done;
    }
    hpy_drain(calls);
    HurrayTensorContext *context = NULL;
    const HurrayStatus status =
        calls->hurray_tensor_context_new((uint32_t)version, descriptor.data, descriptor.length, owner,
                                         owner == NULL ? NULL : hpy_owner_release, &context);
    if (status != HURRAY_OK) {
        hpy_owner_forget(owner);
        hpy_raise(status, NULL, "hurray_tensor_context_new");
        goto done;
    }
    (void)calls->hurray_tensor_context_set_release_queue(context, hpy_queue(), NULL);
    result = hpy_handle_new(HURRAY_HANDLE_TENSOR_CONTEXT, context);

done:
    hpy_bytes_release(&descriptor);
    return result;
}

PyObject *hpy_reader_from_memory(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    HurrayStreamOptions options;
    if (calls == NULL || !hpy_expect(count, 2, "reader_from_memory(object, options)") ||
        !hpy_to_HurrayStreamOptions(args[1], &options)) {
        return NULL;
    }
    HpyLent *lent = hpy_lent_new(args[0], PyBUF_SIMPLE);
    if (lent == NULL) return NULL;
    const Py_buffer *memory = hpy_lent_buffer(lent);
    HurrayReader *reader = NULL;
    HurrayError error;
    const HurrayStatus status = calls->hurray_reader_from_memory(memory->len == 0 ? NULL : memory->buf, (uint64_t)memory->len,
                                                                 args[1] == Py_None ? NULL : &options, &reader, &error);
    if (status != HURRAY_OK) {
        hpy_lent_forget(lent);
        return hpy_raise(status, &error, "hurray_reader_from_memory");
    }
    PyObject *object = hpy_handle_new(HURRAY_HANDLE_READER, reader);
    if (object == NULL) {
        hpy_lent_forget(lent);
        return NULL;
    }
    ((HpyHandle *)object)->kept = lent;
    return object;
}

PyObject *hpy_descriptor_encode(PyObject *module, PyObject *object) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    HpyHandle *handle = calls == NULL ? NULL : hpy_handle_take(object, HURRAY_HANDLE_DESCRIPTOR, "descriptor");
    if (handle == NULL) return NULL;
    HurrayDescriptorInfo info;
    memset(&info, 0, sizeof info);
    info.struct_size = sizeof info;
    HurrayError error;
    HurrayStatus status = calls->hurray_descriptor_info(handle->pointer, &info, &error);
    if (status != HURRAY_OK) return hpy_raise(status, &error, "hurray_descriptor_info");
    if (info.descriptor_length > (uint64_t)PY_SSIZE_T_MAX) return PyErr_NoMemory();
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)info.descriptor_length);
    if (bytes == NULL) return NULL;
    uint64_t written = 0;
    status = calls->hurray_descriptor_encode(handle->pointer, (uint8_t *)PyBytes_AsString(bytes), info.descriptor_length,
                                             &written, &error);
    if (status != HURRAY_OK) {
        Py_DECREF(bytes);
        return hpy_raise(status, &error, "hurray_descriptor_encode");
    }
    return bytes;
}

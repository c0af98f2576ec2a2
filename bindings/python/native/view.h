// The buffer protocol over tensors: typed views, and views of the raw bits.
#ifndef HPY_VIEW_H_
#define HPY_VIEW_H_

#include "bindings/python/native/hpy.h"

typedef struct HpyView HpyView;

void hpy_view_free(HpyView *view);

// The view of a tensor, and its strides in bytes, one a dimension (packed elements: all 0); both live as long as the tensor
// is open. Null with an exception set for tensors that have no view.
const HurrayView *hpy_view_of(PyObject *tensor, const Py_ssize_t **out_strides);

// Buffer slots of tensors. Each live export is counted in the handle.
int hpy_view_get(PyObject *tensor, Py_buffer *out, int flags);
void hpy_view_release(PyObject *tensor, Py_buffer *buffer);

// Makes the class of raw views and puts it into the module.
bool hpy_view_add(PyObject *module);
// raw_view(tensor, "bits" | "span"): an object with the buffer protocol.
//   bits: the tensor's shape, each element an unsigned integer of its width
//   span: one dimension of bytes, from the lowest to the highest byte that an element lies in
PyObject *hpy_view_raw(PyObject *module, PyObject *const *args, Py_ssize_t count);
// view_info(tensor) -> (flags, address, byte_size, element_type, layout, device, bits, shape, strides | None, bytes_below,
// element_count); strides in elements, None when contiguous
PyObject *hpy_view_info(PyObject *module, PyObject *tensor);

#endif  // HPY_VIEW_H_

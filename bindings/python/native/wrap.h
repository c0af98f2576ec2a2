// Python memory as buffers and tensors, without copying; and the calls that need more than a generated wrapper.
#ifndef HPY_WRAP_H_
#define HPY_WRAP_H_

#include "bindings/python/native/hpy.h"
#include "bindings/python/native/lent.h"

// tensor_from_array(object, element_type, read_only): any layout of strides; element_type 0: from the buffer's format
PyObject *hpy_tensor_from_array(PyObject *module, PyObject *const *args, Py_ssize_t count);
// tensor_from_memory(object, element_type, layout, shape, strides | None, byte_offset, read_only): contiguous bytes
PyObject *hpy_tensor_from_memory(PyObject *module, PyObject *const *args, Py_ssize_t count);
// buffer_from_memory(object, read_only) -> (buffer, byte_offset): memory of any alignment
PyObject *hpy_buffer_from_memory(PyObject *module, PyObject *const *args, Py_ssize_t count);
// buffer_from_ptr(object, alignment, device): memory that has the alignment
PyObject *hpy_buffer_from_ptr(PyObject *module, PyObject *const *args, Py_ssize_t count);
// tensor_context_new(abi_version, descriptor, owner | None): the owner is kept until the context ends
PyObject *hpy_tensor_context_new(PyObject *module, PyObject *const *args, Py_ssize_t count);
// reader_from_memory(object, options | None): the memory is kept until the reader is closed
PyObject *hpy_reader_from_memory(PyObject *module, PyObject *const *args, Py_ssize_t count);
// descriptor_encode(descriptor) -> bytes
PyObject *hpy_descriptor_encode(PyObject *module, PyObject *descriptor);

// A tensor over strided elements in memory: of `elements` the address, length, geometry and item size count. `lent` moves to
// the tensor; it is forgotten when the call fails, which is an exception then. The library is loaded.
HurrayTensor *hpy_tensor_of_elements(const Py_buffer *elements, uint8_t element_type, bool read_only, HpyLent *lent);

#endif  // HPY_WRAP_H_

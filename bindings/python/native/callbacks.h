// Python callables as sources and sinks of bytes, and as makers of tensors: what the library calls while it reads or writes.
//
// The library gets the callable itself as context, without a reference: whoever makes the reader or writer keeps it until
// the handle has ended. A callable must not raise: the package wraps each into one that keeps what was raised for the
// method that is under way and returns a status code instead.
#ifndef HPY_CALLBACKS_H_
#define HPY_CALLBACKS_H_

#include "bindings/python/native/hpy.h"

// reader_from_callback(read, options) -> reader; read(capacity) -> bytes of at most that length, or a negative status
PyObject *hpy_reader_from_callback(PyObject *module, PyObject *const *args, Py_ssize_t count);
// reader_read(reader, into) -> how many bytes were read into an object with a writable buffer
PyObject *hpy_reader_read(PyObject *module, PyObject *const *args, Py_ssize_t count);
// writer_to_callback(write, options) -> writer; write(bytes) -> None, or a negative status
PyObject *hpy_writer_to_callback(PyObject *module, PyObject *const *args, Py_ssize_t count);
// file_writer_to_callback(write, options) -> file writer
PyObject *hpy_file_writer_to_callback(PyObject *module, PyObject *const *args, Py_ssize_t count);
// file_writer_add_source(writer, name, descriptor, make) -> None; make() -> tensor, which is taken over, or a negative status
PyObject *hpy_file_writer_add_source(PyObject *module, PyObject *const *args, Py_ssize_t count);
// file_writer_set_array(writer, key, element_type, elements) -> None; elements: a sequence of FileMetadata
PyObject *hpy_file_writer_set_array(PyObject *module, PyObject *const *args, Py_ssize_t count);

#endif  // HPY_CALLBACKS_H_

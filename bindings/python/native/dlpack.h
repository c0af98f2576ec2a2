// DLPack: tensors to and from other packages of this process by its capsules, those of version 1 and the older ones without
// a version.
#ifndef HPY_DLPACK_H_
#define HPY_DLPACK_H_

#include "bindings/python/native/hpy.h"

// dlpack_export(tensor, minor, copied) -> capsule
//   minor: the newest minor version of 1 that the consumer knows; -1: the older capsule without a version
//   copied: whether the tensor is a copy made for this consumer
PyObject *hpy_dlpack_export(PyObject *module, PyObject *const *args, Py_ssize_t count);
// dlpack_import(source, keywords) -> tensor; source: a capsule, or an object with __dlpack__
//   keywords: None, or a dictionary of what __dlpack__ is asked for beyond the version
PyObject *hpy_dlpack_import(PyObject *module, PyObject *const *args, Py_ssize_t count);

#endif  // HPY_DLPACK_H_

// Tensors to and from other runtimes of this process: capsules and pairs of raw pointers.
#ifndef HPY_EXCHANGE_H_
#define HPY_EXCHANGE_H_

#include "bindings/python/native/hpy.h"

// capsule_new(tensor): a capsule named "hurray_tensor", pointer = list, context = context. Ends both if nobody takes it.
PyObject *hpy_capsule_new(PyObject *module, PyObject *tensor);
// capsule_import(capsule) -> tensor: takes the pair and renames the capsule to "used_hurray_tensor"
PyObject *hpy_capsule_import(PyObject *module, PyObject *capsule);
// export_pair(tensor) -> (list address, context address), the caller's to hand over
PyObject *hpy_export_pair(PyObject *module, PyObject *tensor);
// import_pair(list address, context address) -> tensor; on failure both stay the caller's
PyObject *hpy_import_pair(PyObject *module, PyObject *const *args, Py_ssize_t count);
// check_pair(list, context): raises when they are no list and context that can be handed over
PyObject *hpy_check_pair(PyObject *module, PyObject *const *args, Py_ssize_t count);

#endif  // HPY_EXCHANGE_H_

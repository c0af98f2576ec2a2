// Producers: a Python callable as a HurrayProducer, and the HurrayProducer of another runtime as a Python object.
#ifndef HPY_PRODUCER_H_
#define HPY_PRODUCER_H_

#include "bindings/python/native/hpy.h"

// Makes the class ProducerHandle and puts it into the module.
bool hpy_producer_add(PyObject *module);

// set_producer_class(class): the Python class, a subclass of ProducerHandle, of which producers are made.
PyObject *hpy_producer_set_class(PyObject *module, PyObject *producer_class);
// producer_new(exporter) -> producer
//   exporter(consumer_stream, device) -> (list, context), which are taken over, or (status, message, exception)
PyObject *hpy_producer_new(PyObject *module, PyObject *exporter);
// producer_at(address) -> producer: another runtime's struct, which stays where it is; close() releases it
PyObject *hpy_producer_at(PyObject *module, PyObject *address);
// producer_request(producer, consumer_stream, device) -> tensor
PyObject *hpy_producer_request(PyObject *module, PyObject *const *args, Py_ssize_t count);

#endif  // HPY_PRODUCER_H_

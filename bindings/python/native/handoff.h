// Handoff of device memory: buffers with an event or a consumer's stream, from both sides.
#ifndef HPY_HANDOFF_H_
#define HPY_HANDOFF_H_

#include "bindings/python/native/hpy.h"

// buffer_handoff(handle_bytes, data, release, event, stream) -> buffer
//   data: an address, None for null, or an object with the buffer protocol, which is kept
//   release: None, or called with the address when the last handle that shares the memory has gone
//   event: None or (sync_handle, event_release, device); stream: None or (consumer_stream, device)
PyObject *hpy_buffer_handoff(PyObject *module, PyObject *const *args, Py_ssize_t count);
// buffer_event(buffer) -> (sync_handle, device)
PyObject *hpy_buffer_event(PyObject *module, PyObject *buffer);
// buffer_event_release(buffer) -> None
PyObject *hpy_buffer_event_release(PyObject *module, PyObject *buffer);
// buffer_stream(buffer) -> (consumer_stream, device)
PyObject *hpy_buffer_stream(PyObject *module, PyObject *buffer);

#endif  // HPY_HANDOFF_H_

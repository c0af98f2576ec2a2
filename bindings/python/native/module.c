// The module hurray._native: the hand-written functions, then the generated ones.
#include "bindings/python/gen/wrappers.h"
#include "bindings/python/native/callbacks.h"
#include "bindings/python/native/dlpack.h"
#include "bindings/python/native/errors.h"
#include "bindings/python/native/exchange.h"
#include "bindings/python/native/handle.h"
#include "bindings/python/native/handoff.h"
#include "bindings/python/native/hpy.h"
#include "bindings/python/native/lent.h"
#include "bindings/python/native/library.h"
#include "bindings/python/native/log.h"
#include "bindings/python/native/producer.h"
#include "bindings/python/native/runtime.h"
#include "bindings/python/native/view.h"
#include "bindings/python/native/wrap.h"

// Functions of several arguments have another C type than PyMethodDef says; Python casts them back by the flags.
#define FAST(function) (PyCFunction)(void (*)(void)) function, METH_FASTCALL

static PyMethodDef methods[] = {
    {"load", hpy_library_load, METH_O, "Loads the library from a file, checking its version first."},
    {"loaded", hpy_library_loaded, METH_NOARGS, "Whether the library is loaded."},
    {"set_loader", hpy_library_set_loader, METH_O, "Sets what loads the library when it is first needed."},
    {"drain", hpy_library_drain, METH_NOARGS, "Runs releases that wait on the binding's queue; returns how many."},
    {"set_error_factory", hpy_set_error_factory, METH_O, "Sets what makes exceptions of status codes."},
    {"set_load_error_factory", hpy_set_load_error_factory, METH_O, "Sets what makes exceptions of loading."},
    {"set_class", FAST(hpy_handle_set_class), "Sets the class of a kind of handle."},
    {"lent_count", hpy_lent_count, METH_NOARGS, "How many Python buffers and owners the library holds."},
    {"runtime_end", hpy_runtime_end, METH_NOARGS, "After this no callback enters Python."},
    {"runtime_forked", hpy_runtime_forked, METH_NOARGS, "After this the process is a child."},
    {"tensor_from_array", FAST(hpy_tensor_from_array), "Tensor over an array's memory."},
    {"tensor_from_memory", FAST(hpy_tensor_from_memory), "Tensor over contiguous bytes."},
    {"buffer_from_memory", FAST(hpy_buffer_from_memory), "Buffer over contiguous bytes of any alignment."},
    {"buffer_from_ptr", FAST(hpy_buffer_from_ptr), "Buffer over aligned contiguous bytes."},
    {"tensor_context_new", FAST(hpy_tensor_context_new), "Tensor context with a Python object as owner."},
    {"reader_from_memory", FAST(hpy_reader_from_memory), "Reader of a stream in memory."},
    {"descriptor_encode", hpy_descriptor_encode, METH_O, "The bytes of a descriptor."},
    {"raw_view", FAST(hpy_view_raw), "Another form of a tensor's view."},
    {"view_info", hpy_view_info, METH_O, "The fields of a tensor's view."},
    {"capsule_new", hpy_capsule_new, METH_O, "Exports a tensor as a capsule."},
    {"capsule_import", hpy_capsule_import, METH_O, "Takes a tensor from a capsule."},
    {"export_pair", hpy_export_pair, METH_O, "Exports a tensor as a pair of addresses."},
    {"import_pair", FAST(hpy_import_pair), "Takes a tensor from a pair of addresses."},
    {"buffer_handoff", FAST(hpy_buffer_handoff), "Buffer with what its sync mode demands."},
    {"buffer_event", hpy_buffer_event, METH_O, "The event to wait for, and its device."},
    {"buffer_event_release", hpy_buffer_event_release, METH_O, "Releases the event."},
    {"buffer_stream", hpy_buffer_stream, METH_O, "The consumer's stream, and its device."},
    {"set_producer_class", hpy_producer_set_class, METH_O, "Sets the class of producers."},
    {"producer_new", hpy_producer_new, METH_O, "Producer of a Python callable."},
    {"producer_at", hpy_producer_at, METH_O, "Another runtime's producer."},
    {"producer_request", FAST(hpy_producer_request), "Asks a producer for a tensor."},
    {"check_pair", FAST(hpy_check_pair), "Whether two handles can be handed over as a pair."},
    {"set_log_callback", hpy_log_set, METH_O, "Sets what is told of caught exceptions and broken invariants."},
    {"reader_from_callback", FAST(hpy_reader_from_callback), "Reader of what a callable gives."},
    {"reader_read", FAST(hpy_reader_read), "The next bytes of the tensor that was begun."},
    {"writer_to_callback", FAST(hpy_writer_to_callback), "Writer to a callable."},
    {"file_writer_to_callback", FAST(hpy_file_writer_to_callback), "Writer of a file to a callable."},
    {"file_writer_add_source", FAST(hpy_file_writer_add_source), "Announces a tensor that a callable makes."},
    {"file_writer_set_array", FAST(hpy_file_writer_set_array), "Sets a metadata entry to an array."},
    {"dlpack_export", FAST(hpy_dlpack_export), "Exports a tensor as a DLPack capsule."},
    {"dlpack_import", FAST(hpy_dlpack_import), "Takes a tensor from a DLPack capsule, or from an object that makes one."},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module) {
    // Callbacks come through PyGILState, which knows the main interpreter only.
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(PyExc_ImportError, "hurray runs in the main interpreter only");
        return -1;
    }
    if (!hpy_handle_add(module) || !hpy_view_add(module) || !hpy_producer_add(module)) return -1;
    return PyModule_AddFunctions(module, hpy_generated_methods);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, HPY_SLOT(execute)},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_native",
    .m_doc = "Calls into libhurray. Not for users: see the package hurray.",
    .m_size = 0,
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__native(void);

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&definition); }

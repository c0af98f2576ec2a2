#include "bindings/python/native/producer.h"

#include <string.h>

#include "bindings/python/native/convert.h"
#include "bindings/python/native/errors.h"
#include "bindings/python/native/handle.h"
#include "bindings/python/native/library.h"
#include "bindings/python/native/runtime.h"

// Context of a producer that Python made.
typedef struct Exporter {
    HurrayProducer producer;
    PyObject *callable;   // null: released, or cleared by the garbage collector
    PyObject *exception;  // what the export of the request that is under way raised
    bool requested;       // a request of our own is under way: it wants the exception
    uint64_t generation;
} Exporter;

typedef struct Producer {
    PyObject_HEAD
    HurrayProducer *producer;  // null: closed
    Exporter *own;             // null: the struct is another runtime's
    bool busy;                 // a call without the GIL is using it
} Producer;

static PyTypeObject *producer_type;
static PyObject *producer_class;

static void replace(PyObject **place, PyObject *object) {
    PyObject *old = *place;
    Py_XINCREF(object);
    *place = object;
    Py_XDECREF(old);
}

// --- Python as the producer ---------------------------------------------------------------------------------

static HurrayStatus report(HurrayError *error, HurrayStatus status, const char *message) {
    if (error == NULL) return status;
    memset(error, 0, sizeof *error);
    error->code = status;
    size_t length = strlen(message);
    if (length >= sizeof error->message) {
        length = sizeof error->message - 1;
        // Not in the middle of a character: its bytes behind the first are 10xxxxxx.
        while (length > 0 && ((unsigned char)message[length] & 0xC0) == 0x80) --length;
    }
    memcpy(error->message, message, length);
    return status;
}

// The exporter itself failed, which its Python part should have caught.
static HurrayStatus report_raised(HurrayError *error, PyObject *callable) {
    PyErr_WriteUnraisable(callable);
    return report(error, HURRAY_ERR_INTERNAL_PANIC, "Python raised an exception");
}

// (status, message, exception)
static HurrayStatus report_failure(Exporter *self, PyObject *result, HurrayError *error) {
    int64_t status = 0;
    const char *message = NULL;
    if (PyTuple_Size(result) == 3 && hpy_signed(PyTuple_GetItem(result, 0), INT32_MIN, -1, "status", &status)) {
        message = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(result, 1), NULL);
    } else if (PyErr_Occurred() == NULL) {
        PyErr_SetString(PyExc_TypeError, "the exporter returned neither a pair nor a failure");
    }
    if (message == NULL) return report_raised(error, self->callable);
    if (self->requested) replace(&self->exception, PyTuple_GetItem(result, 2));
    return report(error, (HurrayStatus)status, message);
}

static HurrayStatus take_pair(Exporter *self, PyObject *result, HurrayBufferList **out_list,
                              HurrayTensorContext **out_context, HurrayError *error) {
    HpyHandle *list = hpy_handle_take_owned(PyTuple_GetItem(result, 0), HURRAY_HANDLE_BUFFER_LIST, "list");
    HpyHandle *context =
        list == NULL ? NULL : hpy_handle_take_owned(PyTuple_GetItem(result, 1), HURRAY_HANDLE_TENSOR_CONTEXT, "context");
    if (context == NULL) return report_raised(error, self->callable);
    *out_list = list->pointer;
    *out_context = context->pointer;
    list->pointer = NULL;
    context->pointer = NULL;
    return HURRAY_OK;
}

static HurrayStatus call_exporter(Exporter *self, void *stream, uint8_t device, HurrayBufferList **out_list,
                                  HurrayTensorContext **out_context, HurrayError *error) {
    if (self->callable == NULL) return report(error, HURRAY_ERR_INVALID_HANDLE, "the producer is closed");
    // Over the call: it may close its producer.
    PyObject *callable = self->callable;
    Py_INCREF(callable);
    HurrayStatus status = HURRAY_ERR_INTERNAL_PANIC;
    PyObject *arguments[2] = {PyLong_FromVoidPtr(stream), PyLong_FromUnsignedLong(device)};
    PyObject *result = arguments[0] == NULL || arguments[1] == NULL
                           ? NULL
                           : PyObject_CallFunctionObjArgs(callable, arguments[0], arguments[1], NULL);
    Py_XDECREF(arguments[0]);
    Py_XDECREF(arguments[1]);
    if (result == NULL) {
        status = report_raised(error, callable);
    } else if (PyTuple_Check(result) && PyTuple_Size(result) == 2) {
        status = take_pair(self, result, out_list, out_context, error);
    } else if (PyTuple_Check(result)) {
        status = report_failure(self, result, error);
    } else {
        status = report(error, HURRAY_ERR_INTERNAL_PANIC, "the exporter returned neither a pair nor a failure");
    }
    Py_XDECREF(result);
    Py_DECREF(callable);
    return status;
}

// The HurrayExportTensorFn.
static HurrayStatus export_tensor(void *context, void *stream, uint8_t device, HurrayBufferList **out_list,
                                  HurrayTensorContext **out_context, HurrayError *error) {
    Exporter *self = context;
    *out_list = NULL;
    *out_context = NULL;
    if (self->generation != hpy_generation()) {
        return report(error, HURRAY_ERR_FORKED, "the producer belongs to the parent process");
    }
    HpyEntry entry;
    if (!hpy_enter(&entry)) return report(error, HURRAY_ERR_INVALID_HANDLE, "Python has ended");
    const HurrayStatus status = call_exporter(self, stream, device, out_list, out_context, error);
    hpy_leave(&entry);
    return status;
}

// The HurrayProducerReleaseFn. The memory of the struct stays, as the library still looks at it.
static void release(void *context) {
    Exporter *self = context;
    if (self->generation != hpy_generation()) return;
    HpyEntry entry;
    if (!hpy_enter(&entry)) return;
    Py_CLEAR(self->callable);
    hpy_leave(&entry);
}

// --- The object -----------------------------------------------------------------------------------------------

PyObject *hpy_producer_set_class(PyObject *module, PyObject *argument) {
    (void)module;
    const int fits = PyObject_IsSubclass(argument, (PyObject *)producer_type);
    if (fits < 0) return NULL;
    if (fits == 0) {
        PyErr_SetString(PyExc_TypeError, "class: expected a subclass of ProducerHandle");
        return NULL;
    }
    replace(&producer_class, argument);
    Py_RETURN_NONE;
}

static Producer *allocate(void) {
    PyTypeObject *type = producer_class != NULL ? (PyTypeObject *)producer_class : producer_type;
    const allocfunc alloc = __extension__(allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return (Producer *)alloc(type, 0);
}

PyObject *hpy_producer_new(PyObject *module, PyObject *callable) {
    (void)module;
    if (hpy_calls() == NULL) return NULL;
    if (!PyCallable_Check(callable)) {
        PyErr_Format(PyExc_TypeError, "exporter: expected a callable, got %R", (PyObject *)Py_TYPE(callable));
        return NULL;
    }
    Exporter *own = PyMem_Calloc(1, sizeof *own);
    if (own == NULL) return PyErr_NoMemory();
    Producer *self = allocate();
    if (self == NULL) {
        PyMem_Free(own);
        return NULL;
    }
    own->producer = (HurrayProducer){sizeof(HurrayProducer), HURRAY_C_ABI_VERSION, own, export_tensor, release};
    Py_INCREF(callable);
    own->callable = callable;
    own->generation = hpy_generation();
    self->own = own;
    self->producer = &own->producer;
    return (PyObject *)self;
}

PyObject *hpy_producer_at(PyObject *module, PyObject *argument) {
    (void)module;
    uint64_t address = 0;
    if (hpy_calls() == NULL || !hpy_unsigned(argument, UINTPTR_MAX, "address", &address)) return NULL;
    if (address == 0) return hpy_raise_format(HURRAY_ERR_NULL_POINTER, NULL, "address: is null");
    Producer *self = allocate();
    if (self != NULL) self->producer = (HurrayProducer *)(uintptr_t)address;
    return (PyObject *)self;
}

static Producer *take(PyObject *object) {
    if (!PyObject_TypeCheck(object, producer_type)) {
        PyErr_Format(PyExc_TypeError, "producer: expected a Producer, got %R", (PyObject *)Py_TYPE(object));
        return NULL;
    }
    Producer *self = (Producer *)object;
    if (self->producer == NULL) {
        hpy_raise_closed("producer");
        return NULL;
    }
    if (self->busy) {
        hpy_raise_busy("producer");
        return NULL;
    }
    return self;
}

// Raises what a failed request leads to: the library's report, with Python's own exception as its cause. What is no
// ordinary exception (an interrupt, the end of the program) goes on as it is.
static void raise_request(HurrayStatus status, const HurrayError *error, PyObject *exception) {
    if (exception != NULL && PyExceptionInstance_Check(exception) && !PyObject_TypeCheck(exception, (PyTypeObject *)PyExc_Exception)) {
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
        return;
    }
    (void)hpy_raise(status, error, "hurray_producer_request");
    if (exception == NULL || !PyExceptionInstance_Check(exception)) return;
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    Py_INCREF(exception);
    PyException_SetCause(value, exception);
    PyErr_Restore(type, value, traceback);
}

PyObject *hpy_producer_request(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    uint64_t stream = 0;
    uint64_t device = 0;
    if (calls == NULL || !hpy_expect(count, 3, "producer_request(producer, consumer_stream, device)") ||
        !hpy_unsigned(args[1], UINTPTR_MAX, "consumer_stream", &stream) ||
        !hpy_unsigned(args[2], UINT8_MAX, "consumer_stream_device_tag", &device)) {
        return NULL;
    }
    hpy_drain(calls);
    Producer *self = take(args[0]);
    if (self == NULL) return NULL;
    HurrayTensor *tensor = NULL;
    HurrayStatus status = HURRAY_OK;
    HurrayError error;
    if (self->own != NULL) self->own->requested = true;
    self->busy = true;
    // Another runtime's export may wait for a thread that wants the GIL; ours takes it.
    Py_BEGIN_ALLOW_THREADS
    status = calls->hurray_producer_request(self->producer, (void *)(uintptr_t)stream, (uint8_t)device, &tensor, &error);
    Py_END_ALLOW_THREADS
    self->busy = false;
    PyObject *exception = NULL;
    if (self->own != NULL) {
        self->own->requested = false;
        exception = self->own->exception;
        self->own->exception = NULL;
    }
    if (status != HURRAY_OK) raise_request(status, &error, exception);
    Py_XDECREF(exception);
    return status == HURRAY_OK ? hpy_handle_new(HURRAY_HANDLE_TENSOR, tensor) : NULL;
}

static PyObject *producer_close(PyObject *object, PyObject *unused) {
    (void)unused;
    if (((Producer *)object)->producer == NULL) Py_RETURN_NONE;
    Producer *self = take(object);
    if (self == NULL) return NULL;
    const HpyCalls *calls = hpy_loaded_calls();
    HurrayProducer *producer = self->producer;
    // Closed first: a release that comes back here finds it so.
    self->producer = NULL;
    HurrayStatus status = HURRAY_OK;
    HurrayError error;
    Py_BEGIN_ALLOW_THREADS
    status = calls->hurray_producer_release(producer, &error);
    Py_END_ALLOW_THREADS
    if (status != HURRAY_OK) return hpy_raise(status, &error, "hurray_producer_release");
    Py_RETURN_NONE;
}

static PyObject *producer_enter(PyObject *object, PyObject *unused) {
    (void)unused;
    if (take(object) == NULL) return NULL;
    Py_INCREF(object);
    return object;
}

static PyObject *producer_exit(PyObject *object, PyObject *arguments) {
    (void)arguments;
    return PyObject_CallMethod(object, "close", NULL);
}

static PyObject *get_closed(PyObject *object, void *unused) {
    (void)unused;
    return PyBool_FromLong(((Producer *)object)->producer == NULL);
}

static PyObject *get_address(PyObject *object, void *unused) {
    (void)unused;
    return PyLong_FromVoidPtr(((Producer *)object)->producer);
}

static int producer_traverse(PyObject *object, visitproc visit, void *arg) {
    Producer *self = (Producer *)object;
    Py_VISIT(Py_TYPE(object));
    if (self->own != NULL) {
        Py_VISIT(self->own->callable);
        Py_VISIT(self->own->exception);
    }
    return 0;
}

static int producer_clear(PyObject *object) {
    Producer *self = (Producer *)object;
    if (self->own != NULL) {
        Py_CLEAR(self->own->callable);
        Py_CLEAR(self->own->exception);
    }
    return 0;
}

// Another runtime's release may run on no collector's thread, so what nobody closed is leaked, and said so.
static void producer_finalize(PyObject *object) {
    Producer *self = (Producer *)object;
    if (self->producer == NULL || self->own != NULL) return;
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    if (PyErr_ResourceWarning(object, 1, "unclosed %R", object) != 0) {
        if (PyErr_ExceptionMatches(PyExc_Warning)) PyErr_WriteUnraisable(object);
        PyErr_Clear();
    }
    PyErr_Restore(type, value, traceback);
}

static void producer_dealloc(PyObject *object) {
    PyObject_GC_UnTrack(object);
    Producer *self = (Producer *)object;
    (void)producer_clear(object);
    Exporter *own = self->own;
    self->own = NULL;
    PyMem_Free(own);
    PyTypeObject *type = Py_TYPE(object);
    const freefunc free_object = __extension__(freefunc)PyType_GetSlot(type, Py_tp_free);
    free_object(object);
    Py_DECREF(type);
}

static PyObject *producer_make(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    (void)args;
    (void)keywords;
    PyErr_Format(PyExc_TypeError, "%R is not made by calling it", (PyObject *)type);
    return NULL;
}

static PyMethodDef methods[] = {
    {"close", producer_close, METH_NOARGS, "Releases what the producer keeps, exactly once. Does nothing when closed."},
    {"__enter__", producer_enter, METH_NOARGS, "Returns the producer itself; the end of the block closes it."},
    {"__exit__", producer_exit, METH_VARARGS, "Closes the producer."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"closed", get_closed, NULL, "Whether the producer is closed.", NULL},
    {"address", get_address, NULL, "Address of the C struct; 0 when closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "A HurrayProducer: Python's own, or another runtime's."},
    {Py_tp_new, HPY_SLOT(producer_make)},
    {Py_tp_dealloc, HPY_SLOT(producer_dealloc)},
    {Py_tp_finalize, HPY_SLOT(producer_finalize)},
    {Py_tp_traverse, HPY_SLOT(producer_traverse)},
    {Py_tp_clear, HPY_SLOT(producer_clear)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

static PyType_Spec spec = {"hurray._native.ProducerHandle", sizeof(Producer), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_FINALIZE, slots};

bool hpy_producer_add(PyObject *module) {
    if (producer_type == NULL) producer_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return producer_type != NULL && PyModule_AddObjectRef(module, "ProducerHandle", (PyObject *)producer_type) == 0;
}

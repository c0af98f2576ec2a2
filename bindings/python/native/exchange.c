#include "bindings/python/native/exchange.h"

#include "bindings/python/native/convert.h"
#include "bindings/python/native/errors.h"
#include "bindings/python/native/handle.h"
#include "bindings/python/native/library.h"

static const char capsule_name[] = "hurray_tensor";
static const char used_name[] = "used_hurray_tensor";

static bool export_tensor(const HpyCalls *calls, PyObject *object, HurrayBufferList **list, HurrayTensorContext **context) {
    HpyHandle *tensor = hpy_handle_take(object, HURRAY_HANDLE_TENSOR, "tensor");
    if (tensor == NULL) return false;
    hpy_drain(calls);
    HurrayError error;
    const HurrayStatus status = calls->hurray_tensor_export(tensor->pointer, list, context, &error);
    if (status != HURRAY_OK) {
        hpy_raise(status, &error, "hurray_tensor_export");
        return false;
    }
    return true;
}

// The seed: a consumer asks a context for its version before anything else.
static bool check_context_version(const HpyCalls *calls, const HurrayTensorContext *context) {
    uint32_t version = 0;
    const HurrayStatus status = calls->hurray_tensor_context_abi_version(context, &version);
    if (status != HURRAY_OK) {
        hpy_raise_format(status, "hurray_tensor_context_abi_version", "context: not a live tensor context of this library");
        return false;
    }
    uint8_t supported = version == HURRAY_C_ABI_VERSION;
    // A later copy of the library may vouch for the version that this package was built for.
    if (version > HURRAY_C_ABI_VERSION) {
        (void)calls->hurray_tensor_context_supports(context, HURRAY_C_ABI_VERSION, &supported, NULL);
    }
    if (supported != 1) {
        hpy_raise_format(HURRAY_ERR_VERSION_MISMATCH, "hurray_tensor_context_abi_version",
                         "context: made by C ABI version %u, expected version %u", (unsigned int)version,
                         (unsigned int)HURRAY_C_ABI_VERSION);
        return false;
    }
    return true;
}

// On failure both stay whose they were.
static HurrayTensor *import_tensor(const HpyCalls *calls, HurrayBufferList *list, HurrayTensorContext *context) {
    hpy_drain(calls);
    if (!check_context_version(calls, context)) return NULL;
    HurrayTensor *tensor = NULL;
    HurrayError error;
    const HurrayStatus status = calls->hurray_tensor_import(&list, &context, &tensor, &error);
    if (status != HURRAY_OK) hpy_raise(status, &error, "hurray_tensor_import");
    return tensor;
}

// May run on any thread that drops the last reference, so nothing is released at once.
static void end_capsule(PyObject *capsule) {
    if (!PyCapsule_IsValid(capsule, capsule_name)) return;
    const HpyCalls *calls = hpy_loaded_calls();
    HurrayBufferList *list = PyCapsule_GetPointer(capsule, capsule_name);
    HurrayTensorContext *context = PyCapsule_GetContext(capsule);
    (void)calls->hurray_buffer_list_destroy_deferred(&list, NULL);
    (void)calls->hurray_tensor_context_destroy_deferred(&context, NULL);
}

PyObject *hpy_capsule_new(PyObject *module, PyObject *tensor) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    HurrayBufferList *list = NULL;
    HurrayTensorContext *context = NULL;
    if (calls == NULL || !export_tensor(calls, tensor, &list, &context)) return NULL;
    PyObject *capsule = PyCapsule_New(list, capsule_name, NULL);
    if (capsule == NULL || PyCapsule_SetContext(capsule, context) != 0 || PyCapsule_SetDestructor(capsule, end_capsule) != 0) {
        Py_XDECREF(capsule);
        (void)calls->hurray_buffer_list_destroy(&list);
        (void)calls->hurray_tensor_context_destroy(&context);
        return NULL;
    }
    return capsule;
}

PyObject *hpy_capsule_import(PyObject *module, PyObject *capsule) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    if (calls == NULL) return NULL;
    if (!PyCapsule_CheckExact(capsule)) {
        PyErr_Format(PyExc_TypeError, "capsule: expected a PyCapsule, got %R", (PyObject *)Py_TYPE(capsule));
        return NULL;
    }
    if (PyCapsule_IsValid(capsule, used_name)) {
        return hpy_raise_format(HURRAY_ERR_INVALID_ARGUMENT, NULL, "capsule: was taken already (\"%s\")", used_name);
    }
    if (!PyCapsule_IsValid(capsule, capsule_name)) {
        const char *name = PyCapsule_GetName(capsule);
        PyErr_Clear();
        return hpy_raise_format(HURRAY_ERR_INVALID_ARGUMENT, NULL, "capsule: expected the name \"%s\", got \"%.100s\"",
                                capsule_name, name == NULL ? "" : name);
    }
    HurrayBufferList *list = PyCapsule_GetPointer(capsule, capsule_name);
    HurrayTensorContext *context = PyCapsule_GetContext(capsule);
    if (context == NULL) {
        PyErr_Clear();
        return hpy_raise_format(HURRAY_ERR_NULL_POINTER, NULL, "capsule: has no context");
    }
    HurrayTensor *tensor = import_tensor(calls, list, context);
    if (tensor == NULL) return NULL;
    // Taken: whatever happens from here on, the capsule must not end what it no longer owns.
    (void)PyCapsule_SetName(capsule, used_name);
    (void)PyCapsule_SetDestructor(capsule, NULL);
    return hpy_handle_new(HURRAY_HANDLE_TENSOR, tensor);
}

PyObject *hpy_export_pair(PyObject *module, PyObject *tensor) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    HurrayBufferList *list = NULL;
    HurrayTensorContext *context = NULL;
    if (calls == NULL || !export_tensor(calls, tensor, &list, &context)) return NULL;
    PyObject *pair = hpy_tuple(2, PyLong_FromVoidPtr(list), PyLong_FromVoidPtr(context));
    if (pair == NULL) {
        (void)calls->hurray_buffer_list_destroy(&list);
        (void)calls->hurray_tensor_context_destroy(&context);
    }
    return pair;
}

PyObject *hpy_import_pair(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    uint64_t list = 0;
    uint64_t context = 0;
    if (calls == NULL || !hpy_expect(count, 2, "import_pair(list, context)") ||
        !hpy_unsigned(args[0], UINTPTR_MAX, "list", &list) || !hpy_unsigned(args[1], UINTPTR_MAX, "context", &context)) {
        return NULL;
    }
    if (list == 0 || context == 0) {
        return hpy_raise_format(HURRAY_ERR_NULL_POINTER, NULL, "%s: is null", list == 0 ? "list" : "context");
    }
    HurrayTensor *tensor = import_tensor(calls, (HurrayBufferList *)(uintptr_t)list, (HurrayTensorContext *)(uintptr_t)context);
    return tensor == NULL ? NULL : hpy_handle_new(HURRAY_HANDLE_TENSOR, tensor);
}

PyObject *hpy_check_pair(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    if (!hpy_expect(count, 2, "check_pair(list, context)") ||
        hpy_handle_take_owned(args[0], HURRAY_HANDLE_BUFFER_LIST, "list") == NULL ||
        hpy_handle_take_owned(args[1], HURRAY_HANDLE_TENSOR_CONTEXT, "context") == NULL) {
        return NULL;
    }
    Py_RETURN_NONE;
}

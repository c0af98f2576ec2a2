#include "bindings/python/native/library.h"

#include <dlfcn.h>
#include <string.h>

#include "bindings/python/native/errors.h"

static HpyCalls calls_table;
static bool is_loaded;
static PyObject *loader;  // called without arguments when the library is first needed
static HurrayReleaseQueue *queue;

// Queues whose end is due, guarded by the GIL.
typedef struct Forgotten {
    HurrayReleaseQueue *queue;
    struct Forgotten *next;
} Forgotten;
static Forgotten *forgotten_queues;

const HpyCalls *hpy_loaded_calls(void) { return is_loaded ? &calls_table : NULL; }

HurrayReleaseQueue *hpy_queue(void) { return queue; }

const HpyCalls *hpy_calls(void) {
    if (is_loaded) return &calls_table;
    if (loader == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "hurray._native was imported without the package hurray");
        return NULL;
    }
    PyObject *done = PyObject_CallNoArgs(loader);
    if (done == NULL) return NULL;
    Py_DECREF(done);
    if (!is_loaded) {
        PyErr_SetString(PyExc_RuntimeError, "the loader of hurray did not load the library");
        return NULL;
    }
    return &calls_table;
}

static uint64_t drain(const HpyCalls *calls) {
    uint64_t released = 0;
    // The only failure is a broken queue handle, which a close or create of something else cannot report.
    (void)calls->hurray_release_queue_drain(queue, UINT64_MAX, &released, NULL);
    while (forgotten_queues != NULL) {
        // Out of the list first: a release that comes back here must not find it again.
        Forgotten *first = forgotten_queues;
        forgotten_queues = first->next;
        uint64_t more = 0;
        (void)calls->hurray_release_queue_drain(first->queue, UINT64_MAX, &more, NULL);
        (void)calls->hurray_release_queue_destroy(&first->queue);
        PyMem_Free(first);
        released += more;
    }
    return released;
}

void hpy_drain(const HpyCalls *calls) { (void)drain(calls); }

void hpy_queue_forked(void) {
    if (!is_loaded) return;
    while (forgotten_queues != NULL) {
        Forgotten *first = forgotten_queues;
        forgotten_queues = first->next;
        (void)calls_table.hurray_release_queue_destroy(&first->queue);
        PyMem_Free(first);
    }
    (void)calls_table.hurray_release_queue_destroy(&queue);
    // Without memory for one it stays null: the process's default queue, which is as good.
    (void)calls_table.hurray_release_queue_new(&queue, NULL);
}

void hpy_queue_forgotten(HurrayReleaseQueue *forgotten) {
    Forgotten *node = PyMem_Malloc(sizeof *node);
    if (node == NULL) return;  // leaked: to run its releases here is what must not be
    node->queue = forgotten;
    node->next = forgotten_queues;
    forgotten_queues = node;
}

PyObject *hpy_library_set_loader(PyObject *module, PyObject *callable) {
    (void)module;
    PyObject *old = loader;
    Py_INCREF(callable);
    loader = callable;
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

PyObject *hpy_library_loaded(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyBool_FromLong(is_loaded);
}

PyObject *hpy_library_drain(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    const HpyCalls *calls = hpy_calls();
    if (calls == NULL) return NULL;
    return PyLong_FromUnsignedLongLong(drain(calls));
}

// POSIX: dlsym's object pointer and a function pointer have the same representation; C has no cast that says so.
static void symbol(void *handle, const char *name, void *function, size_t size) {
    void *found = dlsym(handle, name);
    memcpy(function, &found, size);
}

static const char *last_dl_error(void) {
    const char *text = dlerror();
    return text == NULL ? "no reason given" : text;
}

// Nothing of the library is called or resolved before its version is accepted: a stranger may lack everything else.
static bool check_version(void *handle, const char *path) {
    uint32_t (*version)(void) = NULL;
    uint8_t (*supports)(uint32_t) = NULL;
    symbol(handle, "hurray_c_abi_version", &version, sizeof version);
    if (version == NULL) {
        hpy_raise_load(path, "it has no function hurray_c_abi_version: not a libhurray");
        return false;
    }
    const uint32_t found = version();
    if (found == HURRAY_C_ABI_VERSION) return true;
    symbol(handle, "hurray_c_abi_supports", &supports, sizeof supports);
    if (supports != NULL && supports(HURRAY_C_ABI_VERSION) == 1) return true;
    hpy_raise_version(path, HURRAY_C_ABI_VERSION, found);
    return false;
}

PyObject *hpy_library_load(PyObject *module, PyObject *argument) {
    (void)module;
    if (is_loaded) {
        PyErr_SetString(PyExc_RuntimeError, "the library is loaded already; a process loads it once");
        return NULL;
    }
    PyObject *encoded = NULL;
    if (!PyUnicode_FSConverter(argument, &encoded)) return NULL;
    const char *path = PyBytes_AsString(encoded);
    // RTLD_LOCAL: other copies of the library in this process keep their own symbols.
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        hpy_raise_load(path, last_dl_error());
        goto failed;
    }
    if (!check_version(handle, path)) goto failed;
    const char *missing = NULL;
    if (!hpy_calls_resolve(handle, &calls_table, &missing)) {
        hpy_raise_missing(path, missing);
        goto failed;
    }
    HurrayError error;
    const HurrayStatus status = calls_table.hurray_release_queue_new(&queue, &error);
    if (status != HURRAY_OK) {
        hpy_raise(status, &error, "hurray_release_queue_new");
        goto failed;
    }
    is_loaded = true;
    Py_DECREF(encoded);
    Py_RETURN_NONE;

failed:
    if (handle != NULL) dlclose(handle);
    Py_DECREF(encoded);
    return NULL;
}

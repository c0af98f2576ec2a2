#include "bindings/python/native/log.h"

#include <pthread.h>
#include <string.h>

#include "bindings/python/native/errors.h"
#include "bindings/python/native/library.h"
#include "bindings/python/native/runtime.h"

// The library logs under a lock of its own. A callback that waited for the GIL there could wait for a thread that has the
// GIL and waits for that lock. So it only puts the message here, and Python fetches it when it comes to it.
enum { room = 32 };

typedef struct Message {
    HurrayStatus code;
    char text[sizeof((HurrayError *)0)->message];
} Message;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Message waiting[room];  // a ring, guarded by the lock
static unsigned first, count;
static bool scheduled;

static PyObject *callback;  // guarded by the GIL

static bool fetch(Message *out) {
    (void)pthread_mutex_lock(&lock);
    const bool any = count > 0;
    if (any) {
        *out = waiting[first];
        first = (first + 1) % room;
        --count;
    } else {
        scheduled = false;
    }
    (void)pthread_mutex_unlock(&lock);
    return any;
}

// A pending call of Python: on its main thread, between two instructions.
static int deliver(void *unused) {
    (void)unused;
    Message message;
    while (fetch(&message)) {
        if (callback == NULL) continue;
        PyObject *callable = callback;
        Py_INCREF(callable);
        PyObject *text = PyUnicode_DecodeUTF8(message.text, (Py_ssize_t)strnlen(message.text, sizeof message.text), "replace");
        PyObject *result = text == NULL ? NULL : PyObject_CallFunction(callable, "iO", (int)message.code, text);
        if (result == NULL) PyErr_WriteUnraisable(callable);
        Py_XDECREF(result);
        Py_XDECREF(text);
        Py_DECREF(callable);
    }
    return 0;
}

// The HurrayLogFn: on any thread, with or without the GIL.
static void put(void *context, HurrayStatus code, const char *message) {
    (void)context;
    if (!hpy_announce()) return;
    (void)pthread_mutex_lock(&lock);
    if (count == room) {
        first = (first + 1) % room;  // the oldest goes, as in the library's own ring
        --count;
    }
    Message *place = &waiting[(first + count) % room];
    place->code = code;
    memset(place->text, 0, sizeof place->text);
    memcpy(place->text, message, strnlen(message, sizeof place->text - 1));
    ++count;
    const bool schedule = !scheduled;
    scheduled = true;
    (void)pthread_mutex_unlock(&lock);
    if (schedule && Py_AddPendingCall(deliver, NULL) != 0) {
        // Python has too many of them: the next message tries again.
        (void)pthread_mutex_lock(&lock);
        scheduled = false;
        (void)pthread_mutex_unlock(&lock);
    }
    hpy_retract();
}

PyObject *hpy_log_set(PyObject *module, PyObject *callable) {
    (void)module;
    const HpyCalls *calls = hpy_calls();
    if (calls == NULL) return NULL;
    const bool none = callable == Py_None;
    if (!none && !PyCallable_Check(callable)) {
        PyErr_Format(PyExc_TypeError, "callback: expected a callable or None, got %R", (PyObject *)Py_TYPE(callable));
        return NULL;
    }
    HurrayError error;
    const HurrayStatus status = calls->hurray_log_callback_set(none ? NULL : put, NULL, &error);
    if (status != HURRAY_OK) return hpy_raise(status, &error, "hurray_log_callback_set");
    PyObject *old = callback;
    if (none) {
        callback = NULL;
    } else {
        Py_INCREF(callable);
        callback = callable;
    }
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

void hpy_log_forked(void) {
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    count = 0;
    scheduled = false;
    PyObject *old = callback;
    callback = NULL;
    Py_XDECREF(old);
}

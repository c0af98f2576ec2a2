#include "foreign.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void *foreign_find(const char *name) {
    const char *path = getenv("HURRAY_LIBRARY");
    void *library = dlopen(path != NULL ? path : "libhurray.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *found = NULL;
    if (library != NULL) {
        found = dlsym(library, name);
        dlclose(library);
    }
    return found;
}

/* Copied, not cast: ISO C has no conversion from an object pointer to a function pointer. */
#define FIND(variable, name)                    \
    do {                                        \
        void *address = foreign_find(name);     \
        if (address == NULL) abort();           \
        memcpy(&variable, &address, sizeof address); \
    } while (0)

typedef struct Call {
    HurrayProducer *producer;
    uintptr_t stream;
    uint8_t device;
    uintptr_t *out_stream;
    HurrayError *error;
    HurrayStatus status;
} Call;

static void *request(void *argument) {
    Call *call = argument;
    HurrayTensor *tensor = NULL;
    HurrayBuffer *buffer = NULL;
    HurrayStatus (*producer_request)(const HurrayProducer *, void *, uint8_t, HurrayTensor **, HurrayError *);
    HurrayStatus (*tensor_buffer)(const HurrayTensor *, uint32_t, HurrayBuffer **, HurrayError *);
    HurrayStatus (*buffer_stream)(const HurrayBuffer *, void **, uint8_t *, HurrayError *);
    HurrayStatus (*tensor_destroy)(HurrayTensor **);
    FIND(producer_request, "hurray_producer_request");
    FIND(tensor_buffer, "hurray_tensor_buffer");
    FIND(buffer_stream, "hurray_buffer_stream");
    FIND(tensor_destroy, "hurray_tensor_destroy");
    call->status = producer_request(call->producer, (void *)call->stream, call->device, &tensor, call->error);
    if (call->status != HURRAY_OK) return NULL;
    void *stream = NULL;
    uint8_t device = 0;
    call->status = tensor_buffer(tensor, 0, &buffer, call->error);
    if (call->status == HURRAY_OK) call->status = buffer_stream(buffer, &stream, &device, call->error);
    *call->out_stream = (uintptr_t)stream;
    HurrayStatus ended = tensor_destroy(&tensor);
    if (call->status == HURRAY_OK) call->status = ended;
    return NULL;
}

static void *release(void *argument) {
    Call *call = argument;
    HurrayStatus (*producer_release)(HurrayProducer *, HurrayError *);
    FIND(producer_release, "hurray_producer_release");
    call->status = producer_release(call->producer, NULL);
    /* Released: a no-op. */
    if (call->status == HURRAY_OK) call->status = producer_release(call->producer, NULL);
    return NULL;
}

static HurrayStatus on_a_thread(void *(*run)(void *), Call *call) {
    pthread_t thread;
    call->status = HURRAY_ERR_INTERNAL;
    if (pthread_create(&thread, NULL, run, call) != 0 || pthread_join(thread, NULL) != 0) abort();
    return call->status;
}

HurrayStatus foreign_request(HurrayProducer *producer, uintptr_t stream, uint8_t device, uintptr_t *out_stream, HurrayError *error) {
    Call call = {.producer = producer, .stream = stream, .device = device, .out_stream = out_stream, .error = error};
    return on_a_thread(request, &call);
}

HurrayStatus foreign_release(HurrayProducer *producer) {
    Call call = {.producer = producer};
    return on_a_thread(release, &call);
}

void foreign_exit(int code) { exit(code); }

static int child(HurrayBufferList *list, HurrayTensorContext *context) {
    HurrayStatus (*list_destroy)(HurrayBufferList **);
    HurrayStatus (*context_destroy)(HurrayTensorContext **);
    HurrayStatus (*drain)(const HurrayReleaseQueue *, uint64_t, uint64_t *, HurrayError *);
    uint64_t released = 0;
    FIND(list_destroy, "hurray_buffer_list_destroy");
    FIND(context_destroy, "hurray_tensor_context_destroy");
    FIND(drain, "hurray_release_queue_drain");
    if (list_destroy(&list) != HURRAY_OK || list != NULL) return 2;
    if (context_destroy(&context) != HURRAY_OK || context != NULL) return 3;
    if (drain(NULL, UINT64_MAX, &released, NULL) != HURRAY_OK || released != 0) return 4;
    return 0;
}

int foreign_fork(HurrayBufferList *list, HurrayTensorContext *context) {
    pid_t pid = fork();
    if (pid < 0) abort();
    if (pid == 0) {
        /* A callback into a runtime that has one thread left might wait for ever. */
        alarm(30);
        _exit(child(list, context));
    }
    int status = 0;
    if (waitpid(pid, &status, 0) != pid) abort();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

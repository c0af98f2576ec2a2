// Another runtime of the process, as Python's tests need one: it was handed tensors of Python's memory, and ends them from a
// thread that Python never saw, or after the end of Python.
#include <hurray.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

typedef HurrayStatus (*EndList)(HurrayBufferList **list);
typedef HurrayStatus (*EndContext)(HurrayTensorContext **context);
typedef HurrayStatus (*Request)(const HurrayProducer *producer, void *stream, uint8_t device, HurrayTensor **out,
                                HurrayError *error);
typedef HurrayStatus (*ReleaseProducer)(HurrayProducer *producer, HurrayError *error);

enum { capacity = 4096 };

static struct {
    HurrayBufferList *list;
    HurrayTensorContext *context;
} kept[capacity];
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static EndList end_list;
static EndContext end_context;

// Ends the newest pair, if there is one, with no lock held: a release may come to wait for Python.
static bool end_one(HurrayStatus *status) {
    (void)pthread_mutex_lock(&lock);
    const bool any = count > 0;
    const int index = any ? --count : 0;
    (void)pthread_mutex_unlock(&lock);
    if (!any) return false;
    const HurrayStatus list = end_list(&kept[index].list);
    const HurrayStatus context = end_context(&kept[index].context);
    if (list != HURRAY_OK || context != HURRAY_OK) *status = list != HURRAY_OK ? list : context;
    return true;
}

static HurrayProducer *producer;
static Request request;
static ReleaseProducer release_producer;

// Asks the producer and releases it.
static void end_producer(void) {
    if (producer == NULL) return;
    HurrayTensor *tensor = NULL;
    HurrayError error;
    const HurrayStatus asked = request(producer, NULL, 0, &tensor, &error);
    const HurrayStatus released = release_producer(producer, NULL);
    (void)dprintf(STDOUT_FILENO, "asked after Python: %d, %s; released: %d\n", (int)asked, error.message, (int)released);
}

// Runs when the program exits, which is after the end of Python.
static void at_exit(void) {
    HurrayStatus status = HURRAY_OK;
    int pairs = 0;
    while (end_one(&status)) ++pairs;
    end_producer();
    (void)dprintf(STDOUT_FILENO, "ended %d pairs after Python: %d\n", pairs, (int)status);
}

EXPORTED void late_end_begin(EndList list, EndContext context) {
    end_list = list;
    end_context = context;
    (void)atexit(at_exit);
}

// Takes a pair over. Not while the thread runs.
EXPORTED void late_end_keep(HurrayBufferList *list, HurrayTensorContext *context) {
    if (count == capacity) abort();
    kept[count].list = list;
    kept[count].context = context;
    ++count;
}

// Takes a producer over.
EXPORTED void late_end_keep_producer(HurrayProducer *kept_producer, Request ask, ReleaseProducer release) {
    producer = kept_producer;
    request = ask;
    release_producer = release;
}

static void *end_all(void *unused) {
    (void)unused;
    const struct timespec moment = {0, 50 * 1000};
    HurrayStatus status = HURRAY_OK;
    while (end_one(&status)) {
        if (status != HURRAY_OK) abort();
        (void)nanosleep(&moment, NULL);
    }
    // Stays: the exit of the program finds a thread that is alive.
    for (;;) (void)pause();
    return NULL;
}

// Ends what was kept, one pair after the other, on a thread of its own.
EXPORTED int late_end_start(void) {
    pthread_t thread;
    return pthread_create(&thread, NULL, end_all, NULL);
}

#include "native.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>

#include "_cgo_export.h"

/* The word is a number and not an address, and Go must not hold it as a pointer: hence integers across the border. */
void hurray_go_release(void *data, void *context) {
    (void)data;
    hurrayGoReleased((uintptr_t)context);
}

void hurray_go_owner_release(void *owner) { hurrayGoReleased((uintptr_t)owner); }

void hurray_go_event_release(void *sync_handle, void *context) {
    (void)sync_handle;
    hurrayGoEventReleased((uintptr_t)context);
}

HurrayStatus hurray_go_export_tensor(void *context, void *consumer_stream, uint8_t consumer_stream_device_tag,
                                     HurrayBufferList **out_list, HurrayTensorContext **out_context, HurrayError *error) {
    void *list = NULL, *made = NULL;
    HurrayStatus status = hurrayGoExportTensor((uintptr_t)context, (uintptr_t)consumer_stream, consumer_stream_device_tag,
                                               &list, &made, error);
    *out_list = list;
    *out_context = made;
    return status;
}

void hurray_go_producer_release(void *context) { hurrayGoProducerReleased((uintptr_t)context); }

void hurray_go_log(void *context, HurrayStatus code, const char *message) {
    hurrayGoLogged((uintptr_t)context, code, (void *)message);
}

static _Thread_local uintptr_t frame_of_thread;

uintptr_t hurray_go_frame_get(void) { return frame_of_thread; }

uintptr_t hurray_go_frame_set(uintptr_t frame) {
    uintptr_t outer = frame_of_thread;
    frame_of_thread = frame;
    return outer;
}

int hurray_go_duplicate(int descriptor) {
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    return copy >= 0 ? copy : -errno;
}

int hurray_go_writable(int descriptor) {
    struct pollfd entry = {descriptor, POLLOUT, 0};
    return poll(&entry, 1, 0) != 0;
}

HurrayStatus hurray_go_write(void *context, const void *bytes, uint64_t length) {
    return hurrayGoWrite((uintptr_t)context, (void *)bytes, length);
}

HurrayStatus hurray_go_source(void *context, HurrayTensor **out_tensor) {
    void *tensor = NULL;
    HurrayStatus status = hurrayGoSource((uintptr_t)context, &tensor);
    *out_tensor = tensor;
    return status;
}

uint8_t hurray_go_progress(void *context, uint64_t done, uint64_t total) {
    return hurrayGoProgress((uintptr_t)context, done, total) == HURRAY_OK;
}

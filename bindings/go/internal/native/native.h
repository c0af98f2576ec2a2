/* What the binding needs in C beside the library's own functions. */
#ifndef HURRAY_GO_NATIVE_H
#define HURRAY_GO_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#include <hurray.h>

/* Whether the library is linked with the program: then there is nothing to choose, and opening never fails. */
int hurray_go_linked(void);

/* Opens a library; NULL and a message that the caller frees on failure. */
void *hurray_go_open(const char *path, char **message);

void hurray_go_close(void *library);

/* dlsym, for hurray_go_resolve. */
void *hurray_go_find(void *library, const char *name);

/* What the library says about versions, asked by name; 0 where a function is missing. */
uint32_t hurray_go_version(void *library);
uint8_t hurray_go_supports(void *library, uint32_t version);

/* The release callbacks of all memory and owners that Go lends: the context is the number of a cgo.Handle. */
void hurray_go_release(void *data, void *context);
void hurray_go_owner_release(void *owner);

/* The release callback of all events that Go lends, and the functions of all producers of Go's. */
void hurray_go_event_release(void *sync_handle, void *context);
HurrayStatus hurray_go_export_tensor(void *context, void *consumer_stream, uint8_t consumer_stream_device_tag,
                                     HurrayBufferList **out_list, HurrayTensorContext **out_context, HurrayError *error);
void hurray_go_producer_release(void *context);

/* The log callback: the context is the number of a cgo.Handle. */
void hurray_go_log(void *context, HurrayStatus code, const char *message);

/* What the library calls for bytes that are written, and for tensors that are made when they are: the context is the number
   of a cgo.Handle. */
HurrayStatus hurray_go_write(void *context, const void *bytes, uint64_t length);
HurrayStatus hurray_go_source(void *context, HurrayTensor **out_tensor);

/* What the library calls now and then during long work: the context is the number of a cgo.Handle; 0 stops the work. */
uint8_t hurray_go_progress(void *context, uint64_t done, uint64_t total);

/* The number of the innermost frame of this thread, 0 for none; set returns what it was before. */
uintptr_t hurray_go_frame_get(void);
uintptr_t hurray_go_frame_set(uintptr_t frame);

/* A further descriptor of an open file, closed on exec; negative, an error number, on failure. */
int hurray_go_duplicate(int descriptor);

/* Whether a write to a socket would not have to wait, be it that it would fail. */
int hurray_go_writable(int descriptor);

#endif

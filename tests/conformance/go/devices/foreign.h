/* Another runtime in the process, in C and C++: it finds the library's functions by name, as the binding does. */
#ifndef HURRAY_GO_DEVICES_FOREIGN_H
#define HURRAY_GO_DEVICES_FOREIGN_H

#include <hurray.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function of the library that HURRAY_LIBRARY names and that is loaded; NULL when there is none. */
void *foreign_find(const char *name);

/* --- A consumer --- */

/* Asks a producer on a thread of its own, and tells the stream of the first buffer of what comes, and that thread; ends it. */
HurrayStatus foreign_request(HurrayProducer *producer, uintptr_t stream, uint8_t device, uintptr_t *out_stream, HurrayError *error);
/* Releases a producer on a thread of its own. */
HurrayStatus foreign_release(HurrayProducer *producer);

/* --- Careless producers: what they are called back for throws, and counts --- */

/* A list of one buffer whose release throws; NULL when it cannot be made. */
HurrayBufferList *careless_list(uint32_t *calls);
/* One of the device's memory, whose event release throws, and the memory's release as well. */
HurrayBufferList *careless_event_list(uint32_t *calls);
/* A producer whose export throws. Its release counts in `releases`. */
void careless_producer(HurrayProducer *producer, uint32_t *calls, uint32_t *releases);

/* --- What only C does to a process --- */

/* Ends the program as C does: exit handlers and destructors run. */
void foreign_exit(int code);
/* Forks. The child ends list and context, and exits with 0 when that went well, and with the number of the wrong step
 * otherwise; the result is that code, or 128 and the signal. */
int foreign_fork(HurrayBufferList *list, HurrayTensorContext *context);

#ifdef __cplusplus
}
#endif

#endif

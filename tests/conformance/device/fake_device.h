/*
 * A pretended device: streams, events and memory that only keep books. It judges whether a producer and a consumer
 * handed a buffer over in the right order, and names what they did wrong.
 *
 * Knows nothing of hurray. Nothing runs on it: "enqueued" work is a line of the log and a step of a vector clock.
 * Its pointers may go through the C ABI as sync_handle and consumer_stream.
 *
 * WHAT IS ORDERED. Work on one stream runs in the order in which it was enqueued. Work that the host enqueues runs after
 * everything that the host has waited for. An event stands for the work that was on its stream when it was recorded; a
 * stream that waits for it runs later work after that. The host is one: all threads of the process together. An access
 * is in order when every write of that memory (for a write: every read, too) comes before it by these rules.
 *
 * RESULTS. A function that returns FakeViolation gives FAKE_OK, or the kind of what it found wrong. It goes on then as
 * well as it can, and the violation is also kept (fake_violation_count) and written to the log. No function takes or
 * returns a struct by value; texts are copied out: `fake_..._copy(..., out, capacity)` writes at most `capacity` bytes, the
 * closing 0 included, and returns the length of the whole text without it.
 *
 * LIFETIME. Streams, events and memory last until fake_device_reset or fake_device_destroy: a released event is still
 * known, so that a second release is noticed. A callback that comes for a device that is gone only adds to
 * fake_stray_calls. A pointer that is no stream, event or memory of the device is FAKE_UNKNOWN_HANDLE, never a crash.
 *
 * THREADS. Any function may be called from any thread.
 */
#ifndef HURRAY_TESTS_FAKE_DEVICE_H_
#define HURRAY_TESTS_FAKE_DEVICE_H_

#include <stdint.h>

#if defined(_WIN32)
#define FAKE_API __declspec(dllexport)
#else
#define FAKE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Value of device_tag for its memory, events and streams (that of CUDA). */
#define FAKE_DEVICE_TAG 1

/* Sync modes, as byte 13 of a buffer handle has them. */
#define FAKE_MODE_PRODUCER_SYNCED 0
#define FAKE_MODE_EVENT 1
#define FAKE_MODE_CONSUMER_STREAM 2

/* Kinds of violations. */
typedef uint32_t FakeViolation;
#define FAKE_OK 0
/* A read that is not ordered after a write of that memory: the consumer did not wait. */
#define FAKE_UNORDERED_READ 1
/* A write that is not ordered after a read or write of that memory. */
#define FAKE_UNORDERED_WRITE 2
/* A stream or the host waits for an event that nobody has recorded: a real device would hang. */
#define FAKE_WAIT_UNRECORDED 3
/* PRODUCER_SYNCED: the host has not waited for a stream that wrote the memory before the handoff began. */
#define FAKE_HANDOFF_UNSYNCED 4
/* EVENT: the event was not recorded before the handoff began. */
#define FAKE_HANDOFF_EVENT_UNRECORDED 5
/* EVENT: the event was recorded before, or on another stream than, some write of the memory. */
#define FAKE_HANDOFF_EVENT_MISSES_WRITE 6
/* EVENT: the event was recorded after its handoff had begun. */
#define FAKE_EVENT_RECORDED_LATE 7
/* CONSUMER_STREAM: no dependency of the consumer's stream on a stream that wrote the memory when the handoff returned. */
#define FAKE_HANDOFF_NO_DEPENDENCY 8
/* The event was released once too often: once for each handoff, or once by its maker when it was never handed off. */
#define FAKE_EVENT_RELEASED_TWICE 9
/* fake_device_finish: an event was released less often than it was handed off. */
#define FAKE_EVENT_NEVER_RELEASED 10
/* A wait for, or a record of, an event that was released already. */
#define FAKE_EVENT_USED_AFTER_RELEASE 11
/* The memory was released once too often: once for each handoff, or once by its maker when it was never handed off. */
#define FAKE_MEMORY_RELEASED_TWICE 12
/* fake_device_finish: memory was released less often than it was handed off. */
#define FAKE_MEMORY_NEVER_RELEASED 13
/* An access to, or a handoff of, memory that was released already. */
#define FAKE_MEMORY_USED_AFTER_RELEASE 14
/* A pointer that is no stream, event or memory of this device, or not the first byte where that is asked for. */
#define FAKE_UNKNOWN_HANDLE 15
/* fake_handoff_returned or _failed without _begin, with other arguments, or (fake_device_finish) a _begin alone. */
#define FAKE_HANDOFF_UNPAIRED 16
/* A handoff of a mode that does not exist, or one whose event or stream does not belong to its mode. */
#define FAKE_HANDOFF_BAD_MODE 17
/* fake_handoff_failed: the failed call ran a release callback, though nothing had moved. */
#define FAKE_RELEASED_BY_FAILED_HANDOFF 18
/* Number of kinds, FAKE_OK included. */
#define FAKE_VIOLATION_KINDS 19

typedef struct FakeDevice FakeDevice;

/* A new device with an empty log; NULL only without memory. */
FAKE_API FakeDevice *fake_device_new(void);
/* Ends it with its streams, events and memory. NULL and a device that is gone already are fine. */
FAKE_API void fake_device_destroy(FakeDevice *device);
/* Forgets everything, streams, events and memory, too. */
FAKE_API void fake_device_reset(FakeDevice *device);
/* To be called at the end of a test: finds what was handed off and never released, and handoffs that never came back.
 * Returns the kind of the first such thing; fake_violation_count has them all. */
FAKE_API FakeViolation fake_device_finish(FakeDevice *device);

/* --- Streams and events: `void *`, as sync_handle and consumer_stream are --- */

/* A new stream; `name` (ASCII, copied, at most 31 bytes are kept; may be NULL) is what the log calls it. A device has at
 * most 63 streams: NULL then. */
FAKE_API void *fake_stream_new(FakeDevice *device, const char *name);
/* A new event that nobody has recorded. */
FAKE_API void *fake_event_new(FakeDevice *device);
/* The event stands, from now on, for all work that is on the stream now. */
FAKE_API FakeViolation fake_event_record(FakeDevice *device, void *event, void *stream);
/* Later work of `stream` runs after what the event stands for. */
FAKE_API FakeViolation fake_stream_wait_event(FakeDevice *device, void *stream, void *event);
/* Later work of `stream` runs after the work that is on `other` now (a dependency on the device; nobody blocks). */
FAKE_API FakeViolation fake_stream_wait_stream(FakeDevice *device, void *stream, void *other);
/* The host waits for the work that is on `stream` now. */
FAKE_API FakeViolation fake_host_wait_stream(FakeDevice *device, void *stream);
/* The host waits for what the event stands for. */
FAKE_API FakeViolation fake_host_wait_event(FakeDevice *device, void *event);

/* --- Memory: any address from the first byte to the last means the whole --- */

/* `byte_size` zeroed bytes, 64-byte aligned, that the host can really read and write; they last as long as the device,
 * also after their release. NULL without memory. */
FAKE_API void *fake_memory_new(FakeDevice *device, uint64_t byte_size);
/* Keeps books of memory that belongs to the caller. It is never touched. Memory that was released may come again. */
FAKE_API FakeViolation fake_memory_register(FakeDevice *device, void *data, uint64_t byte_size);
/* Work on a stream that reads or writes the memory. (It changes no byte.) */
FAKE_API FakeViolation fake_stream_read(FakeDevice *device, void *stream, const void *data);
FAKE_API FakeViolation fake_stream_write(FakeDevice *device, void *stream, const void *data);
/* The host reads or writes the memory now. */
FAKE_API FakeViolation fake_host_read(FakeDevice *device, const void *data);
FAKE_API FakeViolation fake_host_write(FakeDevice *device, const void *data);

/* --- Handoff: marks around the producer's call of hurray_buffer_handoff --- */

/* Right before the call. `event_or_stream`: NULL, the event, or the consumer's stream, as `mode` has it. PRODUCER_SYNCED
 * and EVENT are judged here, and once more at _returned. */
FAKE_API FakeViolation fake_handoff_begin(FakeDevice *device, const void *data, uint8_t mode, void *event_or_stream);
/* Right after a call that succeeded (or when the consumer's request returns). From here on one release of the memory, and
 * for EVENT one of the event, is owed. CONSUMER_STREAM is judged here. The same arguments again. */
FAKE_API FakeViolation fake_handoff_returned(FakeDevice *device, const void *data, uint8_t mode, void *event_or_stream);
/* Instead of _returned: the call failed, so nothing has moved. */
FAKE_API FakeViolation fake_handoff_failed(FakeDevice *device, const void *data, uint8_t mode, void *event_or_stream);

/* --- Callbacks --- */

/* A HurrayEventReleaseFn. The context is the device. */
FAKE_API void fake_event_release(void *event, void *device);
/* A HurrayReleaseCallback: `data` is the first byte of the memory. The context is the device. */
FAKE_API void fake_memory_release(void *data, void *device);
/* The addresses of these two, for languages that cannot name a C function. */
FAKE_API void *fake_event_release_address(void);
FAKE_API void *fake_memory_release_address(void);
/* Callbacks, since the start of the process, whose context was not a living device. */
FAKE_API uint64_t fake_stray_calls(void);

/* How often it was released; 0 for an unknown one. */
FAKE_API uint64_t fake_event_release_count(FakeDevice *device, const void *event);
FAKE_API uint64_t fake_memory_release_count(FakeDevice *device, const void *data);
/* Thread that released it last; 0: none has. */
FAKE_API uint64_t fake_event_release_thread(FakeDevice *device, const void *event);
FAKE_API uint64_t fake_memory_release_thread(FakeDevice *device, const void *data);
/* Id of the calling thread, comparable with these: 1, 2, 3 ... in the order in which threads come by; never used again. */
FAKE_API uint64_t fake_current_thread(void);
/* How many releases of events and of memory are owed. */
FAKE_API uint64_t fake_events_outstanding(FakeDevice *device);
FAKE_API uint64_t fake_memory_outstanding(FakeDevice *device);

/* --- Violations --- */

FAKE_API uint64_t fake_violation_count(FakeDevice *device);
FAKE_API uint64_t fake_violation_count_of(FakeDevice *device, FakeViolation kind);
/* Kind of the violation number `index`, the oldest is 0; FAKE_OK beyond the last. */
FAKE_API FakeViolation fake_violation_kind(FakeDevice *device, uint64_t index);
FAKE_API uint64_t fake_violation_message_copy(FakeDevice *device, uint64_t index, char *out, uint64_t capacity);
/* Such as "UNORDERED_READ"; static. "?" for a kind that does not exist. */
FAKE_API const char *fake_violation_name(FakeViolation kind);
/* Forgets the violations; everything else stays. For tests that provoke one and go on. */
FAKE_API void fake_violations_clear(FakeDevice *device);

/* --- Log: one line an operation, in order. N are numbers, given in order from 1; S is a stream's name ---
 *   write memory N on S | read memory N on S | host write memory N | host read memory N
 *   record event N on S | wait S for event N | wait S for S | wait host for event N | wait host for S
 *   handoff begins memory N mode M | ... mode 1 event N | ... mode 2 S | handoff returned ... | handoff failed ...
 *   release event N | release memory N | violation KIND: message | mark TEXT
 */

/* A line of the caller's own: "mark TEXT". */
FAKE_API void fake_log_mark(FakeDevice *device, const char *text);
/* Number of lines. */
FAKE_API uint64_t fake_log_length(FakeDevice *device);
/* All lines, each with a line feed at its end. */
FAKE_API uint64_t fake_log_copy(FakeDevice *device, char *out, uint64_t capacity);
FAKE_API uint64_t fake_log_line_copy(FakeDevice *device, uint64_t index, char *out, uint64_t capacity);
/* Thread that wrote the line; 0 beyond the last. */
FAKE_API uint64_t fake_log_line_thread(FakeDevice *device, uint64_t index);
/* Number of the first line at or after `from` that starts with `text`; -1 when there is none. */
FAKE_API int64_t fake_log_find(FakeDevice *device, const char *text, uint64_t from);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HURRAY_TESTS_FAKE_DEVICE_H_ */

#include "fake_device.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Component 0 of a clock is the host; component i is stream i. */
#define HOST 0
#define MAX_STREAMS 63
#define COMPONENTS (MAX_STREAMS + 1)
#define NAME_SIZE 32

typedef struct {
    uint64_t tick[COMPONENTS];
} Clock;

/* Component and number of the last access by it, and the log's line that has it. */
typedef struct {
    Clock clock;
    uint64_t line[COMPONENTS];
} Accesses;

typedef struct {
    unsigned component;
    char name[NAME_SIZE];
    Clock clock;
} Stream;

/* Handoffs and releases of one thing that owes a release for each handoff. */
typedef struct {
    uint64_t begun; /* not counting the failed ones */
    uint64_t returned;
    uint64_t released;
    uint64_t thread;
} Debts;

typedef struct {
    uint64_t number;
    bool recorded;
    Clock clock;
    Debts debts;
} Event;

typedef struct {
    uint64_t number;
    unsigned char *data;
    uint64_t byte_size;
    void *owned; /* what to free; NULL for the caller's own memory */
    Accesses writes;
    Accesses reads;
    Debts debts;
} Memory;

typedef struct {
    const void *data;
    void *event_or_stream;
    Memory *memory;
    Event *event;
    uint64_t memory_released; /* at the beginning */
    uint64_t event_released;
    uint8_t mode;
    bool open;
    bool faulted; /* found wrong at the beginning: not told twice */
} Handoff;

typedef struct {
    char *text;
    uint64_t thread;
} Line;

typedef struct {
    FakeViolation kind;
    char *message;
} Violation;

typedef struct {
    void **items;
    size_t size;
    size_t capacity;
} Pointers;

struct FakeDevice {
    Clock host;
    Pointers streams;
    Pointers events;
    Pointers memory;
    Pointers handoffs;
    Pointers lines;
    Pointers violations;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Pointers devices;
static uint64_t stray_calls;
static uint64_t threads_seen;
static _Thread_local uint64_t this_thread;

static const char *const kind_names[FAKE_VIOLATION_KINDS] = {
    "OK",
    "UNORDERED_READ",
    "UNORDERED_WRITE",
    "WAIT_UNRECORDED",
    "HANDOFF_UNSYNCED",
    "HANDOFF_EVENT_UNRECORDED",
    "HANDOFF_EVENT_MISSES_WRITE",
    "EVENT_RECORDED_LATE",
    "HANDOFF_NO_DEPENDENCY",
    "EVENT_RELEASED_TWICE",
    "EVENT_NEVER_RELEASED",
    "EVENT_USED_AFTER_RELEASE",
    "MEMORY_RELEASED_TWICE",
    "MEMORY_NEVER_RELEASED",
    "MEMORY_USED_AFTER_RELEASE",
    "UNKNOWN_HANDLE",
    "HANDOFF_UNPAIRED",
    "HANDOFF_BAD_MODE",
    "RELEASED_BY_FAILED_HANDOFF",
};

/* --- Small things. Everything below is called with the mutex held, unless it is exported. --- */

/* Books that cannot be kept would judge wrongly: then rather nothing. */
static void *checked(void *memory) {
    if (memory == NULL) {
        fputs("fake_device: out of memory\n", stderr);
        abort();
    }
    return memory;
}

static void append(Pointers *pointers, void *item) {
    if (pointers->size == pointers->capacity) {
        pointers->capacity = pointers->capacity == 0 ? 16 : 2 * pointers->capacity;
        pointers->items = checked(realloc(pointers->items, pointers->capacity * sizeof(void *)));
    }
    pointers->items[pointers->size++] = item;
}

static bool contains(const Pointers *pointers, const void *item) {
    for (size_t i = 0; i < pointers->size; ++i) {
        if (pointers->items[i] == item) return true;
    }
    return false;
}

static uint64_t current_thread(void) {
    if (this_thread == 0) this_thread = ++threads_seen;
    return this_thread;
}

static void merge(Clock *into, const Clock *from) {
    for (size_t i = 0; i < COMPONENTS; ++i) {
        if (into->tick[i] < from->tick[i]) into->tick[i] = from->tick[i];
    }
}

/* First component whose last access does not come before `clock`; -1 when all do. */
static int first_unordered(const Accesses *accesses, const Clock *clock) {
    for (int i = 0; i < COMPONENTS; ++i) {
        if (accesses->clock.tick[i] > clock->tick[i]) return i;
    }
    return -1;
}

static char *formatted(const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = checked(malloc((size_t)length + 1));
    vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

__attribute__((format(printf, 2, 3))) static void log_line(FakeDevice *device, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    Line *line = checked(malloc(sizeof(Line)));
    line->text = formatted(format, arguments);
    line->thread = current_thread();
    va_end(arguments);
    append(&device->lines, line);
}

__attribute__((format(printf, 3, 4))) static FakeViolation violation(FakeDevice *device, FakeViolation kind,
                                                                     const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    Violation *found = checked(malloc(sizeof(Violation)));
    found->kind = kind;
    found->message = formatted(format, arguments);
    va_end(arguments);
    append(&device->violations, found);
    log_line(device, "violation %s: %s", kind_names[kind], found->message);
    return kind;
}

static uint64_t copied(const char *text, char *out, uint64_t capacity) {
    const size_t length = strlen(text);
    if (out != NULL && capacity > 0) {
        const size_t count = length < capacity ? length : (size_t)capacity - 1;
        memcpy(out, text, count);
        out[count] = 0;
    }
    return length;
}

static bool alive(const FakeDevice *device) { return device != NULL && contains(&devices, device); }

static Stream *find_stream(const FakeDevice *device, const void *stream) {
    return contains(&device->streams, stream) ? (Stream *)stream : NULL;
}

static Event *find_event(const FakeDevice *device, const void *event) {
    return contains(&device->events, event) ? (Event *)event : NULL;
}

/* The newest comes first: an address may have been registered, released and registered again. */
static Memory *find_memory(const FakeDevice *device, const void *data) {
    const uintptr_t address = (uintptr_t)data;
    for (size_t i = device->memory.size; i-- > 0;) {
        Memory *memory = device->memory.items[i];
        const uintptr_t first = (uintptr_t)memory->data;
        if (address == first || (address > first && address - first < memory->byte_size)) return memory;
    }
    return NULL;
}

/* All debts are paid: the thing is gone. */
static bool paid(const Debts *debts) {
    return debts->released > 0 && debts->released >= debts->begun;
}

static const char *component_name(const FakeDevice *device, int component) {
    return component == HOST ? "host" : ((const Stream *)device->streams.items[component - 1])->name;
}

/* --- Devices --- */

static void free_all(Pointers *pointers) {
    for (size_t i = 0; i < pointers->size; ++i) free(pointers->items[i]);
    free(pointers->items);
    *pointers = (Pointers){0};
}

static void clear_violations(FakeDevice *device) {
    for (size_t i = 0; i < device->violations.size; ++i) free(((Violation *)device->violations.items[i])->message);
    free_all(&device->violations);
}

static void clear(FakeDevice *device) {
    clear_violations(device);
    for (size_t i = 0; i < device->lines.size; ++i) free(((Line *)device->lines.items[i])->text);
    for (size_t i = 0; i < device->memory.size; ++i) free(((Memory *)device->memory.items[i])->owned);
    free_all(&device->lines);
    free_all(&device->memory);
    free_all(&device->handoffs);
    free_all(&device->events);
    free_all(&device->streams);
    device->host = (Clock){0};
}

FakeDevice *fake_device_new(void) {
    FakeDevice *device = calloc(1, sizeof(FakeDevice));
    if (device == NULL) return NULL;
    pthread_mutex_lock(&mutex);
    append(&devices, device);
    pthread_mutex_unlock(&mutex);
    return device;
}

void fake_device_destroy(FakeDevice *device) {
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < devices.size; ++i) {
        if (devices.items[i] != device) continue;
        devices.items[i] = devices.items[--devices.size];
        clear(device);
        free(device);
        break;
    }
    if (devices.size == 0) free_all(&devices);
    pthread_mutex_unlock(&mutex);
}

void fake_device_reset(FakeDevice *device) {
    pthread_mutex_lock(&mutex);
    if (alive(device)) clear(device);
    pthread_mutex_unlock(&mutex);
}

/* Opens and closes an exported function that answers a violation. */
#define ENTER(device)                       \
    FakeViolation found = FAKE_OK;          \
    pthread_mutex_lock(&mutex);             \
    if (!alive(device)) {                   \
        pthread_mutex_unlock(&mutex);       \
        return FAKE_UNKNOWN_HANDLE;         \
    }
#define LEAVE()                   \
    pthread_mutex_unlock(&mutex); \
    return found
#define UNKNOWN(device, what, pointer) \
    violation(device, FAKE_UNKNOWN_HANDLE, "%s: %p is no %s of this device", __func__, (const void *)(pointer), what)

FakeViolation fake_device_finish(FakeDevice *device) {
    ENTER(device)
    FakeViolation kind = FAKE_OK;
    for (size_t i = 0; i < device->handoffs.size; ++i) {
        const Handoff *handoff = device->handoffs.items[i];
        if (!handoff->open) continue;
        kind = violation(device, FAKE_HANDOFF_UNPAIRED, "a handoff of memory %llu neither returned nor failed",
                         (unsigned long long)handoff->memory->number);
        if (found == FAKE_OK) found = kind;
    }
    for (size_t i = 0; i < device->events.size; ++i) {
        const Event *event = device->events.items[i];
        if (event->debts.released >= event->debts.returned) continue;
        kind = violation(device, FAKE_EVENT_NEVER_RELEASED, "event %llu: handed off %llu times, released %llu times",
                         (unsigned long long)event->number, (unsigned long long)event->debts.returned,
                         (unsigned long long)event->debts.released);
        if (found == FAKE_OK) found = kind;
    }
    for (size_t i = 0; i < device->memory.size; ++i) {
        const Memory *memory = device->memory.items[i];
        if (memory->debts.released >= memory->debts.returned) continue;
        kind = violation(device, FAKE_MEMORY_NEVER_RELEASED, "memory %llu: handed off %llu times, released %llu times",
                         (unsigned long long)memory->number, (unsigned long long)memory->debts.returned,
                         (unsigned long long)memory->debts.released);
        if (found == FAKE_OK) found = kind;
    }
    LEAVE();
}

/* --- Streams and events --- */

void *fake_stream_new(FakeDevice *device, const char *name) {
    Stream *stream = NULL;
    pthread_mutex_lock(&mutex);
    if (alive(device) && device->streams.size < MAX_STREAMS) {
        stream = checked(calloc(1, sizeof(Stream)));
        append(&device->streams, stream);
        stream->component = (unsigned)device->streams.size;
        if (name != NULL) {
            copied(name, stream->name, NAME_SIZE);
        } else {
            snprintf(stream->name, NAME_SIZE, "stream %u", stream->component);
        }
    }
    pthread_mutex_unlock(&mutex);
    return stream;
}

void *fake_event_new(FakeDevice *device) {
    Event *event = NULL;
    pthread_mutex_lock(&mutex);
    if (alive(device)) {
        event = checked(calloc(1, sizeof(Event)));
        append(&device->events, event);
        event->number = device->events.size;
    }
    pthread_mutex_unlock(&mutex);
    return event;
}

/* Whatever the host has waited for comes before what it enqueues now. Each piece of work is a tick of its own. */
static void enqueue(const FakeDevice *device, Stream *stream) {
    merge(&stream->clock, &device->host);
    ++stream->clock.tick[stream->component];
}

FakeViolation fake_event_record(FakeDevice *device, void *event_handle, void *stream_handle) {
    ENTER(device)
    Event *event = find_event(device, event_handle);
    Stream *stream = find_stream(device, stream_handle);
    if (event == NULL) {
        found = UNKNOWN(device, "event", event_handle);
    } else if (stream == NULL) {
        found = UNKNOWN(device, "stream", stream_handle);
    } else {
        enqueue(device, stream);
        log_line(device, "record event %llu on %s", (unsigned long long)event->number, stream->name);
        if (paid(&event->debts)) {
            found = violation(device, FAKE_EVENT_USED_AFTER_RELEASE, "event %llu is recorded after its release",
                              (unsigned long long)event->number);
        } else if (event->debts.begun > 0) {
            found = violation(device, FAKE_EVENT_RECORDED_LATE, "event %llu is recorded after its handoff began",
                              (unsigned long long)event->number);
        }
        event->recorded = true;
        event->clock = stream->clock;
    }
    LEAVE();
}

/* `waiting` gets what the event stands for. */
static FakeViolation wait_event(FakeDevice *device, const char *name, Clock *waiting, const Event *event) {
    log_line(device, "wait %s for event %llu", name, (unsigned long long)event->number);
    if (paid(&event->debts)) {
        return violation(device, FAKE_EVENT_USED_AFTER_RELEASE, "%s waits for event %llu after its release", name,
                         (unsigned long long)event->number);
    }
    if (!event->recorded) {
        return violation(device, FAKE_WAIT_UNRECORDED, "%s waits for event %llu, which nobody has recorded", name,
                         (unsigned long long)event->number);
    }
    merge(waiting, &event->clock);
    return FAKE_OK;
}

FakeViolation fake_stream_wait_event(FakeDevice *device, void *stream_handle, void *event_handle) {
    ENTER(device)
    const Event *event = find_event(device, event_handle);
    Stream *stream = find_stream(device, stream_handle);
    if (stream == NULL) {
        found = UNKNOWN(device, "stream", stream_handle);
    } else if (event == NULL) {
        found = UNKNOWN(device, "event", event_handle);
    } else {
        enqueue(device, stream);
        found = wait_event(device, stream->name, &stream->clock, event);
    }
    LEAVE();
}

FakeViolation fake_host_wait_event(FakeDevice *device, void *event_handle) {
    ENTER(device)
    const Event *event = find_event(device, event_handle);
    if (event == NULL) {
        found = UNKNOWN(device, "event", event_handle);
    } else {
        found = wait_event(device, "host", &device->host, event);
    }
    LEAVE();
}

FakeViolation fake_stream_wait_stream(FakeDevice *device, void *stream_handle, void *other_handle) {
    ENTER(device)
    Stream *stream = find_stream(device, stream_handle);
    Stream *other = find_stream(device, other_handle);
    if (stream == NULL || other == NULL) {
        found = UNKNOWN(device, "stream", stream == NULL ? stream_handle : other_handle);
    } else {
        log_line(device, "wait %s for %s", stream->name, other->name);
        enqueue(device, stream);
        merge(&stream->clock, &other->clock);
    }
    LEAVE();
}

FakeViolation fake_host_wait_stream(FakeDevice *device, void *stream_handle) {
    ENTER(device)
    const Stream *stream = find_stream(device, stream_handle);
    if (stream == NULL) {
        found = UNKNOWN(device, "stream", stream_handle);
    } else {
        log_line(device, "wait host for %s", stream->name);
        merge(&device->host, &stream->clock);
    }
    LEAVE();
}

/* --- Memory --- */

static Memory *add_memory(FakeDevice *device, void *data, uint64_t byte_size, void *owned) {
    Memory *memory = checked(calloc(1, sizeof(Memory)));
    append(&device->memory, memory);
    memory->number = device->memory.size;
    memory->data = data;
    memory->byte_size = byte_size;
    memory->owned = owned;
    return memory;
}

void *fake_memory_new(FakeDevice *device, uint64_t byte_size) {
    /* An empty piece has an address of its own, too. */
    if (byte_size > SIZE_MAX - 128) return NULL;
    const size_t size = ((size_t)byte_size / 64 + 1) * 64;
    void *data = NULL;
    pthread_mutex_lock(&mutex);
    if (alive(device)) {
        data = aligned_alloc(64, size);
        if (data != NULL) {
            memset(data, 0, size);
            add_memory(device, data, byte_size, data);
        }
    }
    pthread_mutex_unlock(&mutex);
    return data;
}

FakeViolation fake_memory_register(FakeDevice *device, void *data, uint64_t byte_size) {
    ENTER(device)
    add_memory(device, data, byte_size, NULL);
    LEAVE();
}

/* An access by a component whose clock already has the tick of this access. */
static FakeViolation judge_access(FakeDevice *device, Memory *memory, const Clock *clock, unsigned component, bool writes) {
    FakeViolation found = FAKE_OK;
    const char *name = component_name(device, (int)component);
    const uint64_t line = device->lines.size - 1; /* of this access, which is the last one */
    if (paid(&memory->debts)) {
        found = violation(device, FAKE_MEMORY_USED_AFTER_RELEASE, "%s accesses memory %llu after its release", name,
                          (unsigned long long)memory->number);
    } else {
        const char *earlier = "write";
        const Accesses *accesses = &memory->writes;
        int other = first_unordered(accesses, clock);
        if (other < 0 && writes) {
            earlier = "read";
            accesses = &memory->reads;
            other = first_unordered(accesses, clock);
        }
        if (other >= 0) {
            found = violation(device, writes ? FAKE_UNORDERED_WRITE : FAKE_UNORDERED_READ,
                              "the %s of memory %llu by %s is not ordered after its %s by %s (line %llu)",
                              writes ? "write" : "read", (unsigned long long)memory->number, name, earlier,
                              component_name(device, other), (unsigned long long)accesses->line[other]);
        }
    }
    Accesses *mine = writes ? &memory->writes : &memory->reads;
    mine->clock.tick[component] = clock->tick[component];
    mine->line[component] = line;
    return found;
}

static FakeViolation stream_access(FakeDevice *device, void *stream_handle, const void *data, bool writes) {
    ENTER(device)
    Stream *stream = find_stream(device, stream_handle);
    Memory *memory = find_memory(device, data);
    if (stream == NULL) {
        found = UNKNOWN(device, "stream", stream_handle);
    } else if (memory == NULL) {
        found = UNKNOWN(device, "memory", data);
    } else {
        enqueue(device, stream);
        log_line(device, "%s memory %llu on %s", writes ? "write" : "read", (unsigned long long)memory->number, stream->name);
        found = judge_access(device, memory, &stream->clock, stream->component, writes);
    }
    LEAVE();
}

static FakeViolation host_access(FakeDevice *device, const void *data, bool writes) {
    ENTER(device)
    Memory *memory = find_memory(device, data);
    if (memory == NULL) {
        found = UNKNOWN(device, "memory", data);
    } else {
        ++device->host.tick[HOST];
        log_line(device, "host %s memory %llu", writes ? "write" : "read", (unsigned long long)memory->number);
        found = judge_access(device, memory, &device->host, HOST, writes);
    }
    LEAVE();
}

FakeViolation fake_stream_read(FakeDevice *device, void *stream, const void *data) {
    return stream_access(device, stream, data, false);
}
FakeViolation fake_stream_write(FakeDevice *device, void *stream, const void *data) {
    return stream_access(device, stream, data, true);
}
FakeViolation fake_host_read(FakeDevice *device, const void *data) { return host_access(device, data, false); }
FakeViolation fake_host_write(FakeDevice *device, const void *data) { return host_access(device, data, true); }

/* --- Handoff --- */

static void log_handoff(FakeDevice *device, const char *step, const Memory *memory, uint8_t mode, const Event *event,
                        const Stream *stream) {
    const unsigned long long number = memory->number;
    if (event != NULL) {
        log_line(device, "handoff %s memory %llu mode %u event %llu", step, number, mode, (unsigned long long)event->number);
    } else if (stream != NULL) {
        log_line(device, "handoff %s memory %llu mode %u %s", step, number, mode, stream->name);
    } else {
        log_line(device, "handoff %s memory %llu mode %u", step, number, mode);
    }
}

/* What PRODUCER_SYNCED and EVENT ask for. */
static FakeViolation judge_written(FakeDevice *device, const Memory *memory, uint8_t mode, const Event *event) {
    if (mode == FAKE_MODE_PRODUCER_SYNCED) {
        const int late = first_unordered(&memory->writes, &device->host);
        if (late < 0) return FAKE_OK;
        return violation(device, FAKE_HANDOFF_UNSYNCED,
                         "memory %llu is handed off as synchronised, but the host has not waited for its write by %s (line %llu)",
                         (unsigned long long)memory->number, component_name(device, late),
                         (unsigned long long)memory->writes.line[late]);
    }
    if (!event->recorded) {
        return violation(device, FAKE_HANDOFF_EVENT_UNRECORDED, "memory %llu is handed off with event %llu, which nobody has recorded",
                         (unsigned long long)memory->number, (unsigned long long)event->number);
    }
    const int late = first_unordered(&memory->writes, &event->clock);
    if (late < 0) return FAKE_OK;
    return violation(device, FAKE_HANDOFF_EVENT_MISSES_WRITE,
                     "memory %llu is handed off with event %llu, which does not cover its write by %s (line %llu)",
                     (unsigned long long)memory->number, (unsigned long long)event->number, component_name(device, late),
                     (unsigned long long)memory->writes.line[late]);
}

static FakeViolation judge_dependency(FakeDevice *device, const Memory *memory, const Stream *stream) {
    /* The stream's next work would also come after what the host has waited for. */
    Clock clock = stream->clock;
    merge(&clock, &device->host);
    const int late = first_unordered(&memory->writes, &clock);
    if (late < 0) return FAKE_OK;
    return violation(device, FAKE_HANDOFF_NO_DEPENDENCY,
                     "the handoff of memory %llu returned, but %s does not wait for its write by %s (line %llu)",
                     (unsigned long long)memory->number, stream->name, component_name(device, late),
                     (unsigned long long)memory->writes.line[late]);
}

FakeViolation fake_handoff_begin(FakeDevice *device, const void *data, uint8_t mode, void *event_or_stream) {
    ENTER(device)
    Memory *memory = find_memory(device, data);
    Event *event = mode == FAKE_MODE_EVENT ? find_event(device, event_or_stream) : NULL;
    const Stream *stream = mode == FAKE_MODE_CONSUMER_STREAM ? find_stream(device, event_or_stream) : NULL;
    if (memory == NULL) {
        found = UNKNOWN(device, "memory", data);
    } else if (mode > FAKE_MODE_CONSUMER_STREAM) {
        found = violation(device, FAKE_HANDOFF_BAD_MODE, "there is no mode %u", mode);
    } else if (mode == FAKE_MODE_PRODUCER_SYNCED && event_or_stream != NULL) {
        found = violation(device, FAKE_HANDOFF_BAD_MODE, "mode 0 has neither event nor stream");
    } else if (mode == FAKE_MODE_EVENT && event == NULL) {
        found = violation(device, FAKE_HANDOFF_BAD_MODE, "mode 1: %p is no event of this device", event_or_stream);
    } else if (mode == FAKE_MODE_CONSUMER_STREAM && stream == NULL) {
        found = violation(device, FAKE_HANDOFF_BAD_MODE, "mode 2: %p is no stream of this device", event_or_stream);
    } else {
        log_handoff(device, "begins", memory, mode, event, stream);
        Handoff *handoff = checked(calloc(1, sizeof(Handoff)));
        append(&device->handoffs, handoff);
        *handoff = (Handoff){
            .data = data,
            .event_or_stream = event_or_stream,
            .memory = memory,
            .event = event,
            .memory_released = memory->debts.released,
            .event_released = event == NULL ? 0 : event->debts.released,
            .mode = mode,
            .open = true,
        };
        if (paid(&memory->debts)) {
            found = violation(device, FAKE_MEMORY_USED_AFTER_RELEASE, "memory %llu is handed off after its release",
                              (unsigned long long)memory->number);
        } else if (event != NULL && paid(&event->debts)) {
            found = violation(device, FAKE_EVENT_USED_AFTER_RELEASE, "event %llu is handed off after its release",
                              (unsigned long long)event->number);
        } else if (mode != FAKE_MODE_CONSUMER_STREAM) {
            found = judge_written(device, memory, mode, event);
        }
        handoff->faulted = found != FAKE_OK;
        ++memory->debts.begun;
        if (event != NULL) ++event->debts.begun;
    }
    LEAVE();
}

/* Closes the newest open handoff with these arguments. */
static Handoff *close_handoff(FakeDevice *device, const char *step, const void *data, uint8_t mode, const void *event_or_stream) {
    for (size_t i = device->handoffs.size; i-- > 0;) {
        Handoff *handoff = device->handoffs.items[i];
        if (handoff->open && handoff->data == data && handoff->mode == mode && handoff->event_or_stream == event_or_stream) {
            handoff->open = false;
            log_handoff(device, step, handoff->memory, mode, handoff->event,
                        mode == FAKE_MODE_CONSUMER_STREAM ? event_or_stream : NULL);
            return handoff;
        }
    }
    violation(device, FAKE_HANDOFF_UNPAIRED, "a handoff of %p with mode %u and %p %s, but began with no such arguments", data,
              mode, event_or_stream, step);
    return NULL;
}

FakeViolation fake_handoff_returned(FakeDevice *device, const void *data, uint8_t mode, void *event_or_stream) {
    ENTER(device)
    const Handoff *handoff = close_handoff(device, "returned", data, mode, event_or_stream);
    if (handoff == NULL) {
        found = FAKE_HANDOFF_UNPAIRED;
    } else {
        ++handoff->memory->debts.returned;
        if (handoff->event != NULL) ++handoff->event->debts.returned;
        if (mode == FAKE_MODE_CONSUMER_STREAM) {
            found = judge_dependency(device, handoff->memory, event_or_stream);
        } else if (!handoff->faulted) {
            found = judge_written(device, handoff->memory, mode, handoff->event);
        }
    }
    LEAVE();
}

FakeViolation fake_handoff_failed(FakeDevice *device, const void *data, uint8_t mode, void *event_or_stream) {
    ENTER(device)
    const Handoff *handoff = close_handoff(device, "failed", data, mode, event_or_stream);
    if (handoff == NULL) {
        found = FAKE_HANDOFF_UNPAIRED;
    } else {
        --handoff->memory->debts.begun;
        if (handoff->event != NULL) --handoff->event->debts.begun;
        if (handoff->memory->debts.released != handoff->memory_released) {
            found = violation(device, FAKE_RELEASED_BY_FAILED_HANDOFF, "the handoff of memory %llu failed and released it all the same",
                              (unsigned long long)handoff->memory->number);
        }
        if (handoff->event != NULL && handoff->event->debts.released != handoff->event_released) {
            found = violation(device, FAKE_RELEASED_BY_FAILED_HANDOFF, "the handoff with event %llu failed and released it all the same",
                              (unsigned long long)handoff->event->number);
        }
    }
    LEAVE();
}

/* --- Callbacks --- */

/* Counts a release; whether there was one too many. */
static bool release(Debts *debts) {
    const bool excess = paid(debts);
    ++debts->released;
    debts->thread = current_thread();
    return excess;
}

void fake_event_release(void *event_handle, void *context) {
    FakeDevice *device = context;
    pthread_mutex_lock(&mutex);
    if (!alive(device)) {
        ++stray_calls;
    } else {
        Event *event = find_event(device, event_handle);
        if (event == NULL) {
            UNKNOWN(device, "event", event_handle);
        } else {
            log_line(device, "release event %llu", (unsigned long long)event->number);
            if (release(&event->debts)) {
                violation(device, FAKE_EVENT_RELEASED_TWICE, "event %llu: handed off %llu times, release number %llu",
                          (unsigned long long)event->number, (unsigned long long)event->debts.begun,
                          (unsigned long long)event->debts.released);
            }
        }
    }
    pthread_mutex_unlock(&mutex);
}

void fake_memory_release(void *data, void *context) {
    FakeDevice *device = context;
    pthread_mutex_lock(&mutex);
    if (!alive(device)) {
        ++stray_calls;
    } else {
        Memory *memory = find_memory(device, data);
        if (memory == NULL) {
            UNKNOWN(device, "memory", data);
        } else if (memory->data != data) {
            violation(device, FAKE_UNKNOWN_HANDLE, "%s: %p is not the first byte of memory %llu", __func__, data,
                      (unsigned long long)memory->number);
        } else {
            log_line(device, "release memory %llu", (unsigned long long)memory->number);
            if (release(&memory->debts)) {
                violation(device, FAKE_MEMORY_RELEASED_TWICE, "memory %llu: handed off %llu times, release number %llu",
                          (unsigned long long)memory->number, (unsigned long long)memory->debts.begun,
                          (unsigned long long)memory->debts.released);
            }
        }
    }
    pthread_mutex_unlock(&mutex);
}

/* ISO C has no conversion of a function's address to void *; POSIX has one, for dlsym. */
void *fake_event_release_address(void) { return (void *)(uintptr_t)&fake_event_release; }
void *fake_memory_release_address(void) { return (void *)(uintptr_t)&fake_memory_release; }

uint64_t fake_stray_calls(void) {
    pthread_mutex_lock(&mutex);
    const uint64_t calls = stray_calls;
    pthread_mutex_unlock(&mutex);
    return calls;
}

static Debts debts_of(FakeDevice *device, const void *handle, bool is_event) {
    Debts debts = {0};
    pthread_mutex_lock(&mutex);
    if (alive(device)) {
        if (is_event) {
            const Event *event = find_event(device, handle);
            if (event != NULL) debts = event->debts;
        } else {
            const Memory *memory = find_memory(device, handle);
            if (memory != NULL) debts = memory->debts;
        }
    }
    pthread_mutex_unlock(&mutex);
    return debts;
}

uint64_t fake_event_release_count(FakeDevice *device, const void *event) { return debts_of(device, event, true).released; }
uint64_t fake_memory_release_count(FakeDevice *device, const void *data) { return debts_of(device, data, false).released; }
uint64_t fake_event_release_thread(FakeDevice *device, const void *event) { return debts_of(device, event, true).thread; }
uint64_t fake_memory_release_thread(FakeDevice *device, const void *data) { return debts_of(device, data, false).thread; }

uint64_t fake_current_thread(void) {
    pthread_mutex_lock(&mutex);
    const uint64_t thread = current_thread();
    pthread_mutex_unlock(&mutex);
    return thread;
}

static uint64_t owed(const Debts *debts) { return debts->returned > debts->released ? debts->returned - debts->released : 0; }

uint64_t fake_events_outstanding(FakeDevice *device) {
    uint64_t sum = 0;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; alive(device) && i < device->events.size; ++i) sum += owed(&((Event *)device->events.items[i])->debts);
    pthread_mutex_unlock(&mutex);
    return sum;
}

uint64_t fake_memory_outstanding(FakeDevice *device) {
    uint64_t sum = 0;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; alive(device) && i < device->memory.size; ++i) sum += owed(&((Memory *)device->memory.items[i])->debts);
    pthread_mutex_unlock(&mutex);
    return sum;
}

/* --- Violations and log --- */

uint64_t fake_violation_count(FakeDevice *device) {
    pthread_mutex_lock(&mutex);
    const uint64_t count = alive(device) ? device->violations.size : 0;
    pthread_mutex_unlock(&mutex);
    return count;
}

uint64_t fake_violation_count_of(FakeDevice *device, FakeViolation kind) {
    uint64_t count = 0;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; alive(device) && i < device->violations.size; ++i) {
        if (((const Violation *)device->violations.items[i])->kind == kind) ++count;
    }
    pthread_mutex_unlock(&mutex);
    return count;
}

FakeViolation fake_violation_kind(FakeDevice *device, uint64_t index) {
    FakeViolation kind = FAKE_OK;
    pthread_mutex_lock(&mutex);
    if (alive(device) && index < device->violations.size) kind = ((const Violation *)device->violations.items[index])->kind;
    pthread_mutex_unlock(&mutex);
    return kind;
}

uint64_t fake_violation_message_copy(FakeDevice *device, uint64_t index, char *out, uint64_t capacity) {
    pthread_mutex_lock(&mutex);
    const char *message = "";
    if (alive(device) && index < device->violations.size) message = ((const Violation *)device->violations.items[index])->message;
    const uint64_t length = copied(message, out, capacity);
    pthread_mutex_unlock(&mutex);
    return length;
}

const char *fake_violation_name(FakeViolation kind) { return kind < FAKE_VIOLATION_KINDS ? kind_names[kind] : "?"; }

void fake_violations_clear(FakeDevice *device) {
    pthread_mutex_lock(&mutex);
    if (alive(device)) clear_violations(device);
    pthread_mutex_unlock(&mutex);
}

void fake_log_mark(FakeDevice *device, const char *text) {
    pthread_mutex_lock(&mutex);
    if (alive(device)) log_line(device, "mark %s", text == NULL ? "" : text);
    pthread_mutex_unlock(&mutex);
}

uint64_t fake_log_length(FakeDevice *device) {
    pthread_mutex_lock(&mutex);
    const uint64_t length = alive(device) ? device->lines.size : 0;
    pthread_mutex_unlock(&mutex);
    return length;
}

uint64_t fake_log_copy(FakeDevice *device, char *out, uint64_t capacity) {
    uint64_t length = 0;
    pthread_mutex_lock(&mutex);
    if (out != NULL && capacity > 0) out[0] = 0;
    for (size_t i = 0; alive(device) && i < device->lines.size; ++i) {
        const char *text = ((const Line *)device->lines.items[i])->text;
        const char *const parts[] = {text, "\n"};
        for (size_t part = 0; part < 2; ++part) {
            const bool room = out != NULL && length < capacity;
            length += copied(parts[part], room ? out + length : NULL, room ? capacity - length : 0);
        }
    }
    pthread_mutex_unlock(&mutex);
    return length;
}

uint64_t fake_log_line_copy(FakeDevice *device, uint64_t index, char *out, uint64_t capacity) {
    pthread_mutex_lock(&mutex);
    const char *text = alive(device) && index < device->lines.size ? ((const Line *)device->lines.items[index])->text : "";
    const uint64_t length = copied(text, out, capacity);
    pthread_mutex_unlock(&mutex);
    return length;
}

uint64_t fake_log_line_thread(FakeDevice *device, uint64_t index) {
    pthread_mutex_lock(&mutex);
    const uint64_t thread = alive(device) && index < device->lines.size ? ((const Line *)device->lines.items[index])->thread : 0;
    pthread_mutex_unlock(&mutex);
    return thread;
}

int64_t fake_log_find(FakeDevice *device, const char *text, uint64_t from) {
    int64_t line = -1;
    pthread_mutex_lock(&mutex);
    if (alive(device) && text != NULL) {
        const size_t length = strlen(text);
        for (uint64_t i = from; i < device->lines.size; ++i) {
            if (strncmp(((const Line *)device->lines.items[i])->text, text, length) == 0) {
                line = (int64_t)i;
                break;
            }
        }
    }
    pthread_mutex_unlock(&mutex);
    return line;
}

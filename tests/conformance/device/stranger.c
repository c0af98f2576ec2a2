/* mmap's MAP_ANONYMOUS is no part of ISO C. */
#define _GNU_SOURCE

#include "stranger.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hurray/abi.h"

/* --- What another copy has: prefix and table, written down anew, as another implementation would from docs/abi.md --- */

/* Name without hurray_, parameters. Frozen order. */
#define SPY_FUNCTIONS(ENTRY)                                                                                        \
    ENTRY(tensor_context_abi_version, (const HurrayTensorContext *ctx, uint32_t *out))                              \
    ENTRY(tensor_context_descriptor, (const HurrayTensorContext *ctx, const uint8_t **out_bytes, uint64_t *out_len)) \
    ENTRY(tensor_context_destroy, (HurrayTensorContext * *ctx))                                                     \
    ENTRY(tensor_context_destroy_deferred, (HurrayTensorContext * *ctx, HurrayError * error))                       \
    ENTRY(tensor_context_set_release_queue,                                                                         \
          (HurrayTensorContext * ctx, const HurrayReleaseQueue *queue, HurrayError *error))                         \
    ENTRY(buffer_list_new, (uint64_t capacity_hint, HurrayBufferList * *out_list))                                  \
    ENTRY(buffer_list_push, (HurrayBufferList * list, HurrayBuffer * buffer))                                       \
    ENTRY(buffer_list_len, (const HurrayBufferList *list, uint64_t *out_length))                                    \
    ENTRY(buffer_list_get, (const HurrayBufferList *list, uint64_t index, HurrayBuffer **out_buffer))               \
    ENTRY(buffer_list_destroy, (HurrayBufferList * *list))                                                          \
    ENTRY(buffer_list_destroy_deferred, (HurrayBufferList * *list, HurrayError * error))                            \
    ENTRY(buffer_share, (const HurrayBuffer *buffer, HurrayBuffer **out_handle, HurrayError *error))                \
    ENTRY(buffer_slice,                                                                                             \
          (const HurrayBuffer *buffer, uint64_t offset, uint64_t byte_size, HurrayBuffer **out_handle, HurrayError *error)) \
    ENTRY(buffer_info, (const HurrayBuffer *buffer, HurrayBufferInfo *out_info, HurrayError *error))                \
    ENTRY(buffer_handle_bytes, (const HurrayBuffer *buffer, HurrayBufferHandleBytes *out_bytes, HurrayError *error)) \
    ENTRY(buffer_prefix, (const HurrayBuffer *buffer, uint64_t *out_prefix, HurrayError *error))                    \
    ENTRY(buffer_set_read_only, (HurrayBuffer * buffer, HurrayError * error))                                       \
    ENTRY(buffer_set_release_queue, (HurrayBuffer * buffer, const HurrayReleaseQueue *queue, HurrayError *error))   \
    ENTRY(buffer_set_release_any_thread, (HurrayBuffer * buffer, HurrayError * error))                              \
    ENTRY(buffer_event, (const HurrayBuffer *buffer, void **out_sync_handle, uint8_t *out_tag, HurrayError *error)) \
    ENTRY(buffer_event_release, (HurrayBuffer * buffer, HurrayError * error))                                       \
    ENTRY(buffer_stream, (const HurrayBuffer *buffer, void **out_stream, uint8_t *out_tag, HurrayError *error))     \
    ENTRY(buffer_destroy, (HurrayBuffer * buffer))                                                                  \
    ENTRY(buffer_destroy_deferred, (HurrayBuffer * buffer, HurrayError * error))                                    \
    ENTRY(tensor_export,                                                                                            \
          (const HurrayTensor *tensor, HurrayBufferList **out_list, HurrayTensorContext **out_context, HurrayError *error)) \
    ENTRY(tensor_share, (const HurrayTensor *tensor, HurrayTensor **out_tensor, HurrayError *error))                \
    ENTRY(tensor_view, (const HurrayTensor *tensor, HurrayView *out_view, HurrayError *error))                      \
    ENTRY(tensor_buffer, (const HurrayTensor *tensor, uint32_t index, HurrayBuffer **out_buffer, HurrayError *error)) \
    ENTRY(tensor_copy, (const HurrayTensor *tensor, uint32_t alignment, HurrayTensor **out_tensor,                  \
                        uint64_t *out_copied_bytes, HurrayError *error))                                            \
    ENTRY(tensor_destroy, (HurrayTensor * *tensor))                                                                 \
    ENTRY(tensor_destroy_deferred, (HurrayTensor * *tensor, HurrayError * error))

typedef struct {
    uint32_t size;
    uint32_t c_abi_version;
    uint8_t (*supports)(uint32_t version);
    const char *(*build_id)(void);
#define FIELD(name, parameters) HurrayStatus(*name) parameters;
    SPY_FUNCTIONS(FIELD)
#undef FIELD
} Table;

typedef struct {
    uint64_t magic;
    uint32_t generation;
    uint32_t version;
    const Table *table;
} Prefix;

_Static_assert(offsetof(Prefix, magic) == 0 && offsetof(Prefix, generation) == 8, "frozen prefix");
_Static_assert(offsetof(Prefix, version) == 12 && offsetof(Prefix, table) == 16, "frozen prefix");
_Static_assert(offsetof(Table, size) == 0 && offsetof(Table, c_abi_version) == 4, "frozen head of the table");
_Static_assert(offsetof(Table, supports) == 8 && offsetof(Table, build_id) == 8 + sizeof(void *), "frozen head of the table");

enum {
#define NUMBER(name, parameters) NUMBER_##name,
    NUMBER_supports,
    NUMBER_build_id,
    SPY_FUNCTIONS(NUMBER) ENTRIES
#undef NUMBER
};

static const char *const entry_names[ENTRIES] = {
    "supports",
    "build_id",
#define NAME(name, parameters) #name,
    SPY_FUNCTIONS(NAME)
#undef NAME
};

#define GENERATION 1
#define DEAD_MAGIC UINT64_C(0xDEADDEADDEADDEAD)

uint64_t stranger_right_magic(uint32_t kind) { return UINT64_C(0x5941525255480000) | kind; }
uint64_t stranger_wrong_magic(void) { return UINT64_C(0x3154534547455547); }

/* --- The content of all pairs --- */

#define BYTE_SIZE 48

static const uint8_t descriptor_template[] = {
    'H', 'R', 'R', 'Y', 1, 0, 61, 0, 0, 0, 0, 0, 0, 0,                    /* header: version 1.0, length, flags */
    HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_ROW_MAJOR, 2, 0, 0, 0,             /* rank 2 */
    3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0,                       /* shape */
    0, 0, 0, 0, 0, 0, 0, 0, 1,                                            /* byte offset, number of buffers */
    BYTE_SIZE, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, HURRAY_DEVICE_CPU, 0, 0, 0, /* buffer table */
};
#define DESCRIPTOR_SIZE 61
#define TABLE_OFFSET 45
_Static_assert(sizeof descriptor_template == DESCRIPTOR_SIZE, "the length that the descriptor names");

static const int64_t shape[2] = {3, 4};

/* --- Spies --- */

typedef struct Object {
    Prefix *prefix; /* ends with its page */
    uint32_t kind;
    bool alive;
    bool borrowed;
    /* Buffers. */
    uint8_t handle_bytes[16];
    unsigned char *data;
    uint32_t flags;
    uint64_t share_count;
    void *sync_handle;
    HurrayEventReleaseFn release;
    void *release_context;
    bool event_released;
    /* Lists, and the buffer of a tensor. */
    struct Object *buffers[255];
    uint64_t length;
    /* Contexts and tensors. */
    uint8_t descriptor[DESCRIPTOR_SIZE];
    struct Object *next;
} Object;

typedef struct Line {
    char text[48];
    bool accessor;
} Line;

struct Spy {
    Table *table; /* its last byte ends its page */
    Object *objects;
    unsigned char *data;
    Line *lines;
    uint64_t line_count;
    uint64_t line_capacity;
    uint64_t misuses;
    uint32_t version;
    uint32_t context_version;
    uint32_t lowest;
    uint32_t highest;
    int32_t answers[ENTRIES];
    uint32_t slot;
    uint8_t build_id_text[24];
};

/* `supports`, `build_id` and `buffer_list_new` get no handle: each spy needs its own. */
#define SLOTS 16
static Spy *slots[SLOTS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *checked(void *memory) {
    if (memory == NULL) {
        fputs("stranger: out of memory\n", stderr);
        abort();
    }
    return memory;
}

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* `size` bytes, at most a page, behind which nothing can be read. */
static void *edge_new(size_t size) {
    const size_t page = page_size();
    unsigned char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return NULL;
    if (mprotect(pages + page, page, PROT_NONE) != 0) {
        munmap(pages, 2 * page);
        return NULL;
    }
    return pages + page - size;
}

static void edge_free(void *memory) {
    const size_t page = page_size();
    munmap((void *)((uintptr_t)memory / page * page), 2 * page);
}

static void log_call(Spy *spy, const char *text, bool accessor) {
    if (spy->line_count == spy->line_capacity) {
        spy->line_capacity = spy->line_capacity == 0 ? 64 : 2 * spy->line_capacity;
        spy->lines = checked(realloc(spy->lines, spy->line_capacity * sizeof(Line)));
    }
    Line *line = &spy->lines[spy->line_count++];
    snprintf(line->text, sizeof line->text, "%s", text);
    line->accessor = accessor;
}

static HurrayStatus fail(HurrayError *error, HurrayStatus status, const char *function) {
    if (error != NULL) {
        error->code = status;
        snprintf(error->message, sizeof error->message, "spy: hurray_%s", function);
    }
    return status;
}

static Object *object_of(const Spy *spy, const void *handle) {
    for (Object *object = spy->objects; object != NULL; object = object->next) {
        if (object->prefix == handle) return object;
    }
    return NULL;
}

static Spy *spy_of(const void *handle) {
    for (size_t i = 0; i < SLOTS; ++i) {
        if (slots[i] != NULL && object_of(slots[i], handle) != NULL) return slots[i];
    }
    return NULL;
}

static Object *object_new(Spy *spy, uint32_t kind) {
    Object *object = checked(calloc(1, sizeof(Object)));
    object->prefix = checked(edge_new(sizeof(Prefix)));
    *object->prefix = (Prefix){stranger_right_magic(kind), GENERATION, spy->version, spy->table};
    object->kind = kind;
    object->alive = true;
    object->share_count = 1;
    object->next = spy->objects;
    spy->objects = object;
    return object;
}

/* A call of function `number` with a handle that must be alive and of this kind. With the mutex held; NULL: answer
 * `*status`. */
static Object *called(const void *handle, unsigned number, uint32_t kind, Spy **out_spy, HurrayStatus *status) {
    Spy *spy = spy_of(handle);
    *out_spy = spy;
    *status = HURRAY_ERR_INVALID_HANDLE;
    if (spy == NULL) return NULL;
    log_call(spy, entry_names[number], number != NUMBER_tensor_context_abi_version);
    Object *object = object_of(spy, handle);
    if (!object->alive || object->kind != kind) {
        ++spy->misuses;
        return NULL;
    }
    *status = spy->answers[number];
    return *status == HURRAY_OK ? object : NULL;
}

/* Opens a function of the table: `object` and `spy` are those of the handle. The mutex is held until LEAVE. */
#define CALLED(function, handle, kind, error)                                           \
    HurrayStatus status = HURRAY_OK;                                                    \
    Spy *spy = NULL;                                                                    \
    pthread_mutex_lock(&mutex);                                                         \
    Object *object = called(handle, NUMBER_##function, kind, &spy, &status);            \
    if (object == NULL) {                                                               \
        pthread_mutex_unlock(&mutex);                                                   \
        return fail(error, status, #function);                                          \
    }
#define LEAVE(error, function)                                                  \
    pthread_mutex_unlock(&mutex);                                               \
    return status == HURRAY_OK ? HURRAY_OK : fail(error, status, function)

/* Callbacks run without the mutex: they may call back. */
typedef struct {
    HurrayEventReleaseFn function;
    void *sync_handle;
    void *context;
} Release;

typedef struct {
    Release items[255];
    size_t count;
} Releases;

static void take_event(Object *buffer, Releases *releases) {
    if (buffer->release == NULL || buffer->event_released) return;
    buffer->event_released = true;
    releases->items[releases->count++] = (Release){buffer->release, buffer->sync_handle, buffer->release_context};
}

static void run(const Releases *releases) {
    for (size_t i = 0; i < releases->count; ++i) releases->items[i].function(releases->items[i].sync_handle, releases->items[i].context);
}

static void end(Object *object, Releases *releases) {
    object->alive = false;
    object->prefix->magic = DEAD_MAGIC;
    if (object->kind == STRANGER_BUFFER) take_event(object, releases);
    for (uint64_t i = 0; i < object->length; ++i) {
        Object *buffer = object->buffers[i];
        if (buffer != NULL && buffer->alive) end(buffer, releases);
    }
}

static Object *buffer_new(Spy *spy, uint8_t device, uint8_t mode, void *sync_handle) {
    Object *buffer = object_new(spy, STRANGER_BUFFER);
    memcpy(buffer->handle_bytes, descriptor_template + TABLE_OFFSET, 16);
    buffer->handle_bytes[12] = device;
    buffer->handle_bytes[13] = mode;
    buffer->data = spy->data;
    buffer->sync_handle = sync_handle;
    return buffer;
}

static void add(Object *owner, Object *buffer) {
    buffer->borrowed = true;
    owner->buffers[owner->length++] = buffer;
}

static void describe(Object *object, uint8_t device, uint8_t mode) {
    memcpy(object->descriptor, descriptor_template, DESCRIPTOR_SIZE);
    object->descriptor[TABLE_OFFSET + 12] = device;
    object->descriptor[TABLE_OFFSET + 13] = mode;
}

static Object *list_of(Spy *spy, Object *buffer) {
    Object *list = object_new(spy, STRANGER_LIST);
    add(list, buffer);
    return list;
}

static Object *context_of(Spy *spy, uint8_t device, uint8_t mode) {
    Object *context = object_new(spy, STRANGER_CONTEXT);
    describe(context, device, mode);
    return context;
}

static Object *tensor_of(Spy *spy) {
    Object *tensor = object_new(spy, STRANGER_TENSOR);
    add(tensor, buffer_new(spy, HURRAY_DEVICE_CPU, HURRAY_SYNC_PRODUCER_SYNCED, NULL));
    describe(tensor, HURRAY_DEVICE_CPU, HURRAY_SYNC_PRODUCER_SYNCED);
    return tensor;
}

/* --- The functions of the table --- */

static uint8_t supports(uint32_t slot, uint32_t version) {
    char text[32];
    uint8_t answer = 0;
    snprintf(text, sizeof text, "supports %u", version);
    pthread_mutex_lock(&mutex);
    Spy *spy = slots[slot];
    if (spy != NULL) {
        log_call(spy, text, false);
        answer = version >= spy->lowest && version <= spy->highest;
    }
    pthread_mutex_unlock(&mutex);
    return answer;
}

static const char *build_id(uint32_t slot) {
    const char *text = "";
    pthread_mutex_lock(&mutex);
    if (slots[slot] != NULL) {
        log_call(slots[slot], "build_id", false);
        text = (const char *)slots[slot]->build_id_text;
    }
    pthread_mutex_unlock(&mutex);
    return text;
}

static HurrayStatus buffer_list_new(uint32_t slot, HurrayBufferList **out_list) {
    HurrayStatus status = HURRAY_ERR_INTERNAL;
    *out_list = NULL;
    pthread_mutex_lock(&mutex);
    Spy *spy = slots[slot];
    if (spy != NULL) {
        log_call(spy, "buffer_list_new", true);
        status = spy->answers[NUMBER_buffer_list_new];
        if (status == HURRAY_OK) *out_list = (HurrayBufferList *)object_new(spy, STRANGER_LIST)->prefix;
    }
    pthread_mutex_unlock(&mutex);
    return status;
}

static HurrayStatus spy_tensor_context_abi_version(const HurrayTensorContext *ctx, uint32_t *out) {
    CALLED(tensor_context_abi_version, ctx, STRANGER_CONTEXT, NULL)
    *out = spy->context_version;
    LEAVE(NULL, NULL);
}

static HurrayStatus spy_tensor_context_descriptor(const HurrayTensorContext *ctx, const uint8_t **out_bytes, uint64_t *out_len) {
    CALLED(tensor_context_descriptor, ctx, STRANGER_CONTEXT, NULL)
    *out_bytes = object->descriptor;
    *out_len = DESCRIPTOR_SIZE;
    LEAVE(NULL, NULL);
}

/* Ends the handle in the caller's variable. */
static HurrayStatus destroy_in(void **variable, unsigned number, uint32_t kind, HurrayError *error) {
    HurrayStatus status = HURRAY_OK;
    Spy *spy = NULL;
    Releases *releases = checked(calloc(1, sizeof(Releases)));
    pthread_mutex_lock(&mutex);
    Object *object = called(*variable, number, kind, &spy, &status);
    if (object != NULL) {
        end(object, releases);
        *variable = NULL;
    }
    pthread_mutex_unlock(&mutex);
    run(releases);
    free(releases);
    return status == HURRAY_OK ? HURRAY_OK : fail(error, status, entry_names[number]);
}

static HurrayStatus spy_tensor_context_destroy(HurrayTensorContext **ctx) {
    void *handle = *ctx;
    const HurrayStatus status = destroy_in(&handle, NUMBER_tensor_context_destroy, STRANGER_CONTEXT, NULL);
    *ctx = handle;
    return status;
}

static HurrayStatus spy_tensor_context_destroy_deferred(HurrayTensorContext **ctx, HurrayError *error) {
    void *handle = *ctx;
    const HurrayStatus status = destroy_in(&handle, NUMBER_tensor_context_destroy_deferred, STRANGER_CONTEXT, error);
    *ctx = handle;
    return status;
}

static HurrayStatus spy_tensor_context_set_release_queue(HurrayTensorContext *ctx, const HurrayReleaseQueue *queue, HurrayError *error) {
    CALLED(tensor_context_set_release_queue, ctx, STRANGER_CONTEXT, error)
    /* A queue is no exchange handle: only the default one, NULL, can be another copy's, too. */
    if (queue != NULL) status = HURRAY_ERR_INVALID_HANDLE;
    LEAVE(error, "tensor_context_set_release_queue");
}

static HurrayStatus spy_buffer_list_push(HurrayBufferList *list, HurrayBuffer *buffer) {
    CALLED(buffer_list_push, list, STRANGER_LIST, NULL)
    Object *pushed = object_of(spy, buffer);
    if (pushed == NULL || !pushed->alive || pushed->borrowed || pushed->kind != STRANGER_BUFFER) {
        ++spy->misuses;
        status = HURRAY_ERR_INVALID_HANDLE;
    } else if (object->length == sizeof object->buffers / sizeof object->buffers[0]) {
        status = HURRAY_ERR_LIMIT_EXCEEDED;
    } else {
        add(object, pushed);
    }
    LEAVE(NULL, NULL);
}

static HurrayStatus spy_buffer_list_len(const HurrayBufferList *list, uint64_t *out_length) {
    CALLED(buffer_list_len, list, STRANGER_LIST, NULL)
    *out_length = object->length;
    LEAVE(NULL, NULL);
}

static HurrayStatus spy_buffer_list_get(const HurrayBufferList *list, uint64_t index, HurrayBuffer **out_buffer) {
    CALLED(buffer_list_get, list, STRANGER_LIST, NULL)
    if (index < object->length) {
        *out_buffer = (HurrayBuffer *)object->buffers[index]->prefix;
    } else {
        status = HURRAY_ERR_INDEX_OUT_OF_BOUNDS;
    }
    LEAVE(NULL, NULL);
}

static HurrayStatus spy_buffer_list_destroy(HurrayBufferList **list) {
    void *handle = *list;
    const HurrayStatus status = destroy_in(&handle, NUMBER_buffer_list_destroy, STRANGER_LIST, NULL);
    *list = handle;
    return status;
}

static HurrayStatus spy_buffer_list_destroy_deferred(HurrayBufferList **list, HurrayError *error) {
    void *handle = *list;
    const HurrayStatus status = destroy_in(&handle, NUMBER_buffer_list_destroy_deferred, STRANGER_LIST, error);
    *list = handle;
    return status;
}

/* A share has the memory and no event. */
static Object *share(Spy *spy, const Object *buffer) {
    Object *copy = object_new(spy, STRANGER_BUFFER);
    memcpy(copy->handle_bytes, buffer->handle_bytes, sizeof copy->handle_bytes);
    copy->data = buffer->data;
    copy->flags = buffer->flags;
    return copy;
}

static HurrayStatus spy_buffer_share(const HurrayBuffer *buffer, HurrayBuffer **out_handle, HurrayError *error) {
    CALLED(buffer_share, buffer, STRANGER_BUFFER, error)
    *out_handle = (HurrayBuffer *)share(spy, object)->prefix;
    LEAVE(error, "buffer_share");
}

static HurrayStatus spy_buffer_slice(const HurrayBuffer *buffer, uint64_t offset, uint64_t byte_size, HurrayBuffer **out_handle,
                                     HurrayError *error) {
    CALLED(buffer_slice, buffer, STRANGER_BUFFER, error)
    if (offset > BYTE_SIZE || byte_size > BYTE_SIZE - offset) {
        status = HURRAY_ERR_INDEX_OUT_OF_BOUNDS;
    } else {
        Object *slice = share(spy, object);
        slice->data += offset;
        slice->handle_bytes[0] = (uint8_t)byte_size;
        slice->handle_bytes[8] = 1; /* any alignment */
        *out_handle = (HurrayBuffer *)slice->prefix;
    }
    LEAVE(error, "buffer_slice");
}

/* Copies as much of a sized struct as the caller has room for. */
static HurrayStatus fill(void *out, const void *value, size_t size) {
    uint32_t room = 0;
    memcpy(&room, out, sizeof room);
    if (room < sizeof room || room > 4096) return HURRAY_ERR_INVALID_ARGUMENT;
    memset((unsigned char *)out + sizeof room, 0, room - sizeof room);
    const size_t count = room < size ? room : size;
    memcpy((unsigned char *)out + sizeof room, (const unsigned char *)value + sizeof room, count - sizeof room);
    return HURRAY_OK;
}

static HurrayStatus spy_buffer_info(const HurrayBuffer *buffer, HurrayBufferInfo *out_info, HurrayError *error) {
    CALLED(buffer_info, buffer, STRANGER_BUFFER, error)
    const HurrayBufferInfo info = {
        .flags = object->flags | (object->borrowed ? HURRAY_BUFFER_BORROWED : 0),
        .data = object->data,
        .byte_size = object->handle_bytes[0],
        .alignment = object->handle_bytes[8],
        .share_count = 1,
    };
    status = fill(out_info, &info, sizeof info);
    LEAVE(error, "buffer_info");
}

static HurrayStatus spy_buffer_handle_bytes(const HurrayBuffer *buffer, HurrayBufferHandleBytes *out_bytes, HurrayError *error) {
    CALLED(buffer_handle_bytes, buffer, STRANGER_BUFFER, error)
    memcpy(out_bytes->bytes, object->handle_bytes, sizeof out_bytes->bytes);
    LEAVE(error, "buffer_handle_bytes");
}

static HurrayStatus spy_buffer_prefix(const HurrayBuffer *buffer, uint64_t *out_prefix, HurrayError *error) {
    CALLED(buffer_prefix, buffer, STRANGER_BUFFER, error)
    *out_prefix = 0;
    LEAVE(error, "buffer_prefix");
}

static HurrayStatus spy_buffer_set_read_only(HurrayBuffer *buffer, HurrayError *error) {
    CALLED(buffer_set_read_only, buffer, STRANGER_BUFFER, error)
    object->flags |= HURRAY_BUFFER_READ_ONLY;
    LEAVE(error, "buffer_set_read_only");
}

static HurrayStatus spy_buffer_set_release_queue(HurrayBuffer *buffer, const HurrayReleaseQueue *queue, HurrayError *error) {
    CALLED(buffer_set_release_queue, buffer, STRANGER_BUFFER, error)
    if (queue != NULL) status = HURRAY_ERR_INVALID_HANDLE;
    LEAVE(error, "buffer_set_release_queue");
}

static HurrayStatus spy_buffer_set_release_any_thread(HurrayBuffer *buffer, HurrayError *error) {
    CALLED(buffer_set_release_any_thread, buffer, STRANGER_BUFFER, error)
    LEAVE(error, "buffer_set_release_any_thread");
}

static HurrayStatus spy_buffer_event(const HurrayBuffer *buffer, void **out_sync_handle, uint8_t *out_tag, HurrayError *error) {
    CALLED(buffer_event, buffer, STRANGER_BUFFER, error)
    if (object->handle_bytes[13] != HURRAY_SYNC_EVENT || object->sync_handle == NULL) {
        status = HURRAY_ERR_SYNC_MODE_MISMATCH;
    } else if (object->event_released) {
        status = HURRAY_ERR_INVALID_HANDLE;
    } else {
        *out_sync_handle = object->sync_handle;
        *out_tag = object->handle_bytes[12];
    }
    LEAVE(error, "buffer_event");
}

static HurrayStatus spy_buffer_event_release(HurrayBuffer *buffer, HurrayError *error) {
    CALLED(buffer_event_release, buffer, STRANGER_BUFFER, error)
    Release release = {0};
    if (object->release == NULL) {
        status = HURRAY_ERR_SYNC_MODE_MISMATCH;
    } else if (object->event_released) {
        ++spy->misuses;
        status = HURRAY_ERR_INVALID_HANDLE;
    } else {
        object->event_released = true;
        release = (Release){object->release, object->sync_handle, object->release_context};
    }
    pthread_mutex_unlock(&mutex);
    if (release.function != NULL) release.function(release.sync_handle, release.context);
    return status == HURRAY_OK ? HURRAY_OK : fail(error, status, "buffer_event_release");
}

static HurrayStatus spy_buffer_stream(const HurrayBuffer *buffer, void **out_stream, uint8_t *out_tag, HurrayError *error) {
    CALLED(buffer_stream, buffer, STRANGER_BUFFER, error)
    if (object->handle_bytes[13] != HURRAY_SYNC_CONSUMER_STREAM) {
        status = HURRAY_ERR_SYNC_MODE_MISMATCH;
    } else {
        *out_stream = object->sync_handle;
        *out_tag = object->handle_bytes[12];
    }
    LEAVE(error, "buffer_stream");
}

static HurrayStatus destroy_buffer(HurrayBuffer *buffer, unsigned number, HurrayError *error) {
    void *handle = buffer;
    pthread_mutex_lock(&mutex);
    Spy *spy = spy_of(buffer);
    const Object *object = spy == NULL ? NULL : object_of(spy, buffer);
    const bool borrowed = object != NULL && object->alive && object->borrowed;
    if (borrowed) {
        log_call(spy, entry_names[number], true);
        ++spy->misuses;
    }
    pthread_mutex_unlock(&mutex);
    return borrowed ? fail(error, HURRAY_ERR_INVALID_HANDLE, entry_names[number]) : destroy_in(&handle, number, STRANGER_BUFFER, error);
}

static HurrayStatus spy_buffer_destroy(HurrayBuffer *buffer) { return destroy_buffer(buffer, NUMBER_buffer_destroy, NULL); }

static HurrayStatus spy_buffer_destroy_deferred(HurrayBuffer *buffer, HurrayError *error) {
    return destroy_buffer(buffer, NUMBER_buffer_destroy_deferred, error);
}

static HurrayStatus spy_tensor_export(const HurrayTensor *tensor, HurrayBufferList **out_list, HurrayTensorContext **out_context,
                                      HurrayError *error) {
    CALLED(tensor_export, tensor, STRANGER_TENSOR, error)
    *out_list = (HurrayBufferList *)list_of(spy, share(spy, object->buffers[0]))->prefix;
    *out_context = (HurrayTensorContext *)context_of(spy, HURRAY_DEVICE_CPU, HURRAY_SYNC_PRODUCER_SYNCED)->prefix;
    LEAVE(error, "tensor_export");
}

static HurrayStatus spy_tensor_share(const HurrayTensor *tensor, HurrayTensor **out_tensor, HurrayError *error) {
    CALLED(tensor_share, tensor, STRANGER_TENSOR, error)
    *out_tensor = (HurrayTensor *)tensor_of(spy)->prefix;
    LEAVE(error, "tensor_share");
}

static HurrayStatus spy_tensor_view(const HurrayTensor *tensor, HurrayView *out_view, HurrayError *error) {
    CALLED(tensor_view, tensor, STRANGER_TENSOR, error)
    const HurrayView view = {
        .flags = HURRAY_VIEW_CONTIGUOUS,
        .data = object->buffers[0]->data,
        .byte_size = BYTE_SIZE,
        .element_type = HURRAY_TYPE_FLOAT32,
        .layout = HURRAY_LAYOUT_ROW_MAJOR,
        .device = HURRAY_DEVICE_CPU,
        .rank = 2,
        .bits = 32,
        .shape = shape,
        .element_count = 12,
    };
    status = fill(out_view, &view, sizeof view);
    LEAVE(error, "tensor_view");
}

static HurrayStatus spy_tensor_buffer(const HurrayTensor *tensor, uint32_t index, HurrayBuffer **out_buffer, HurrayError *error) {
    CALLED(tensor_buffer, tensor, STRANGER_TENSOR, error)
    if (index < object->length) {
        *out_buffer = (HurrayBuffer *)object->buffers[index]->prefix;
    } else {
        status = HURRAY_ERR_INDEX_OUT_OF_BOUNDS;
    }
    LEAVE(error, "tensor_buffer");
}

static HurrayStatus spy_tensor_copy(const HurrayTensor *tensor, uint32_t alignment, HurrayTensor **out_tensor,
                                    uint64_t *out_copied_bytes, HurrayError *error) {
    CALLED(tensor_copy, tensor, STRANGER_TENSOR, error)
    (void)alignment;
    /* All of a spy's tensors have the same bytes. */
    *out_tensor = (HurrayTensor *)tensor_of(spy)->prefix;
    if (out_copied_bytes != NULL) *out_copied_bytes = BYTE_SIZE;
    LEAVE(error, "tensor_copy");
}

static HurrayStatus spy_tensor_destroy(HurrayTensor **tensor) {
    void *handle = *tensor;
    const HurrayStatus status = destroy_in(&handle, NUMBER_tensor_destroy, STRANGER_TENSOR, NULL);
    *tensor = handle;
    return status;
}

static HurrayStatus spy_tensor_destroy_deferred(HurrayTensor **tensor, HurrayError *error) {
    void *handle = *tensor;
    const HurrayStatus status = destroy_in(&handle, NUMBER_tensor_destroy_deferred, STRANGER_TENSOR, error);
    *tensor = handle;
    return status;
}

#define EACH_SLOT(DO) \
    DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#define SLOT_FUNCTIONS(number)                                                                  \
    static uint8_t supports_##number(uint32_t version) { return supports(number, version); }    \
    static const char *build_id_##number(void) { return build_id(number); }                     \
    static HurrayStatus list_new_##number(uint64_t capacity, HurrayBufferList **out_list) {     \
        (void)capacity;                                                                         \
        return buffer_list_new(number, out_list);                                               \
    }
EACH_SLOT(SLOT_FUNCTIONS)

static const struct {
    uint8_t (*supports)(uint32_t version);
    const char *(*build_id)(void);
    HurrayStatus (*list_new)(uint64_t capacity, HurrayBufferList **out_list);
} slot_functions[SLOTS] = {
#define SLOT_ROW(number) {supports_##number, build_id_##number, list_new_##number},
    EACH_SLOT(SLOT_ROW)
#undef SLOT_ROW
};

/* --- What tests call --- */

Spy *spy_new(uint32_t version) { return spy_new_with_table(version, sizeof(Table)); }

Spy *spy_new_with_table(uint32_t version, uint32_t table_size) {
    if (table_size < 8 || table_size > sizeof(Table) || table_size % sizeof(void *) != 0) return NULL;
    Spy *spy = NULL;
    pthread_mutex_lock(&mutex);
    uint32_t slot = 0;
    while (slot < SLOTS && slots[slot] != NULL) ++slot;
    if (slot < SLOTS) {
        spy = checked(calloc(1, sizeof(Spy)));
        spy->slot = slot;
        spy->version = version;
        spy->context_version = version;
        spy->lowest = 1;
        snprintf((char *)spy->build_id_text, sizeof spy->build_id_text, "spy %u", slot);
        const Table whole = {
            .size = table_size,
            .c_abi_version = version,
            .supports = slot_functions[slot].supports,
            .build_id = slot_functions[slot].build_id,
            .buffer_list_new = slot_functions[slot].list_new,
#define VALUE(name) .name = spy_##name
            VALUE(tensor_context_abi_version),
            VALUE(tensor_context_descriptor),
            VALUE(tensor_context_destroy),
            VALUE(tensor_context_destroy_deferred),
            VALUE(tensor_context_set_release_queue),
            VALUE(buffer_list_push),
            VALUE(buffer_list_len),
            VALUE(buffer_list_get),
            VALUE(buffer_list_destroy),
            VALUE(buffer_list_destroy_deferred),
            VALUE(buffer_share),
            VALUE(buffer_slice),
            VALUE(buffer_info),
            VALUE(buffer_handle_bytes),
            VALUE(buffer_prefix),
            VALUE(buffer_set_read_only),
            VALUE(buffer_set_release_queue),
            VALUE(buffer_set_release_any_thread),
            VALUE(buffer_event),
            VALUE(buffer_event_release),
            VALUE(buffer_stream),
            VALUE(buffer_destroy),
            VALUE(buffer_destroy_deferred),
            VALUE(tensor_export),
            VALUE(tensor_share),
            VALUE(tensor_view),
            VALUE(tensor_buffer),
            VALUE(tensor_copy),
            VALUE(tensor_destroy),
            VALUE(tensor_destroy_deferred),
#undef VALUE
        };
        spy->table = checked(edge_new(table_size));
        memcpy(spy->table, &whole, table_size);
        spy->data = checked(aligned_alloc(64, 64));
        for (int i = 0; i < 12; ++i) {
            const float value = (float)i;
            memcpy(spy->data + 4 * i, &value, sizeof value);
        }
        slots[slot] = spy;
    }
    pthread_mutex_unlock(&mutex);
    return spy;
}

void spy_destroy(Spy *spy) {
    if (spy == NULL) return;
    pthread_mutex_lock(&mutex);
    slots[spy->slot] = NULL;
    while (spy->objects != NULL) {
        Object *object = spy->objects;
        spy->objects = object->next;
        edge_free(object->prefix);
        free(object);
    }
    pthread_mutex_unlock(&mutex);
    edge_free(spy->table);
    free(spy->data);
    free(spy->lines);
    free(spy);
}

void spy_vouch(Spy *spy, uint32_t lowest, uint32_t highest) {
    pthread_mutex_lock(&mutex);
    spy->lowest = lowest;
    spy->highest = highest;
    pthread_mutex_unlock(&mutex);
}

void spy_set_context_version(Spy *spy, uint32_t version) {
    pthread_mutex_lock(&mutex);
    spy->context_version = version;
    pthread_mutex_unlock(&mutex);
}

uint8_t spy_answer(Spy *spy, const char *function, int32_t status) {
    uint8_t known = 0;
    pthread_mutex_lock(&mutex);
    for (unsigned i = NUMBER_build_id + 1; i < ENTRIES; ++i) {
        if (strcmp(entry_names[i], function) != 0) continue;
        spy->answers[i] = status;
        known = 1;
    }
    pthread_mutex_unlock(&mutex);
    return known;
}

static void pair_new(Spy *spy, uint8_t device, uint8_t mode, void *sync_handle, HurrayEventReleaseFn release, void *release_context,
                     void **out_list, void **out_context) {
    pthread_mutex_lock(&mutex);
    Object *buffer = buffer_new(spy, device, mode, sync_handle);
    buffer->release = release;
    buffer->release_context = release_context;
    *out_list = list_of(spy, buffer)->prefix;
    *out_context = context_of(spy, device, mode)->prefix;
    pthread_mutex_unlock(&mutex);
}

void spy_pair_new(Spy *spy, void **out_list, void **out_context) {
    pair_new(spy, HURRAY_DEVICE_CPU, HURRAY_SYNC_PRODUCER_SYNCED, NULL, NULL, NULL, out_list, out_context);
}

void spy_event_pair_new(Spy *spy, void *sync_handle, void *release, void *release_context, void **out_list, void **out_context) {
    pair_new(spy, HURRAY_DEVICE_CUDA, HURRAY_SYNC_EVENT, sync_handle, (HurrayEventReleaseFn)(uintptr_t)release, release_context,
             out_list, out_context);
}

void spy_stream_pair_new(Spy *spy, void *consumer_stream, void **out_list, void **out_context) {
    pair_new(spy, HURRAY_DEVICE_CUDA, HURRAY_SYNC_CONSUMER_STREAM, consumer_stream, NULL, NULL, out_list, out_context);
}

void *spy_handle_new(Spy *spy, uint32_t kind) {
    Object *object = NULL;
    pthread_mutex_lock(&mutex);
    switch (kind) {
        case STRANGER_BUFFER: object = buffer_new(spy, HURRAY_DEVICE_CPU, HURRAY_SYNC_PRODUCER_SYNCED, NULL); break;
        case STRANGER_LIST:
            object = list_of(spy, buffer_new(spy, HURRAY_DEVICE_CPU, HURRAY_SYNC_PRODUCER_SYNCED, NULL));
            break;
        case STRANGER_CONTEXT: object = context_of(spy, HURRAY_DEVICE_CPU, HURRAY_SYNC_PRODUCER_SYNCED); break;
        case STRANGER_TENSOR: object = tensor_of(spy); break;
        default: break;
    }
    pthread_mutex_unlock(&mutex);
    return object == NULL ? NULL : object->prefix;
}

uint64_t spy_live_handles(Spy *spy) {
    uint64_t count = 0;
    pthread_mutex_lock(&mutex);
    for (const Object *object = spy->objects; object != NULL; object = object->next) count += object->alive ? 1 : 0;
    pthread_mutex_unlock(&mutex);
    return count;
}

uint64_t spy_misuses(Spy *spy) {
    pthread_mutex_lock(&mutex);
    const uint64_t count = spy->misuses;
    pthread_mutex_unlock(&mutex);
    return count;
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

uint64_t spy_log_length(Spy *spy) {
    pthread_mutex_lock(&mutex);
    const uint64_t length = spy->line_count;
    pthread_mutex_unlock(&mutex);
    return length;
}

uint64_t spy_log_copy(Spy *spy, char *out, uint64_t capacity) {
    uint64_t length = 0;
    pthread_mutex_lock(&mutex);
    if (out != NULL && capacity > 0) out[0] = 0;
    for (uint64_t i = 0; i < spy->line_count; ++i) {
        const char *const parts[] = {spy->lines[i].text, "\n"};
        for (size_t part = 0; part < 2; ++part) {
            const bool room = out != NULL && length < capacity;
            length += copied(parts[part], room ? out + length : NULL, room ? capacity - length : 0);
        }
    }
    pthread_mutex_unlock(&mutex);
    return length;
}

uint64_t spy_log_line_copy(Spy *spy, uint64_t index, char *out, uint64_t capacity) {
    pthread_mutex_lock(&mutex);
    const uint64_t length = copied(index < spy->line_count ? spy->lines[index].text : "", out, capacity);
    pthread_mutex_unlock(&mutex);
    return length;
}

void spy_log_clear(Spy *spy) {
    pthread_mutex_lock(&mutex);
    spy->line_count = 0;
    pthread_mutex_unlock(&mutex);
}

uint64_t spy_calls_of(Spy *spy, const char *line) {
    uint64_t count = 0;
    pthread_mutex_lock(&mutex);
    for (uint64_t i = 0; i < spy->line_count; ++i) count += strcmp(spy->lines[i].text, line) == 0 ? 1 : 0;
    pthread_mutex_unlock(&mutex);
    return count;
}

uint64_t spy_accessor_calls(Spy *spy) {
    uint64_t count = 0;
    pthread_mutex_lock(&mutex);
    for (uint64_t i = 0; i < spy->line_count; ++i) count += spy->lines[i].accessor ? 1 : 0;
    pthread_mutex_unlock(&mutex);
    return count;
}

uint32_t spy_table_size(void) { return sizeof(Table); }
uint32_t spy_table_entries(void) { return ENTRIES; }
const char *spy_table_entry_name(uint32_t index) { return index < ENTRIES ? entry_names[index] : ""; }

uint32_t spy_table_entry_offset(uint32_t index) {
    static const uint32_t offsets[ENTRIES] = {
        offsetof(Table, supports),
        offsetof(Table, build_id),
#define OFFSET(name, parameters) offsetof(Table, name),
        SPY_FUNCTIONS(OFFSET)
#undef OFFSET
    };
    return index < ENTRIES ? offsets[index] : 0;
}

/* --- Strangers --- */

void *stranger_new(uint64_t magic, uint32_t generation, uint32_t version, uint32_t readable) {
    if (readable != 8 && readable != 12 && readable != 16 && readable != 24) return NULL;
    void *memory = edge_new(readable);
    if (memory == NULL) return NULL;
    const Prefix prefix = {magic, generation, version, NULL};
    memcpy(memory, &prefix, readable < sizeof prefix ? readable : sizeof prefix);
    return memory;
}

void *stranger_foreign_new(void) { return stranger_new(stranger_wrong_magic(), 0, 0, 8); }
void *stranger_generation_new(uint32_t kind) { return stranger_new(stranger_right_magic(kind), 0x7FFFFFFF, 0, 12); }

void stranger_free(void *stranger) {
    if (stranger != NULL) edge_free(stranger);
}

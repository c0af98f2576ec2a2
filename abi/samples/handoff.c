/* The three modes of a handoff, each from the producer's first write to the consumer's last access, on a pretended device
 * that notices every step in the wrong order. docs/abi.md shows the parts between the sample marks. */
#include <hurray.h>
#include <stdio.h>
#include <string.h>

#include "tests/conformance/device/fake_device.h"

enum { SIZE = 4096 };

/* The 16 bytes of a buffer handle: SIZE bytes on the pretended device, aligned to 64, of a sync mode. */
static HurrayBufferHandleBytes handle_of(uint8_t sync_mode) {
    HurrayBufferHandleBytes handle = {{0}};
    handle.bytes[0] = SIZE & 0xFF;
    handle.bytes[1] = SIZE >> 8;
    handle.bytes[8] = 64;
    handle.bytes[12] = FAKE_DEVICE_TAG;
    handle.bytes[13] = sync_mode;
    return handle;
}

static int failed(const HurrayError *error) {
    fprintf(stderr, "%s: %s\n", hurray_status_name(error->code), error->message);
    return 1;
}

/* What the sample's device does: work is enqueued, and nobody waits unless told to. */
static FakeDevice *device;
static void write_on(void *stream, void *memory) { fake_stream_write(device, stream, memory); }
static void read_on(void *stream, void *memory) { fake_stream_read(device, stream, memory); }

static int producer_synced(void *memory, void *producer_stream) {
    HurrayError error = {0};
    HurrayBuffer *buffer = NULL;
    HurrayBufferInfo info = {.struct_size = sizeof info};
    const HurrayBufferHandleBytes handle = handle_of(HURRAY_SYNC_PRODUCER_SYNCED);

    write_on(producer_stream, memory);
    // sample: producer-synced
    /* Producer: wait on the host, then hand off. Neither payload. */
    fake_host_wait_stream(device, producer_stream);
    fake_handoff_begin(device, memory, HURRAY_SYNC_PRODUCER_SYNCED, NULL);
    if (hurray_buffer_handoff(&handle, memory, fake_memory_release, device, NULL, NULL, &buffer, &error) != HURRAY_OK) {
        return failed(&error);
    }
    fake_handoff_returned(device, memory, HURRAY_SYNC_PRODUCER_SYNCED, NULL);

    /* Consumer: the bytes are there, on any stream and on the host. */
    if (hurray_buffer_info(buffer, &info, &error) != HURRAY_OK) return failed(&error);
    fake_host_read(device, info.data);
    hurray_buffer_destroy(buffer); /* releases the memory */
    // end sample
    return 0;
}

static int event(void *memory, void *producer_stream, void *consumer_stream) {
    HurrayError error = {0};
    HurrayBuffer *buffer = NULL;
    HurrayBufferInfo info = {.struct_size = sizeof info};
    const HurrayBufferHandleBytes handle = handle_of(HURRAY_SYNC_EVENT);

    write_on(producer_stream, memory);
    // sample: event
    /* Producer: record the event behind the last write, then hand off with it. */
    HurrayEventPayload payload = {
        .sync_handle = fake_event_new(device),
        .sync_handle_device_tag = FAKE_DEVICE_TAG,
        .event_release_fn = fake_event_release,
        .event_release_context = device,
    };
    fake_event_record(device, payload.sync_handle, producer_stream);
    fake_handoff_begin(device, memory, HURRAY_SYNC_EVENT, payload.sync_handle);
    if (hurray_buffer_handoff(&handle, memory, fake_memory_release, device, &payload, NULL, &buffer, &error) != HURRAY_OK) {
        return failed(&error);
    }
    fake_handoff_returned(device, memory, HURRAY_SYNC_EVENT, payload.sync_handle);

    /* Consumer: each stream that will touch the bytes waits for the event; then the event goes, and later the memory. */
    void *sync_handle = NULL;
    uint8_t device_tag = 0;
    if (hurray_buffer_event(buffer, &sync_handle, &device_tag, &error) != HURRAY_OK) return failed(&error);
    fake_stream_wait_event(device, consumer_stream, sync_handle);
    if (hurray_buffer_event_release(buffer, &error) != HURRAY_OK) return failed(&error);
    if (hurray_buffer_info(buffer, &info, &error) != HURRAY_OK) return failed(&error);
    read_on(consumer_stream, info.data);
    hurray_buffer_destroy(buffer);
    // end sample
    return 0;
}

// sample: producer
/* Producer: what hurray_producer_request calls. The consumer's stream waits for the producer's before this returns. */
typedef struct Source {
    void *memory;
    void *stream;
} Source;

static HurrayStatus export_tensor(void *context, void *consumer_stream, uint8_t consumer_stream_device_tag,
                                  HurrayBufferList **out_list, HurrayTensorContext **out_context, HurrayError *error) {
    const Source *source = context;
    const HurrayBufferHandleBytes handle = handle_of(HURRAY_SYNC_CONSUMER_STREAM);
    const HurrayStreamPayload payload = {consumer_stream, consumer_stream_device_tag};
    const uint64_t shape[] = {SIZE};
    HurrayDescriptorBuilder *builder = NULL;
    HurrayDescriptor *descriptor = NULL;
    HurrayBuffer *buffer = NULL;
    uint8_t bytes[128];
    uint64_t length = 0;
    HurrayStatus status;

    fake_stream_wait_stream(device, consumer_stream, source->stream);
    if ((status = hurray_buffer_handoff(&handle, source->memory, fake_memory_release, device, NULL, &payload, &buffer, error)) ||
        (status = hurray_buffer_list_new(1, out_list)) || (status = hurray_buffer_list_push(*out_list, buffer))) {
        goto failed;
    }
    buffer = NULL; /* the list's now */
    if ((status = hurray_descriptor_builder_new(HURRAY_TYPE_UINT8, HURRAY_LAYOUT_ROW_MAJOR, shape, 1, &builder, error)) ||
        (status = hurray_descriptor_builder_add_buffer(builder, &handle, error)) ||
        (status = hurray_descriptor_builder_build(builder, &descriptor, error)) ||
        (status = hurray_descriptor_encode(descriptor, bytes, sizeof bytes, &length, error)) ||
        (status = hurray_tensor_context_new(HURRAY_C_ABI_VERSION, bytes, length, NULL, NULL, out_context))) {
        goto failed;
    }
failed:
    hurray_descriptor_builder_destroy(&builder);
    hurray_descriptor_destroy(&descriptor);
    if (status != HURRAY_OK) {
        if (buffer != NULL) hurray_buffer_destroy(buffer);
        hurray_buffer_list_destroy(out_list);
    }
    return status;
}
// end sample

static int consumer_stream_mode(void *memory, void *producer_stream, void *consumer_stream, void *other_stream) {
    HurrayError error = {0};
    HurrayTensor *tensor = NULL;
    HurrayView view = {.struct_size = sizeof view};
    Source source = {memory, producer_stream};
    HurrayProducer producer = {sizeof producer, HURRAY_C_ABI_VERSION, &source, export_tensor, NULL};

    write_on(producer_stream, memory);
    fake_handoff_begin(device, memory, HURRAY_SYNC_CONSUMER_STREAM, consumer_stream);
    // sample: request
    /* Consumer: ask with the stream that will do the work. */
    if (hurray_producer_request(&producer, consumer_stream, FAKE_DEVICE_TAG, &tensor, &error) != HURRAY_OK) {
        return failed(&error);
    }
    fake_handoff_returned(device, memory, HURRAY_SYNC_CONSUMER_STREAM, consumer_stream);
    if (hurray_tensor_view(tensor, &view, &error) != HURRAY_OK) return failed(&error);
    read_on(consumer_stream, view.data); /* at once */

    /* Another stream waits for that one first. */
    fake_stream_wait_stream(device, other_stream, consumer_stream);
    read_on(other_stream, view.data);
    hurray_tensor_destroy(&tensor);
    // end sample
    return hurray_producer_release(&producer, &error) == HURRAY_OK ? 0 : failed(&error);
}

int main(void) {
    int bad = 0;
    device = fake_device_new();
    void *producer_stream = fake_stream_new(device, "producer");
    void *consumer_stream = fake_stream_new(device, "consumer");
    void *other_stream = fake_stream_new(device, "other");
    bad |= producer_synced(fake_memory_new(device, SIZE), producer_stream);
    bad |= event(fake_memory_new(device, SIZE), producer_stream, consumer_stream);
    bad |= consumer_stream_mode(fake_memory_new(device, SIZE), producer_stream, consumer_stream, other_stream);
    fake_device_finish(device);
    for (uint64_t i = 0; i < fake_violation_count(device); ++i) {
        char message[512];
        fake_violation_message_copy(device, i, message, sizeof message);
        fprintf(stderr, "%s: %s\n", fake_violation_name(fake_violation_kind(device, i)), message);
        bad = 1;
    }
    fake_device_destroy(device);
    return bad;
}

// Handoff between devices' queues of work: what travels beside a buffer. Public. (seed: Buffer Handoff Synchronisation)
#pragma once

#include <cstdint>

#include "abi/src/api/handles.hpp"
#include "abi/src/api/status.hpp"

/// Releases the event of a handoff. Runs exactly once, on any thread: it must be safe there, and must not throw.
/// @since 2
typedef void (*HurrayEventReleaseFn)(void* sync_handle, void* context);

/// What a buffer of sync mode EVENT is handed off with.
/// @since 2
struct HurrayEventPayload {
    /// The device's event, opaque, recorded before the handoff on every stream that writes the buffer.
    void* sync_handle;
    /// HURRAY_DEVICE_ tag of the event: the buffer's own.
    uint8_t sync_handle_device_tag;
    /// Called once with `sync_handle` and `event_release_context`, after the consumer has issued its waits.
    HurrayEventReleaseFn event_release_fn;
    /// Opaque, handed back to event_release_fn.
    void* event_release_context;
};

/// What a buffer of sync mode CONSUMER_STREAM is handed off with: the stream of the consumer on which the producer has
/// put the wait for its writes.
/// @since 2
struct HurrayStreamPayload {
    /// The consumer's stream, opaque.
    void* consumer_stream;
    /// HURRAY_DEVICE_ tag of the stream: the buffer's own.
    uint8_t consumer_stream_device_tag;
};

/// Exports a tensor for work on the consumer's stream, as a list and a context that the library takes over. Before it
/// returns, it has issued, for every buffer that it hands off as CONSUMER_STREAM, the ordering of its writes before
/// later work on that stream.
/// On failure it makes neither and returns a HURRAY_ERR_ code; it may write a message. It must not throw. It is called
/// on the thread of the request.
/// @since 4
typedef HurrayStatus (*HurrayExportTensorFn)(void* context, void* consumer_stream, uint8_t consumer_stream_device_tag,
                                             HurrayBufferList** out_list, HurrayTensorContext** out_context,
                                             HurrayError* error);

/// Releases what a producer keeps; runs exactly once. It must not throw.
/// @since 4
typedef void (*HurrayProducerReleaseFn)(void* context);

/// A producer of tensors that asks its consumer for a stream first. The struct belongs to whoever holds it.
/// @since 4
struct HurrayProducer {
    /// Size of this struct, set by the producer.
    uint32_t struct_size;
    /// HURRAY_C_ABI_VERSION of the build that made it.
    uint32_t abi_version;
    /// Opaque, handed to both functions.
    void* context;
    /// Required; null once released.
    HurrayExportTensorFn export_tensor;
    /// May be null; null once released.
    HurrayProducerReleaseFn release;
};

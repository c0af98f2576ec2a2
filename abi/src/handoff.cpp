// Handoff: a buffer together with the promise of when its bytes are there. (seed: Buffer Handoff Synchronisation)
#include "abi/src/api/handoff.hpp"

#include <span>
#include <utility>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/buffer.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/objects.hpp"
#include "abi/src/internal/sync_payload.hpp"

using namespace hurray;
using namespace hurray::abi;

/// Hands a buffer off: its 16-byte handle, its memory, and what the sync mode in byte 13 of the handle demands. The two are
/// checked against each other before anything is made; on failure nothing has moved, and neither callback runs.
///   PRODUCER_SYNCED  neither payload; the producer has waited on the host for every stream that writes the memory
///   EVENT            `event`, of the buffer's device: recorded before this call on every stream that writes the memory
///   CONSUMER_STREAM  `stream`, of the buffer's device: before this call the producer has ordered its writes before later
///                    work on that stream
/// A payload that is null, or whose fields are all zero, is none. Memory of the CPU is always PRODUCER_SYNCED.
/// @param handle_bytes size, alignment, device, sync mode and memory class
/// @param data first byte, aligned as the handle says; may be null when its byte_size is 0
/// @owner the memory belongs to the buffer until `release(data, release_context)` runs, and the event until its release:
///     each exactly once. The handle belongs to the caller
/// @errors INVALID_SYNC_MODE: byte 13 is none of the three; SYNC_MODE_MISMATCH: another payload than it demands;
///     INVALID_LAYOUT: alignment, or byte 15 is not 0; INVALID_TYPE: device or memory class; MISALIGNED; NULL_POINTER: data is
///     null and byte_size is not 0; INVALID_ARGUMENT: the range wraps around
/// @thread any
/// @since 2
/// @spec ABI: Buffer Handoff Synchronisation
HURRAY_API HurrayStatus hurray_buffer_handoff(HG_IN const HurrayBufferHandleBytes* handle_bytes, HG_KEPT void* data,
                                              HG_CALLBACK_OPT HurrayReleaseCallback release, HG_OPAQUE void* release_context,
                                              HG_IN_OPT const HurrayEventPayload* event,
                                              HG_IN_OPT const HurrayStreamPayload* stream,
                                              HG_OUT_OWNED(hurray_buffer_destroy) HurrayBuffer** out_handle,
                                              HG_ERROR HurrayError* error) noexcept {
    if (out_handle != nullptr) *out_handle = nullptr;
    HURRAY_REQUIRE(handle_bytes, error);
    HURRAY_REQUIRE(out_handle, error);
    return guarded(error, [&]() -> Result<void> {
        Buffer buffer;
        auto handle = decode_buffer_handle(std::as_bytes(std::span(handle_bytes->bytes)), 0);
        if (!handle) return std::unexpected(handle.error());
        auto payload = check_payload(*handle, event, stream);
        if (!payload) return std::unexpected(payload.error());
        if (data == nullptr && handle->byte_size != 0) {
            return fail(Status::null_pointer, Error::no_offset, "data: is null, expected a pointer to %llu bytes",
                        static_cast<unsigned long long>(handle->byte_size));
        }
        if (auto checked = check_address_range(data, handle->byte_size); !checked) return checked;
        if (reinterpret_cast<std::uintptr_t>(data) % handle->alignment != 0) {
            return fail(Status::misaligned, Error::no_offset, "data: expected alignment to %u bytes", handle->alignment);
        }
        buffer.data = static_cast<std::byte*>(data);
        buffer.handle = *handle;
        auto made = lend(std::move(buffer), data, release, release_context);
        if (!made) return std::unexpected(made.error());
        (*made)->sync = *payload;
        *out_handle = *made;
        return {};
    });
}

/// Borrows the event that tells when the buffer's bytes are there. The consumer waits for it on every stream that will
/// access the buffer, before it enqueues such work, and then calls hurray_buffer_event_release.
/// @param out_device_tag HURRAY_DEVICE_ tag of the event
/// @owner the buffer; valid until the event is released or the buffer ends
/// @errors SYNC_MODE_MISMATCH: the buffer is not of sync mode EVENT, or a share or slice, which carry no event;
///     INVALID_HANDLE: the event is released
/// @thread one thread at a time
/// @since 2
/// @spec ABI: Per-Mode Payloads
HURRAY_API HurrayStatus hurray_buffer_event(HG_IN const HurrayBuffer* buffer, HG_OUT_BORROWED(buffer) void** out_sync_handle,
                                            HG_OUT uint8_t* out_device_tag, HG_ERROR HurrayError* error) noexcept {
    if (out_sync_handle != nullptr) *out_sync_handle = nullptr;
    if (out_device_tag != nullptr) *out_device_tag = 0;
    HURRAY_DISPATCH(buffer, error, buffer_event, buffer, out_sync_handle, out_device_tag, error);
    HURRAY_REQUIRE(out_sync_handle, error);
    HURRAY_REQUIRE(out_device_tag, error);
    return guarded(error, [&]() -> Result<void> {
        if (auto checked = buffer->sync.check_event(); !checked) return checked;
        *out_sync_handle = buffer->sync.event().sync_handle;
        *out_device_tag = buffer->sync.event().sync_handle_device_tag;
        return {};
    });
}

/// Releases the event of a buffer, on this thread, once all waits are issued. An event that nobody released is released
/// when its buffer ends. The buffer may be a borrowed one, of a list or tensor.
/// @owner ends the consumer's use of the event
/// @errors SYNC_MODE_MISMATCH: as hurray_buffer_event; INVALID_HANDLE: released already; INTERNAL_PANIC: the callback threw
///     an exception, and the event counts as released
/// @thread one thread at a time; any may be that one
/// @since 2
/// @spec ABI: Per-Mode Payloads
HURRAY_API HurrayStatus hurray_buffer_event_release(HG_INOUT HurrayBuffer* buffer, HG_ERROR HurrayError* error) noexcept {
    HURRAY_DISPATCH(buffer, error, buffer_event_release, buffer, error);
    if (const auto checked = buffer->sync.check_event(); !checked) return report(checked.error(), error);
    return report_end(buffer->sync.end(), error);
}

/// Tells the consumer's stream on which the bytes of a CONSUMER_STREAM buffer are there. On any other stream the consumer
/// first makes that stream wait for this one.
/// @param out_device_tag HURRAY_DEVICE_ tag of the stream
/// @owner the consumer: its own stream, as it gave it to the producer
/// @errors SYNC_MODE_MISMATCH: the buffer is not of sync mode CONSUMER_STREAM, or a share or slice
/// @thread one thread at a time
/// @since 2
/// @spec ABI: Per-Mode Payloads
HURRAY_API HurrayStatus hurray_buffer_stream(HG_IN const HurrayBuffer* buffer,
                                             HG_OUT_BORROWED(buffer) void** out_consumer_stream, HG_OUT uint8_t* out_device_tag,
                                             HG_ERROR HurrayError* error) noexcept {
    if (out_consumer_stream != nullptr) *out_consumer_stream = nullptr;
    if (out_device_tag != nullptr) *out_device_tag = 0;
    HURRAY_DISPATCH(buffer, error, buffer_stream, buffer, out_consumer_stream, out_device_tag, error);
    HURRAY_REQUIRE(out_consumer_stream, error);
    HURRAY_REQUIRE(out_device_tag, error);
    return guarded(error, [&]() -> Result<void> {
        const HurrayStreamPayload& stream = buffer->sync.stream();
        if (stream.consumer_stream == nullptr) {
            return fail(Status::sync_mode_mismatch, Error::no_offset,
                        "buffer: expected one that was handed off as CONSUMER_STREAM; shares and slices carry no stream");
        }
        *out_consumer_stream = stream.consumer_stream;
        *out_device_tag = stream.consumer_stream_device_tag;
        return {};
    });
}

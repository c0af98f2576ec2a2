#include "abi/src/internal/sync_payload.hpp"

#include "abi/src/internal/release.hpp"

namespace hurray::abi {
namespace {

bool carries(const HurrayEventPayload* event) {
    return event != nullptr && (event->sync_handle != nullptr || event->sync_handle_device_tag != 0 ||
                                event->event_release_fn != nullptr || event->event_release_context != nullptr);
}

bool carries(const HurrayStreamPayload* stream) {
    return stream != nullptr && (stream->consumer_stream != nullptr || stream->consumer_stream_device_tag != 0);
}

std::unexpected<Error> mismatch(const char* what, const char* expected) {
    return fail(Status::sync_mode_mismatch, Error::no_offset, "%s: expected %s, as byte 13 of the handle says", what, expected);
}

Result<void> check_device(const char* field, std::uint8_t have, std::uint8_t expected) {
    if (have == expected) return {};
    return fail(Status::sync_mode_mismatch, Error::no_offset, "%s: expected the buffer's device %u, got %u", field, expected, have);
}

}  // namespace

Result<void> SyncPayload::check_event() const {
    if (event_.sync_handle != nullptr) return {};
    if (event_released_) return fail(Status::invalid_handle, Error::no_offset, "buffer: its event is released already");
    return fail(Status::sync_mode_mismatch, Error::no_offset,
                "buffer: expected one that was handed off as EVENT; shares and slices carry no event");
}

bool SyncPayload::end() noexcept {
    if (event_.sync_handle == nullptr) return true;
    const HurrayEventPayload event = std::exchange(event_, HurrayEventPayload{});
    event_released_ = true;
    if (fork_generation_ != fork_generation()) return true;
    return run_callback("event release callback",
                        [&] { event.event_release_fn(event.sync_handle, event.event_release_context); });
}

Result<SyncPayload> check_payload(const BufferHandle& handle, const HurrayEventPayload* event, const HurrayStreamPayload* stream) {
    switch (handle.sync_mode) {
        case sync_mode::producer_synced:
            if (carries(event)) return mismatch("event", "none (PRODUCER_SYNCED)");
            if (carries(stream)) return mismatch("stream", "none (PRODUCER_SYNCED)");
            return SyncPayload();
        case sync_mode::event: {
            if (carries(stream)) return mismatch("stream", "none (EVENT)");
            if (event == nullptr || event->sync_handle == nullptr) return mismatch("event->sync_handle", "an event (EVENT)");
            if (event->event_release_fn == nullptr) return mismatch("event->event_release_fn", "a function (EVENT)");
            if (auto same = check_device("event->sync_handle_device_tag", event->sync_handle_device_tag, handle.device_tag); !same) {
                return std::unexpected(same.error());
            }
            return SyncPayload(*event);
        }
        case sync_mode::consumer_stream: {
            if (carries(event)) return mismatch("event", "none (CONSUMER_STREAM)");
            if (stream == nullptr || stream->consumer_stream == nullptr) {
                return mismatch("stream->consumer_stream", "a stream (CONSUMER_STREAM)");
            }
            if (auto same = check_device("stream->consumer_stream_device_tag", stream->consumer_stream_device_tag, handle.device_tag);
                !same) {
                return std::unexpected(same.error());
            }
            return SyncPayload(*stream);
        }
        default:
            return fail(Status::invalid_sync_mode, Error::no_offset, "sync mode: expected 00 to 02, got %02X", handle.sync_mode);
    }
}

}  // namespace hurray::abi

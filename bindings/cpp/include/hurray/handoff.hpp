// Buffers that are handed off with an event or for a stream, and producers that ask for a stream first.
#ifndef HURRAY_HANDOFF_HPP_
#define HURRAY_HANDOFF_HPP_

#include <cstdint>
#include <utility>

#include "hurray/tensor.hpp"

namespace hurray {

/// An event or stream of a device.
struct DeviceHandle {
    /// Opaque, as the device's own library knows it.
    void* handle = nullptr;
    /// HURRAY_DEVICE_ tag.
    std::uint8_t device = 0;
};

/// Hands a buffer off: its 16-byte handle, its memory, and what the handle's sync mode demands (null for nothing).
/// `release` runs exactly once when the last handle that shares the memory goes; after a failure nothing has moved.
template <typename Release>
Result<Buffer> hand_off(const HurrayBufferHandleBytes& handle, void* data, Release&& release,
                        const HurrayEventPayload* event = nullptr,
                        const HurrayStreamPayload* stream = nullptr) noexcept {
    auto box = detail::box(std::forward<Release>(release));
    if (!box) return detail::out_of_memory();
    auto buffer = detail::make<Buffer>(hurray_buffer_handoff, &handle, data, decltype(box)::element_type::run,
                                       static_cast<void*>(box.get()), event, stream);
    if (buffer) (void)box.release();
    return buffer;
}

/// The event that tells when the buffer's bytes are there; wait for it, then call release_event.
inline Result<DeviceHandle> event_of(BufferRef buffer) noexcept {
    DeviceHandle event;
    const auto done =
        detail::call(hurray_buffer_event, static_cast<const HurrayBuffer*>(buffer.get()), &event.handle, &event.device);
    if (!done) return done.error();
    return event;
}

/// Exactly once, when all waits are issued.
inline Result<void> release_event(BufferRef buffer) noexcept {
    return detail::call(hurray_buffer_event_release, buffer.get());
}

/// The consumer's stream on which the bytes are there.
inline Result<DeviceHandle> stream_of(BufferRef buffer) noexcept {
    DeviceHandle stream;
    const auto done = detail::call(hurray_buffer_stream, static_cast<const HurrayBuffer*>(buffer.get()), &stream.handle,
                                   &stream.device);
    if (!done) return done.error();
    return stream;
}

/// Asks a producer for a tensor that is ready for work on the stream.
inline Result<Tensor> request(const HurrayProducer& producer, DeviceHandle stream) noexcept {
    return detail::make<Tensor>(hurray_producer_request, &producer, stream.handle, stream.device);
}

}  // namespace hurray

#endif  // HURRAY_HANDOFF_HPP_

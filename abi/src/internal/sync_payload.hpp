// What a buffer was handed off with beside its memory. (seed: Buffer Handoff Synchronisation)
#pragma once

#include <cstdint>
#include <utility>

#include "abi/src/api/handoff.hpp"
#include "abi/src/internal/fork.hpp"
#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/buffer_handle.hpp"

namespace hurray::abi {

/// The event of a buffer, until it is released, or the consumer's stream. Owned by one buffer handle.
class SyncPayload {
public:
    SyncPayload() = default;
    explicit SyncPayload(const HurrayEventPayload& event) noexcept : event_(event) {}
    explicit SyncPayload(const HurrayStreamPayload& stream) noexcept : stream_(stream) {}

    /// The event, null handle when there is none or it was released.
    [[nodiscard]] const HurrayEventPayload& event() const noexcept { return event_; }
    [[nodiscard]] const HurrayStreamPayload& stream() const noexcept { return stream_; }
    /// @errors sync_mode_mismatch: there never was an event; invalid_handle: it is released
    [[nodiscard]] Result<void> check_event() const;

    /// Releases the event if there is one. The payload may be gone when the callback runs: it is not touched any more.
    /// Returns false when the callback threw an exception. In a child of fork the event is the parent's and is left alone.
    bool end() noexcept;

private:
    HurrayEventPayload event_{};
    HurrayStreamPayload stream_{};
    bool event_released_ = false;
    std::uint32_t fork_generation_ = fork_generation();
};

/// Checks the sync mode of a handle against what came with it (seed: ABI Cross-Check) and keeps that. A payload whose
/// fields are all zero is none.
/// @errors sync_mode_mismatch
Result<SyncPayload> check_payload(const BufferHandle& handle, const HurrayEventPayload* event, const HurrayStreamPayload* stream);

}  // namespace hurray::abi

// What stands behind the handles of channels.
#pragma once

#include <list>
#include <memory>

#include "abi/src/api/channel.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/internal/handle.hpp"
#include "abi/src/internal/objects.hpp"
#include "core/hurray/channel/channel.hpp"
#include "core/hurray/channel/channel_listener.hpp"

struct HurrayChannel final : hurray::abi::HandleBase<HURRAY_HANDLE_CHANNEL> {
    explicit HurrayChannel(std::unique_ptr<hurray::Channel> channel) noexcept : value(std::move(channel)) {}

    std::unique_ptr<hurray::Channel> value;
};

struct HurrayChannelListener final : hurray::abi::HandleBase<HURRAY_HANDLE_CHANNEL_LISTENER> {
    explicit HurrayChannelListener(std::unique_ptr<hurray::ChannelListener> listener) noexcept : value(std::move(listener)) {}

    std::unique_ptr<hurray::ChannelListener> value;
};

namespace hurray::abi {

/// The caller's options in the core's form. `from_fd`: whether there is a descriptor to be taken over.
Result<ChannelOptions> channel_options(const HurrayChannelOptions* options, bool from_fd);

/// A channel over a duplicate of the caller's descriptor, which is closed at the end of the call where the options give it away.
Result<HurrayChannel*> channel_from_fd(std::int32_t fd, const HurrayChannelOptions* options);

/// Makes shared memory of the tensor that may still be written unwritable, so that it can be passed: where the tensor alone has it,
/// or where the buffer is marked read-only. What somebody else may need writable, or has mapped in another process, stays.
Result<void> seal_what_is_ours(const HurrayTensor& tensor);

/// Drops what the peer gave back. False: a callback threw an exception.
bool drop_released(std::list<Channel::Released> released, bool deferred) noexcept;

/// Ends a channel; deferred: releases that become due wait for a thread that consents. False: a callback threw an exception.
bool destroy_channel(HurrayChannel* channel, bool deferred) noexcept;

HurrayChannelInfo channel_info(const Channel& channel);

}  // namespace hurray::abi

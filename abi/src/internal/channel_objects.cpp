#include "abi/src/internal/channel_objects.hpp"

#include <algorithm>
#include <utility>

#include "abi/src/internal/release.hpp"
#include "core/hurray/channel/shared_object.hpp"

namespace hurray::abi {
namespace {

constexpr std::uint32_t channel_flags = HURRAY_CHANNEL_PRIVATE_TAGS | HURRAY_CHANNEL_PERMISSIVE | HURRAY_CHANNEL_OTHER_USERS |
                                        HURRAY_CHANNEL_SEALED_ONLY | HURRAY_CHANNEL_COPY_FILES;

}  // namespace

Result<ChannelOptions> channel_options(const HurrayChannelOptions* options, bool from_fd) {
    const auto given = read_sized_struct(options, sizeof(HurrayChannelOptions), "options");
    if (!given) return std::unexpected(given.error());
    const std::uint32_t known = channel_flags | (from_fd ? HURRAY_CHANNEL_CLOSE_FD : 0);
    if ((given->flags & ~known) != 0) {
        return fail(Status::invalid_argument, Error::no_offset, "options->flags: expected none but 0x%x, got 0x%x", known,
                    given->flags);
    }
    if (given->reserved != 0) return fail(Status::invalid_argument, Error::no_offset, "options->reserved: expected 0");
    ChannelOptions chosen;
    if (given->max_descriptor_length != 0) chosen.incoming.max_descriptor_length = given->max_descriptor_length;
    if (given->max_tensor_bytes != 0) chosen.incoming.max_tensor_bytes = given->max_tensor_bytes;
    if (given->max_alignment != 0) chosen.incoming.max_alignment = given->max_alignment;
    if (given->max_outstanding != 0) chosen.max_outstanding = given->max_outstanding;
    if (given->send_timeout_ms != 0) chosen.send_timeout_ms = given->send_timeout_ms;
    if ((given->flags & HURRAY_CHANNEL_PRIVATE_TAGS) != 0) chosen.incoming.private_tags = PrivateTags::allow;
    if ((given->flags & HURRAY_CHANNEL_PERMISSIVE) != 0) chosen.incoming.mode = Mode::permissive;
    chosen.incoming.sealed_only = (given->flags & HURRAY_CHANNEL_SEALED_ONLY) != 0;
    chosen.other_users = (given->flags & HURRAY_CHANNEL_OTHER_USERS) != 0;
    chosen.copy_files = (given->flags & HURRAY_CHANNEL_COPY_FILES) != 0;
    return chosen;
}

Result<HurrayChannel*> channel_from_fd(std::int32_t fd, const HurrayChannelOptions* options) {
    const auto chosen = channel_options(options, true);
    if (!chosen) return std::unexpected(chosen.error());
    if (fd < 0) return fail(Status::invalid_argument, Error::no_offset, "fd: expected a file descriptor, got %d", fd);
    // A duplicate in either case: on failure the caller's must still be there.
    auto own = duplicate_fd(fd);
    if (!own) return std::unexpected(own.error());
    auto handle = std::make_unique<HurrayChannel>(nullptr);
    auto channel = Channel::adopt(std::move(*own), *chosen);
    if (!channel) return std::unexpected(channel.error());
    handle->value = std::move(*channel);
    if (options != nullptr && (options->flags & HURRAY_CHANNEL_CLOSE_FD) != 0) close_fd(fd);
    return handle.release();
}

Result<void> seal_what_is_ours(const HurrayTensor& tensor) {
    const auto& slots = tensor.buffers->slots;
    for (HurrayBuffer* buffer : slots) {
        const Ref<Storage>& storage = buffer->value.storage;
        const SharedBacking* backing = storage ? storage->shared_backing() : nullptr;
        if (backing == nullptr || !backing->writable) continue;
        const auto own = static_cast<std::uint64_t>(std::ranges::count_if(
            slots, [&](const HurrayBuffer* other) { return other->value.storage.get() == storage.get(); }));
        if (!buffer->value.read_only && storage->references() != own) continue;
        const auto sealed = seal_shared_buffer(buffer->value);
        if (!sealed) return std::unexpected(sealed.error());
        if (!*sealed) continue;
        buffer->value.read_only = true;
        // The handle is the caller's, who gives it for the call: what it says of its memory must be true afterwards.
        if (buffer == slots.front()) const_cast<HurrayTensor&>(tensor).view.flags |= HURRAY_VIEW_READ_ONLY;
    }
    return {};
}

bool drop_released(std::list<Channel::Released> released, bool deferred) noexcept {
    bool clean = true;
    for (Channel::Released& tensor : released) {
        for (Buffer& buffer : tensor.buffers) clean = drop(buffer.storage.detach(), deferred) && clean;
    }
    return clean;
}

bool destroy_channel(HurrayChannel* channel, bool deferred) noexcept {
    const std::unique_ptr<Channel> value = std::move(channel->value);
    retire(channel);
    return drop_released(value->close(), deferred);
}

HurrayChannelInfo channel_info(const Channel& channel) {
    const ChannelInfo facts = channel.info();
    HurrayChannelInfo info{};
    info.state = (facts.peer_finished ? HURRAY_CHANNEL_PEER_FINISHED : 0) | (facts.peer_gone ? HURRAY_CHANNEL_PEER_GONE : 0);
    info.sent = facts.sent;
    info.received = facts.received;
    info.passed_bytes = facts.sent_passed_bytes;
    info.copied_bytes = facts.sent_copied_bytes;
    info.received_bytes = facts.received_bytes;
    info.outstanding = facts.outstanding;
    info.held = facts.held;
    info.peer_pid = facts.peer.pid;
    info.peer_uid = facts.peer.uid;
    return info;
}

}  // namespace hurray::abi

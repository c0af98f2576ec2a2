// Where there is no memory that can be sealed (every system but Linux), channels are refused in the calls that make them.
#ifndef __linux__
#include "core/hurray/channel/channel.hpp"
#include "core/hurray/channel/channel_listener.hpp"
#include "core/hurray/channel/shared_object.hpp"

namespace hurray {
namespace {

std::unexpected<Error> unsupported() {
    return fail(Status::unsupported, Error::no_offset, "channel: this operating system has no sealed memory (Linux has)");
}

}  // namespace

Result<FdHolder> duplicate_fd(int) { return unsupported(); }

Result<std::unique_ptr<Channel>> Channel::adopt(FdHolder, const ChannelOptions&) { return unsupported(); }
Channel::~Channel() = default;
Result<void> Channel::send(const Tensor&) { return unsupported(); }
Result<std::optional<Tensor>> Channel::receive(const Deadline&) { return unsupported(); }
Result<void> Channel::process() { return unsupported(); }
Result<void> Channel::finish() { return unsupported(); }
std::list<Channel::Released> Channel::take_released() noexcept { return {}; }
std::list<Channel::Released> Channel::close() noexcept { return {}; }
ChannelInfo Channel::info() const { return {}; }

Result<std::unique_ptr<ChannelListener>> ChannelListener::listen(std::string_view, const ChannelOptions&) { return unsupported(); }
ChannelListener::~ChannelListener() = default;
Result<std::unique_ptr<Channel>> ChannelListener::accept(const Deadline&) { return unsupported(); }
bool ChannelListener::inherited() const noexcept { return false; }
Result<std::unique_ptr<Channel>> connect_channel(std::string_view, const ChannelOptions&, const Deadline&) { return unsupported(); }

// Nothing of what follows is reached, for there is no channel.
bool ReleaseLine::inherited() const noexcept { return false; }
void ReleaseLine::release(std::uint64_t) noexcept {}
SharedObject::~SharedObject() = default;
Result<FdHolder> SharedObject::sealed_copy(std::uint64_t, std::span<const Piece>) { return unsupported(); }

Result<Buffer> allocate_shared_buffer(std::uint64_t, std::uint32_t) { return unsupported(); }
Result<bool> seal_shared_buffer(const Buffer&) { return false; }

}  // namespace hurray
#endif

#ifdef __linux__
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/hurray/channel/channel_message.hpp"
#include "core/hurray/channel/release_line.hpp"

namespace hurray {

ReleaseLine::ReleaseLine(ChannelSocket socket) noexcept : socket_(std::move(socket)), pid_(::getpid()) {}

bool ReleaseLine::inherited() const noexcept { return ::getpid() != pid_; }

void ReleaseLine::hold_one_more() {
    const std::lock_guard lock(mutex_);
    const std::size_t needed = waiting_.size() + static_cast<std::size_t>(held_) + 1;
    if (needed > waiting_.capacity()) waiting_.reserve(std::max(needed, 2 * waiting_.capacity()));
    ++held_;
}

void ReleaseLine::release(std::uint64_t id) noexcept {
    // In a fork the lock may be held by a thread that is not there.
    if (inherited()) return;
    const std::lock_guard lock(mutex_);
    --held_;
    waiting_.push_back(id);  // there is room
    (void)flush_locked();
}

bool ReleaseLine::flush() noexcept {
    if (inherited()) return true;
    const std::lock_guard lock(mutex_);
    return flush_locked();
}

bool ReleaseLine::flush_locked() noexcept {
    std::array<std::byte, packet_header_length + 8 * max_released> packet;
    std::size_t done = 0;
    bool room = true;
    while (room && done < waiting_.size()) {
        const auto ids = std::span(waiting_).subspan(done, std::min(waiting_.size() - done, max_released));
        const auto sent = socket_.send(std::span(packet).first(write_release_packet(ids, packet)), {});
        room = !sent || *sent;
        // Nobody is there to be told: the peer has taken everything back by itself.
        if (room) done += ids.size();
    }
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(done));
    return room;
}

std::uint64_t ReleaseLine::held() const noexcept {
    const std::lock_guard lock(mutex_);
    return held_;
}

}  // namespace hurray
#endif

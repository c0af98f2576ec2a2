#ifdef __linux__
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/hurray/channel/channel.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// What is read before it is asked for, while a send waits: a few tensors, and a bounded number of descriptors.
constexpr std::size_t inbox_limit = 16;
constexpr std::size_t inbox_file_limit = 256;

std::unexpected<Error> forked() {
    return fail(Status::forked, Error::no_offset, "channel: it belongs to the parent of this process");
}

}  // namespace

Channel::Channel(ChannelSocket socket, const ChannelOptions& options, PeerCredentials peer)
    : options_(options),
      line_(std::make_shared<ReleaseLine>(std::move(socket))),
      peer_(peer),
      reader_({.max_descriptor_length = options.incoming.max_descriptor_length}),
      packet_(max_packet_length) {
    packet_files_.reserve(ChannelSocket::most_files);
}

Result<std::unique_ptr<Channel>> Channel::adopt(FdHolder fd, const ChannelOptions& options) {
    auto socket = ChannelSocket::adopt(std::move(fd));
    if (!socket) return std::unexpected(socket.error());
    const auto peer = socket->peer();
    if (!peer) return std::unexpected(peer.error());
    if (!options.other_users && peer->uid != ::geteuid()) {
        return fail(Status::io, Error::no_offset, "channel: the peer is user %u, expected user %u, this process's own", peer->uid,
                    static_cast<unsigned>(::geteuid()));
    }
    std::unique_ptr<Channel> channel(new Channel(std::move(*socket), options, *peer));
    // Nothing fails for want of memory any more: a socket of which no channel is made stays as it was.
    const auto greeted = channel->line_->socket().send(hello_packet(), {});
    if (!greeted && greeted.error().code != Status::disconnected) return std::unexpected(greeted.error());
    if (greeted && !*greeted) return fail(Status::io, Error::no_offset, "channel: no room in the socket for the first packet");
    channel->closed_ = false;
    return channel;
}

Channel::~Channel() { (void)close(); }

std::list<Channel::Released> Channel::close() noexcept {
    if (!closed_ && !inherited()) {
        // From now on the peer's sends fail; what it has sent before is still there.
        line_->socket().stop_receiving();
        release_unread();
        if (!finished_ && !failure_ && !send_failure_) {
            // Where there is no room, the peer notices the end of the socket instead.
            (void)line_->socket().send(finish_packet(), {});
        }
    }
    closed_ = true;
    by_id_.clear();
    released_.splice(released_.end(), outstanding_);
    return take_released();
}

// What came and nobody received: the peer must not wait for its release.
void Channel::release_unread() noexcept {
    const auto give_back = [this](std::uint64_t id) {
        line_->hold_one_more();
        line_->release(id);
    };
    try {
        for (;;) {
            for (const Arrived& arrived : inbox_) give_back(arrived.message.id);
            inbox_.clear();
            inbox_files_ = 0;
            if (failure_ || peer_gone_ || !take_packet()) break;
        }
    } catch (...) {
        // The end of the socket, when the last tensor goes that is held here, gives back the rest.
    }
}

Result<void> Channel::begin_call() {
    if (inherited()) return forked();
    released_.clear();
    (void)line_->flush();
    return {};
}

Result<void> Channel::check_peer() const {
    if (failure_) return std::unexpected(*failure_);
    if (peer_gone_ && !reader_.finished()) {
        return fail(Status::disconnected, Error::no_offset,
                    torn_by_peer_ ? "channel: the peer is gone in the middle of a tensor" : "channel: the peer is gone");
    }
    return {};
}

bool Channel::inbox_full() const noexcept { return inbox_.size() >= inbox_limit || inbox_files_ >= inbox_file_limit; }

// All that has come, as long as there is room for it.
void Channel::take_in() {
    while (!failure_ && !peer_gone_ && !inbox_full() && take_packet()) {
    }
}

// One packet; false when there is none, or none will be.
bool Channel::take_packet() {
    packet_files_.clear();
    const auto received = line_->socket().receive(packet_, packet_files_);
    if (!received) {
        if (received.error().code == Status::disconnected) {
            lose_peer();
        } else {
            end_with(received.error());
        }
        return false;
    }
    if (!*received) return false;
    try {
        auto message = reader_.take(std::span(packet_).first(**received), packet_files_.size());
        if (!message) {
            end_with(message.error());
            return false;
        }
        files_.insert(files_.end(), std::make_move_iterator(packet_files_.begin()), std::make_move_iterator(packet_files_.end()));
        if (!*message) return true;
        if (auto taken = take_message(**std::move(message)); !taken) {
            end_with(taken.error());
            return false;
        }
        return true;
    } catch (...) {
        // The packet is lost, and with it what the ones behind it belong to.
        end_with(make_error(Status::out_of_memory, Error::no_offset, "channel: memory ran out while a packet was taken in"));
        throw;
    }
}

Result<void> Channel::take_message(Message&& message) {
    if (auto* tensor = std::get_if<TensorMessage>(&message)) {
        const std::size_t files = files_.size();
        inbox_.push_back({std::move(*tensor), std::exchange(files_, {})});
        inbox_files_ += files;
        return {};
    }
    if (const auto* release = std::get_if<ReleaseMessage>(&message)) return take_release(*release);
    return {};
}

Result<void> Channel::take_release(const ReleaseMessage& message) {
    for (const std::uint64_t id : message.ids) {
        const auto found = by_id_.find(id);
        if (found == by_id_.end()) {
            return fail(Status::invalid_format, Error::no_offset, "release: id: %llu is of no tensor that is out",
                        static_cast<ull>(id));
        }
        released_.splice(released_.end(), outstanding_, found->second);
        by_id_.erase(found);
    }
    return {};
}

void Channel::lose_peer() noexcept {
    peer_gone_ = true;
    torn_by_peer_ = reader_.within_message();
    by_id_.clear();
    released_.splice(released_.end(), outstanding_);
}

// Nothing that this peer says can be relied upon any more. What is out is sealed, or a file: it may be given up.
void Channel::end_with(const Error& error) noexcept {
    failure_ = error;
    files_.clear();
    packet_files_.clear();
    by_id_.clear();
    released_.splice(released_.end(), outstanding_);
    ::shutdown(line_->socket().get(), SHUT_RDWR);
}

Result<void> Channel::wait_for_a_release(const Deadline& deadline) {
    while (outstanding_.size() >= options_.max_outstanding) {
        if (auto checked = check_peer(); !checked) return checked;
        if (inbox_full()) {
            return fail(Status::limit_exceeded, Error::no_offset,
                        "channel: %zu tensors are out, and releases cannot be read before what has come is received",
                        outstanding_.size());
        }
        const auto ready = line_->socket().wait(true, false, deadline);
        if (!ready) return std::unexpected(ready.error());
        if (!ready->receive) {
            return fail(Status::limit_exceeded, Error::no_offset, "channel: %zu tensors are out, the limit, and none was released in time",
                        outstanding_.size());
        }
        take_in();
    }
    return {};
}

// Sends a packet as soon as there is room for it; false: not in time. Takes in what comes meanwhile, so that two ends that both
// send do not wait for one another.
Result<bool> Channel::send_packet(std::span<const std::byte> packet, std::span<const int> files, const Deadline& deadline) {
    for (;;) {
        const auto sent = line_->socket().send(packet, files);
        if (!sent || *sent) return sent;
        const auto ready = line_->socket().wait(!inbox_full(), true, deadline);
        if (!ready) return std::unexpected(ready.error());
        if (ready->receive) take_in();
        if (auto checked = check_peer(); !checked) return std::unexpected(checked.error());
        if (!ready->receive && !ready->send) return false;
    }
}

Result<void> Channel::send_message(const OutgoingTensorMessage& outgoing, const Deadline& deadline) {
    const std::vector<Packet> packets = tensor_packets(outgoing.message);
    bool begun = false;
    for (const Packet& packet : packets) {
        const auto sent = send_packet(packet.bytes, std::span(outgoing.files).subspan(packet.first_file, packet.file_count), deadline);
        if (sent && *sent) {
            begun = true;
            continue;
        }
        const Error error = sent ? make_error(Status::timed_out, Error::no_offset, "channel: no room in the socket in time") : sent.error();
        if (begun) {
            send_failure_ = make_error(error.code, Error::no_offset, "channel: an earlier send ended in the middle of a tensor: %s",
                                       error.message);
        }
        return std::unexpected(error);
    }
    return {};
}

Result<void> Channel::send(const Tensor& tensor) {
    if (auto begun = begin_call(); !begun) return begun;
    if (send_failure_) return std::unexpected(*send_failure_);
    if (finished_) return fail(Status::invalid_argument, Error::no_offset, "channel: nothing is sent after its finish");
    take_in();
    if (failure_) return std::unexpected(*failure_);
    if (peer_gone_) return fail(Status::disconnected, Error::no_offset, "channel: the peer is gone");
    const Deadline deadline(options_.send_timeout_ms);
    if (auto waited = wait_for_a_release(deadline); !waited) return waited;
    auto outgoing = outgoing_tensor_message(tensor, options_.copy_files);
    if (!outgoing) return std::unexpected(outgoing.error());
    const std::uint64_t id = next_id_;
    outgoing->message.id = id;
    outstanding_.push_back({id, std::move(outgoing->passed)});
    try {
        by_id_.emplace(id, std::prev(outstanding_.end()));
    } catch (...) {
        outstanding_.pop_back();
        throw;
    }
    const auto take_back = [&]() noexcept {
        const auto found = by_id_.find(id);
        if (found == by_id_.end()) return;  // the peer is gone, which has taken it back already
        released_.splice(released_.end(), outstanding_, found->second);
        by_id_.erase(found);
    };
    try {
        if (auto sent = send_message(*outgoing, deadline); !sent) {
            // Where a part of it has left, it is not known what the peer has.
            if (!send_failure_) take_back();
            return sent;
        }
    } catch (...) {
        // Memory ran out before anything was sent.
        take_back();
        throw;
    }
    ++next_id_;
    ++counts_.sent;
    counts_.sent_passed_bytes += outgoing->passed_bytes;
    counts_.sent_copied_bytes += outgoing->copied_bytes;
    return {};
}

// After hold_one_more().
Result<Tensor> Channel::open(Arrived&& arrived) {
    std::shared_ptr<Lease> lease;
    try {
        lease = std::make_shared<Lease>(line_, arrived.message.id);
    } catch (...) {
        line_->release(arrived.message.id);
        throw;
    }
    auto tensor = incoming_tensor(arrived.message, arrived.files, options_.incoming, cache_, std::move(lease));
    if (!tensor) return tensor;
    ++counts_.received;
    for (const Buffer& buffer : tensor->buffers) counts_.received_bytes += buffer.handle.byte_size;
    return tensor;
}

Result<std::optional<Tensor>> Channel::receive(const Deadline& deadline) {
    if (auto begun = begin_call(); !begun) return std::unexpected(begun.error());
    for (;;) {
        take_in();
        if (failure_) return std::unexpected(*failure_);
        if (!inbox_.empty()) {
            // Before it leaves the inbox: what was taken out is received, or released.
            line_->hold_one_more();
            Arrived arrived = std::move(inbox_.front());
            inbox_.pop_front();
            inbox_files_ -= arrived.files.size();
            auto tensor = open(std::move(arrived));
            if (!tensor) return std::unexpected(tensor.error());
            return std::optional<Tensor>(*std::move(tensor));
        }
        if (reader_.finished()) return std::nullopt;
        if (auto checked = check_peer(); !checked) return std::unexpected(checked.error());
        const bool releases_wait = !line_->flush();
        const auto ready = line_->socket().wait(true, releases_wait, deadline);
        if (!ready) return std::unexpected(ready.error());
        if (!ready->receive && !ready->send) {
            return fail(Status::timed_out, Error::no_offset, "channel: no tensor came in time");
        }
    }
}

Result<void> Channel::process() {
    if (auto begun = begin_call(); !begun) return begun;
    take_in();
    return check_peer();
}

Result<void> Channel::finish() {
    if (auto begun = begin_call(); !begun) return begun;
    if (send_failure_) return std::unexpected(*send_failure_);
    if (failure_) return std::unexpected(*failure_);
    if (finished_) return {};
    const auto sent = send_packet(finish_packet(), {}, Deadline(options_.send_timeout_ms));
    if (!sent) return std::unexpected(sent.error());
    if (!*sent) return fail(Status::timed_out, Error::no_offset, "channel: no room in the socket in time");
    finished_ = true;
    return {};
}

std::list<Channel::Released> Channel::take_released() noexcept {
    std::list<Released> taken;
    taken.splice(taken.end(), released_);
    return taken;
}

ChannelInfo Channel::info() const {
    ChannelInfo info = counts_;
    info.outstanding = outstanding_.size();
    info.held = inherited() ? 0 : line_->held();
    info.peer = peer_;
    info.peer_finished = reader_.finished();
    info.peer_gone = peer_gone_ || failure_.has_value();
    return info;
}

}  // namespace hurray
#endif

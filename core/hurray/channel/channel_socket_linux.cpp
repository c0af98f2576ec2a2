#ifdef __linux__
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/hurray/channel/channel_message.hpp"
#include "core/hurray/channel/channel_socket.hpp"
#include "core/hurray/io/system_error.hpp"

namespace hurray {
namespace {

// As many as one message may carry on Linux: what a peer sends too much is received, refused and closed.
constexpr std::size_t control_length = CMSG_SPACE(sizeof(int) * ChannelSocket::most_files) + CMSG_SPACE(64);

bool is_gone(int number) { return number == EPIPE || number == ECONNRESET || number == ENOTCONN; }
bool would_block(int number) { return number == EAGAIN || number == EWOULDBLOCK; }

std::unexpected<Error> peer_gone() {
    return fail(Status::disconnected, Error::no_offset, "channel: the peer is gone, or has closed its end");
}

Result<int> socket_option(int fd, int option, const char* what) {
    int value = 0;
    socklen_t length = sizeof value;
    if (::getsockopt(fd, SOL_SOCKET, option, &value, &length) != 0) {
        return fail(Status::invalid_argument, Error::no_offset, "fd: expected a connected Unix socket: %s: %s", what,
                    system_error("ask the socket", errno).message);
    }
    return value;
}

// Takes over all descriptors of a message, whatever it says of them.
void collect_files(msghdr& message, std::vector<FdHolder>& files) {
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
            files.emplace_back(fd, FdOwnership::close);
        }
    }
}

}  // namespace

Result<FdHolder> duplicate_fd(int fd) {
    const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (copy >= 0) return FdHolder(copy, FdOwnership::close);
    if (errno == EMFILE) return fail(Status::limit_exceeded, Error::no_offset, "fd: no further file descriptor may be opened");
    return fail(Status::invalid_argument, Error::no_offset, "fd: %d: %s", fd, system_error("duplicate", errno).message);
}

Result<ChannelSocket> ChannelSocket::adopt(FdHolder fd) {
    const auto type = socket_option(fd.get(), SO_TYPE, "type");
    if (!type) return std::unexpected(type.error());
    if (*type != SOCK_SEQPACKET) {
        return fail(Status::invalid_argument, Error::no_offset, "fd: expected a socket of type SOCK_SEQPACKET, got %s",
                    *type == SOCK_STREAM ? "SOCK_STREAM" : *type == SOCK_DGRAM ? "SOCK_DGRAM" : "another type");
    }
    const auto domain = socket_option(fd.get(), SO_DOMAIN, "domain");
    if (!domain) return std::unexpected(domain.error());
    if (*domain != AF_UNIX) return fail(Status::invalid_argument, Error::no_offset, "fd: expected a Unix socket, which carries file descriptors");
    sockaddr_un address{};
    socklen_t length = sizeof address;
    if (::getpeername(fd.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
        return fail(Status::invalid_argument, Error::no_offset, "fd: expected a connected socket");
    }
    return ChannelSocket(std::move(fd));
}

Result<PeerCredentials> ChannelSocket::peer() const {
    ucred credentials{};
    socklen_t length = sizeof credentials;
    if (::getsockopt(fd_.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
        return std::unexpected(system_error("ask who the peer is", errno));
    }
    return PeerCredentials{credentials.pid, credentials.uid};
}

Result<bool> ChannelSocket::send(std::span<const std::byte> packet, std::span<const int> files) const {
    iovec piece{const_cast<std::byte*>(packet.data()), packet.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * max_packet_files)> control{};
    if (!files.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(files.size_bytes());
        cmsghdr* part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(files.size_bytes());
        std::memcpy(CMSG_DATA(part), files.data(), files.size_bytes());
    }
    for (;;) {
        if (::sendmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return true;
        const int number = errno;
        if (number == EINTR) continue;
        if (would_block(number)) return false;
        if (is_gone(number)) return peer_gone();
        if (number == ETOOMANYREFS) {
            return fail(Status::limit_exceeded, Error::no_offset,
                        "channel: too many file descriptors are on their way: the peer must receive first");
        }
        return std::unexpected(system_error("send to the peer", number));
    }
}

Result<std::optional<std::size_t>> ChannelSocket::receive(std::span<std::byte> into, std::vector<FdHolder>& files) const {
    iovec piece{into.data(), into.size()};
    alignas(cmsghdr) std::array<char, control_length> control;
    int resets = 0;
    for (;;) {
        msghdr message{};
        message.msg_iov = &piece;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        const ssize_t count = ::recvmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (count < 0) {
            const int number = errno;
            if (number == EINTR) continue;
            if (would_block(number)) return std::nullopt;
            // The peer closed without having read all. What it sent before is still there, and is given once the error was.
            if (number == ECONNRESET && ++resets < 2) continue;
            if (is_gone(number)) return peer_gone();
            return std::unexpected(system_error("receive from the peer", number));
        }
        collect_files(message, files);
        if (count == 0) return peer_gone();
        if ((message.msg_flags & MSG_TRUNC) != 0) {
            return fail(Status::invalid_format, Error::no_offset, "packet: expected at most %zu bytes, one that is longer came",
                        into.size());
        }
        if ((message.msg_flags & MSG_CTRUNC) != 0) {
            return fail(Status::limit_exceeded, Error::no_offset,
                        "packet: not all of its file descriptors could be opened here: more came than this process may have, or "
                        "than one packet may carry");
        }
        return static_cast<std::size_t>(count);
    }
}

Result<ChannelSocket::Ready> ChannelSocket::wait(bool receive, bool send, const Deadline& deadline) const {
    pollfd entry{fd_.get(), static_cast<short>((receive ? POLLIN : 0) | (send ? POLLOUT : 0)), 0};
    int count = 0;
    while ((count = ::poll(&entry, 1, deadline.left())) < 0) {
        if (errno != EINTR) return std::unexpected(system_error("wait for the peer", errno));
    }
    if (count == 0) return Ready{};
    // That the peer is gone is found out by receiving or sending.
    const bool gone = (entry.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
    return Ready{(entry.revents & POLLIN) != 0 || gone, (entry.revents & POLLOUT) != 0 || gone};
}

void ChannelSocket::stop_receiving() const noexcept { ::shutdown(fd_.get(), SHUT_RD); }

}  // namespace hurray
#endif

#ifdef __linux__
#include "core/hurray/channel/channel_listener.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/hurray/io/path.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/io/system_error.hpp"

namespace hurray {
namespace {

constexpr int backlog = 64;
constexpr int retry_ms = 10;

Result<sockaddr_un> address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        return fail(Status::invalid_argument, Error::no_offset, "path: expected at most %zu bytes for a socket, got %zu",
                    sizeof address.sun_path - 1, path.size());
    }
    std::memcpy(address.sun_path, path.data(), path.size());
    return address;
}

Result<FdHolder> new_socket() {
    const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) return FdHolder(fd, FdOwnership::close);
    if (errno == EMFILE || errno == ENFILE) {
        return fail(Status::limit_exceeded, Error::no_offset, "channel: no further file descriptor may be opened");
    }
    return std::unexpected(system_error("make a socket", errno));
}

int connect_to(int fd, const sockaddr_un& address) {
    for (;;) {
        if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return 0;
        if (errno != EINTR) return errno;
    }
}

// Removes a socket file at which nobody listens; anything else stays, and is the answer.
Result<void> remove_stale(const std::string& path, const sockaddr_un& address) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        if (errno == ENOENT) return {};
        return std::unexpected(system_error_at("look at", path.c_str(), errno));
    }
    if (!S_ISSOCK(status.st_mode)) {
        return fail(Status::invalid_argument, Error::no_offset, "path: %s is %s, expected nothing or an old socket",
                    Quoted(path, 120).c_str(), file_kind(status.st_mode));
    }
    auto probe = new_socket();
    if (!probe) return std::unexpected(probe.error());
    // Only a refusal says that nobody is there: no room, another type and no permission are somebody.
    if (connect_to(probe->get(), address) != ECONNREFUSED) {
        return fail(Status::io, Error::no_offset, "path: somebody listens at %s", Quoted(path, 120).c_str());
    }
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return std::unexpected(system_error_at("remove", path.c_str(), errno));
    return {};
}

}  // namespace

ChannelListener::ChannelListener(FdHolder fd, std::string path, dev_t device, ino_t inode, const ChannelOptions& options) noexcept
    : fd_(std::move(fd)), path_(std::move(path)), device_(device), inode_(inode), options_(options), pid_(::getpid()) {}

ChannelListener::~ChannelListener() {
    struct stat status {};
    if (inherited() || ::lstat(path_.c_str(), &status) != 0) return;
    if (status.st_dev == device_ && status.st_ino == inode_) ::unlink(path_.c_str());
}

bool ChannelListener::inherited() const noexcept { return ::getpid() != pid_; }

Result<std::unique_ptr<ChannelListener>> ChannelListener::listen(std::string_view path, const ChannelOptions& options) {
    auto name = terminated_path(path);
    if (!name) return std::unexpected(name.error());
    const auto address = address_of(*name);
    if (!address) return std::unexpected(address.error());
    auto fd = new_socket();
    if (!fd) return std::unexpected(fd.error());
    const mode_t mode = options.other_users ? 0666 : 0600;
    // The file that bind makes gets the mode of the socket (less the umask): there is no moment at which others may connect.
    if (::fchmod(fd->get(), mode) != 0) return std::unexpected(system_error("set the mode of a socket", errno));
    const auto bind = [&] { return ::bind(fd->get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0 ? 0 : errno; };
    int number = bind();
    if (number == EADDRINUSE) {
        if (auto removed = remove_stale(*name, *address); !removed) return std::unexpected(removed.error());
        number = bind();
    }
    if (number != 0) return std::unexpected(system_error_at("listen at", name->c_str(), number));
    struct stat status {};
    if (::lstat(name->c_str(), &status) != 0) return std::unexpected(system_error_at("look at", name->c_str(), errno));
    std::unique_ptr<ChannelListener> listener(
        new ChannelListener(std::move(*fd), std::move(*name), status.st_dev, status.st_ino, options));
    if (options.other_users && ::chmod(listener->path_.c_str(), mode) != 0) {
        return std::unexpected(system_error_at("set the mode of", listener->path_.c_str(), errno));
    }
    if (::listen(listener->fd_.get(), backlog) != 0) {
        return std::unexpected(system_error_at("listen at", listener->path_.c_str(), errno));
    }
    return listener;
}

Result<std::unique_ptr<Channel>> ChannelListener::accept(const Deadline& deadline) {
    if (inherited()) return fail(Status::forked, Error::no_offset, "listener: it belongs to the parent of this process");
    for (;;) {
        const int fd = ::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC);
        if (fd >= 0) {
            FdHolder peer(fd, FdOwnership::close);
            ucred credentials{};
            socklen_t length = sizeof credentials;
            if (!options_.other_users && (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0 ||
                                          credentials.uid != ::geteuid())) {
                continue;
            }
            return Channel::adopt(std::move(peer), options_);
        }
        const int number = errno;
        if (number == EINTR || number == ECONNABORTED) continue;
        if (number == EMFILE || number == ENFILE) {
            return fail(Status::limit_exceeded, Error::no_offset, "listener: no further file descriptor may be opened");
        }
        if (number != EAGAIN && number != EWOULDBLOCK) return std::unexpected(system_error("accept a peer", number));
        pollfd entry{fd_.get(), POLLIN, 0};
        const int count = ::poll(&entry, 1, deadline.left());
        if (count == 0) return fail(Status::timed_out, Error::no_offset, "listener: nobody connected in time");
        if (count < 0 && errno != EINTR) return std::unexpected(system_error("wait for a peer", errno));
    }
}

Result<std::unique_ptr<Channel>> connect_channel(std::string_view path, const ChannelOptions& options, const Deadline& deadline) {
    auto name = terminated_path(path);
    if (!name) return std::unexpected(name.error());
    const auto address = address_of(*name);
    if (!address) return std::unexpected(address.error());
    for (;;) {
        auto fd = new_socket();
        if (!fd) return std::unexpected(fd.error());
        const int number = connect_to(fd->get(), *address);
        if (number == 0) return Channel::adopt(std::move(*fd), options);
        if (number == EPROTOTYPE) {
            return fail(Status::invalid_argument, Error::no_offset, "path: the socket at %s is of another type than a channel's",
                        Quoted(*name, 120).c_str());
        }
        // Not there yet, stale, or without room for a further peer.
        if (number != ENOENT && number != ECONNREFUSED && number != EAGAIN) {
            return std::unexpected(system_error_at("connect to", name->c_str(), number));
        }
        const int left = deadline.left();
        if (left == 0) {
            return fail(Status::timed_out, Error::no_offset, "channel: nobody listened in time: %s",
                        system_error_at("connect to", name->c_str(), number).message);
        }
        ::poll(nullptr, 0, left < 0 ? retry_ms : std::min(left, retry_ms));
    }
}

}  // namespace hurray
#endif

// Reading and writing file descriptors on POSIX systems.
#ifndef _WIN32
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <ctime>

#include "core/hurray/io/byte_sink.hpp"
#include "core/hurray/io/byte_source.hpp"
#include "core/hurray/io/system_error.hpp"

namespace hurray {
namespace {

// Some systems refuse to move more than 2 GiB at once.
constexpr std::size_t largest_transfer = std::size_t{1} << 30;
// What one call writes: little enough that memory that was made present for it still is so when it is copied.
constexpr std::size_t largest_write = std::size_t{64} << 20;
// Well below every system's IOV_MAX (POSIX promises 16).
constexpr std::size_t most_pieces = 16;

bool would_block(int number) { return number == EAGAIN || number == EWOULDBLOCK; }

Result<void> wait_for(int fd, short events, const char* action) {
    pollfd entry{fd, events, 0};
    while (::poll(&entry, 1, -1) < 0) {
        if (errno != EINTR) return std::unexpected(system_error(action, errno));
    }
    if ((entry.revents & POLLNVAL) != 0) return std::unexpected(system_error(action, EBADF));
    // An error or a hang-up is reported by the read or write that follows.
    return {};
}

// Blocks SIGPIPE and SIGXFSZ in this thread; at the end takes back those that the writes in between raised. A signal
// that was pending before is left pending: it is the host's.
class WriteSignalGuard {
public:
    // sigemptyset and its like are macros on some systems, so they stand without a scope.
    WriteSignalGuard() noexcept {
        sigset_t pending;
        sigemptyset(&pending);
        ::sigpending(&pending);
        sigemptyset(&ours_);
        for (const int number : {SIGPIPE, SIGXFSZ}) {
            if (sigismember(&pending, number) == 0) sigaddset(&ours_, number);
        }
        ::pthread_sigmask(SIG_BLOCK, &ours_, &before_);
    }
    WriteSignalGuard(const WriteSignalGuard&) = delete;
    WriteSignalGuard& operator=(const WriteSignalGuard&) = delete;
    ~WriteSignalGuard() {
        const int kept_errno = errno;
        if (raised_) take_back();
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        errno = kept_errno;
    }

    /// To be called when a write has failed: then, and only then, a signal may have been raised.
    void note_failure(int number) noexcept { raised_ = raised_ || number == EPIPE || number == EFBIG; }

private:
    void take_back() noexcept {
        sigset_t pending;
        sigemptyset(&pending);
        ::sigpending(&pending);
        for (const int number : {SIGPIPE, SIGXFSZ}) {
            if (sigismember(&ours_, number) != 1 || sigismember(&pending, number) != 1) continue;
            sigset_t one;
            sigemptyset(&one);
            sigaddset(&one, number);
#ifdef __APPLE__
            int taken = 0;
            ::sigwait(&one, &taken);
#else
            // No waiting: a signal that was sent to the whole process may have been taken by another thread since.
            const timespec none{};
            while (::sigtimedwait(&one, nullptr, &none) < 0 && errno == EINTR) {
            }
#endif
        }
    }

    sigset_t ours_;
    sigset_t before_;
    bool raised_ = false;
};

ssize_t write_socket(int fd, iovec* pieces, std::size_t count) {
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = count;
#ifdef MSG_NOSIGNAL
    return ::sendmsg(fd, &message, MSG_NOSIGNAL);
#else
    return ::sendmsg(fd, &message, 0);  // SO_NOSIGPIPE was set when the sink was made
#endif
}

// The next pieces to write, as the system wants them: at most most_pieces and largest_write bytes.
class PieceCursor {
public:
    explicit PieceCursor(std::span<const std::span<const std::byte>> pieces) : rest_(pieces) { skip_empty(); }

    [[nodiscard]] bool done() const { return rest_.empty(); }

    std::size_t fill(std::array<iovec, most_pieces>& vector) const {
        std::size_t count = 0;
        std::size_t total = 0;
        std::size_t offset = offset_;
        for (const auto piece : rest_) {
            if (count == vector.size() || total == largest_write) break;
            const std::size_t length = std::min(piece.size() - offset, largest_write - total);
            if (length != 0) {
                // writev does not change what it writes; its type just cannot say so.
                vector[count].iov_base = const_cast<std::byte*>(piece.data() + offset);
                vector[count].iov_len = length;
                ++count;
                total += length;
            }
            offset = 0;
        }
        return count;
    }

    void advance(std::size_t written) {
        offset_ += written;
        while (!rest_.empty() && offset_ >= rest_.front().size()) {
            offset_ -= rest_.front().size();
            rest_ = rest_.subspan(1);
        }
    }

private:
    void skip_empty() { advance(0); }

    std::span<const std::span<const std::byte>> rest_;
    std::size_t offset_ = 0;
};

// Maps the pages of large pieces in one go. Otherwise the write takes a fault for every few pages of a mapped file, which
// costs as much as the copy. A hint: what the system does not know or cannot do, it leaves to the write.
void make_present([[maybe_unused]] std::span<const iovec> pieces) {
#ifdef MADV_POPULATE_READ
    constexpr std::size_t worth_a_call = std::size_t{1} << 20;
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const int kept_errno = errno;
    for (const iovec& piece : pieces) {
        if (piece.iov_len < worth_a_call) continue;
        const auto start = reinterpret_cast<std::uintptr_t>(piece.iov_base);
        const std::uintptr_t first = start & ~(page - 1);
        ::madvise(reinterpret_cast<void*>(first), start + piece.iov_len - first, MADV_POPULATE_READ);
    }
    errno = kept_errno;
#endif
}

}  // namespace

void close_fd(int fd) noexcept {
    // Not repeated after EINTR: the descriptor is gone by then, and its number may be somebody else's already.
    ::close(fd);
}

Result<std::size_t> FdSource::read_some(std::span<std::byte> into) {
    if (into.empty()) return std::size_t{0};
    for (;;) {
        const ssize_t count = ::read(fd_.get(), into.data(), std::min(into.size(), largest_transfer));
        if (count >= 0) return static_cast<std::size_t>(count);
        if (errno == EINTR) continue;
        if (!would_block(errno)) return std::unexpected(system_error("read", errno));
        const auto waited = wait_for(fd_.get(), POLLIN, "read");
        if (!waited) return std::unexpected(waited.error());
    }
}

Result<std::uint64_t> FdSource::skip(std::uint64_t count) {
    const auto left = remaining();
    if (!left) return ByteSource::skip(count);
    const std::uint64_t step = std::min(count, *left);
    if (::lseek(fd_.get(), static_cast<off_t>(step), SEEK_CUR) < 0) return std::unexpected(system_error("seek", errno));
    return step;
}

std::optional<std::uint64_t> FdSource::remaining() const {
    struct stat status {};
    if (::fstat(fd_.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    const off_t position = ::lseek(fd_.get(), 0, SEEK_CUR);
    if (position < 0) return std::nullopt;
    return position < status.st_size ? static_cast<std::uint64_t>(status.st_size - position) : 0;
}

FdSink::FdSink(int fd, FdOwnership ownership) noexcept : fd_(fd, ownership) {
    struct stat status {};
    socket_ = ::fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
#if !defined(MSG_NOSIGNAL) && defined(SO_NOSIGPIPE)
    if (socket_) {
        const int yes = 1;
        ::setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes);
    }
#endif
}

Result<void> FdSink::write(std::span<const std::span<const std::byte>> pieces) {
    PieceCursor cursor(pieces);
    std::optional<WriteSignalGuard> guard;
    if (!socket_ && !cursor.done()) guard.emplace();
    while (!cursor.done()) {
        std::array<iovec, most_pieces> vector;
        const std::size_t count = cursor.fill(vector);
        make_present(std::span(vector).first(count));
        const ssize_t written = socket_ ? write_socket(fd_.get(), vector.data(), count)
                                        : ::writev(fd_.get(), vector.data(), static_cast<int>(count));
        if (written > 0) {
            cursor.advance(static_cast<std::size_t>(written));
            continue;
        }
        const int number = written == 0 ? EIO : errno;  // nothing written without a reason: never try that for ever
        if (number == EINTR) continue;
        if (would_block(number)) {
            const auto waited = wait_for(fd_.get(), POLLOUT, "write");
            if (!waited) return waited;
            continue;
        }
        if (guard) guard->note_failure(number);
        return std::unexpected(system_error("write", number));
    }
    return {};
}

}  // namespace hurray
#endif

#include "output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "exit.hpp"

namespace cli {
namespace {

constexpr std::size_t enough = 64 * 1024;

// What was written, or -1 and errno.
bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

}  // namespace

void Output::write(std::string_view bytes) {
    if (bytes.size() >= enough) {
        flush();
        pending_.assign(bytes);
        flush();
        return;
    }
    pending_ += bytes;
    if (pending_.size() >= enough) flush();
}

void Output::flush() {
    const std::string bytes = std::move(pending_);
    pending_.clear();
    if (bytes.empty() || write_all(STDOUT_FILENO, bytes)) return;
    if (errno == EPIPE) throw ClosedPipe{};
    throw Failure(failed, "standard output", std::strerror(errno));
}

Output& standard_output() {
    static Output output;
    return output;
}

void complain(std::string_view message) { remark(fmt::format("hurray: {}", message)); }

void remark(std::string_view message) { (void)write_all(STDERR_FILENO, fmt::format("{}\n", message)); }

}  // namespace cli

#include "atomic_output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "exit.hpp"

namespace cli {
namespace {

[[noreturn]] void fail(const std::string& path) { throw Failure(failed, path, std::strerror(errno)); }

// Permissions that a new file gets, or those of the file that it replaces.
mode_t mode_for(const std::string& path) {
    struct stat old {};
    if (::stat(path.c_str(), &old) == 0) return old.st_mode & 07777;
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return 0666 & ~mask;
}

}  // namespace

AtomicOutput::AtomicOutput(std::string path) : path_(std::move(path)) {
    temporary_ = path_ + ".XXXXXX";
    fd_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
    if (fd_ < 0) {
        temporary_.clear();
        fail(path_);
    }
}

AtomicOutput::~AtomicOutput() {
    if (fd_ >= 0) ::close(fd_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicOutput::commit() {
    if (::fchmod(fd_, mode_for(path_)) != 0 || ::fsync(fd_) != 0) fail(path_);
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(path_);
    temporary_.clear();
}

}  // namespace cli

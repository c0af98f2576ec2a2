#ifndef _WIN32
#include "core/hurray/io/atomic_file.hpp"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "core/hurray/io/path.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/io/system_error.hpp"
#include "core/hurray/io/temporary_name.hpp"

namespace hurray {
namespace {

struct Target {
    std::string folder;
    std::string name;
    std::optional<mode_t> permissions;
};

// Follows a symbolic link to the file that will really be replaced.
Result<Target> find_target(const std::string& path) {
    std::string real = path;
    Target target;
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) {
        if (!S_ISREG(status.st_mode)) {
            return fail(Status::invalid_argument, Error::no_offset, "%s is %s: only a regular file can be replaced",
                        Quoted(path, 120).c_str(), file_kind(status.st_mode));
        }
        target.permissions = status.st_mode & 0777;
        char* resolved = ::realpath(path.c_str(), nullptr);
        if (resolved == nullptr) return std::unexpected(system_error_at("resolve", path.c_str(), errno));
        real = resolved;
        ::free(resolved);
    } else if (errno != ENOENT) {
        return std::unexpected(system_error_at("stat", path.c_str(), errno));
    } else if (::lstat(path.c_str(), &status) == 0) {
        return fail(Status::invalid_argument, Error::no_offset, "%s is a symbolic link that leads nowhere",
                    Quoted(path, 120).c_str());
    }
    const std::size_t slash = real.rfind('/');
    target.folder = slash == std::string::npos ? "." : slash == 0 ? "/" : real.substr(0, slash);
    target.name = slash == std::string::npos ? real : real.substr(slash + 1);
    if (target.name.empty()) {
        return fail(Status::invalid_argument, Error::no_offset, "%s ends with a slash: expected the name of a file",
                    Quoted(path, 120).c_str());
    }
    return target;
}

#ifdef O_TMPFILE
std::string descriptor_path(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// A file without a name, which vanishes with the process; -1 where the file system or the system cannot do that.
int open_nameless(int folder) {
    const int fd = ::openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0) return -1;
    // It gets its name through /proc; without that it could never be moved into place.
    if (::access(descriptor_path(fd).c_str(), F_OK) == 0) return fd;
    ::close(fd);
    return -1;
}

Result<void> give_name(int fd, int folder, std::string& name) {
    const std::string source = descriptor_path(fd);
    for (int attempt = 0; attempt < naming_attempts; ++attempt) {
        std::string candidate = temporary_name();
        if (::linkat(AT_FDCWD, source.c_str(), folder, candidate.c_str(), AT_SYMLINK_FOLLOW) == 0) {
            name = std::move(candidate);
            return {};
        }
        if (errno != EEXIST) break;
    }
    return std::unexpected(system_error("link", errno));
}
#else
int open_nameless(int) { return -1; }
Result<void> give_name(int, int, std::string&) { return {}; }
#endif

Result<int> open_named(int folder, const char* folder_name, std::string& name) {
    for (int attempt = 0; attempt < naming_attempts; ++attempt) {
        std::string candidate = temporary_name();
        const int fd = ::openat(folder, candidate.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
        if (fd >= 0) {
            name = std::move(candidate);
            return fd;
        }
        if (errno != EEXIST && errno != EINTR) break;
    }
    return std::unexpected(system_error_at("create a file in", folder_name, errno));
}

Result<void> synchronize(int fd, bool folder) {
    while (::fsync(fd) != 0) {
        if (errno == EINTR) continue;
        // Some file systems cannot synchronize a folder and say so; there is nothing more to be done there.
        if (folder && (errno == EINVAL || errno == ENOTSUP)) return {};
        return std::unexpected(system_error("fsync", errno));
    }
    return {};
}

}  // namespace

AtomicFile::AtomicFile(FdHolder folder, std::string name, FdHolder file, std::string temporary)
    : folder_(std::move(folder)),
      name_(std::move(name)),
      file_(std::move(file)),
      temporary_(std::move(temporary)),
      sink_(file_.get()) {}

AtomicFile::~AtomicFile() {
    if (!temporary_.empty()) ::unlinkat(folder_.get(), temporary_.c_str(), 0);
}

Result<std::unique_ptr<AtomicFile>> AtomicFile::create(std::string_view path, Temporary kind) {
    const auto checked = terminated_path(path);
    if (!checked) return std::unexpected(checked.error());
    auto target = find_target(*checked);
    if (!target) return std::unexpected(target.error());

    const int folder_fd = ::open(target->folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_fd < 0) return std::unexpected(system_error_at("open", target->folder.c_str(), errno));
    FdHolder folder(folder_fd, FdOwnership::close);

    std::string temporary;
    int fd = kind == Temporary::automatic ? open_nameless(folder_fd) : -1;
    if (fd < 0) {
        const auto named = open_named(folder_fd, target->folder.c_str(), temporary);
        if (!named) return std::unexpected(named.error());
        fd = *named;
    }
    std::unique_ptr<AtomicFile> file(new AtomicFile(std::move(folder), std::move(target->name),
                                                    FdHolder(fd, FdOwnership::close), std::move(temporary)));
    if (target->permissions && ::fchmod(fd, *target->permissions) != 0) {
        return std::unexpected(system_error("set the permissions of the new file", errno));
    }
    return file;
}

Result<void> AtomicFile::write(std::span<const std::span<const std::byte>> pieces) {
    if (failed_) return fail(Status::invalid_argument, Error::no_offset, "an earlier write to this file has failed");
    auto written = sink_.write(pieces);
    failed_ = !written;
    return written;
}

Result<void> AtomicFile::commit() {
    if (failed_) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "the file is committed already, or an earlier write to it has failed");
    }
    failed_ = true;  // whatever happens now, it happens once
    if (auto done = synchronize(file_.get(), false); !done) return done;
    if (temporary_.empty()) {
        if (auto done = give_name(file_.get(), folder_.get(), temporary_); !done) return done;
    }
    if (::renameat(folder_.get(), temporary_.c_str(), folder_.get(), name_.c_str()) != 0) {
        return std::unexpected(system_error_at("rename to", name_.c_str(), errno));
    }
    temporary_.clear();
    return synchronize(folder_.get(), true);
}

}  // namespace hurray
#endif

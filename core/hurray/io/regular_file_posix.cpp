#include "core/hurray/io/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "core/hurray/io/path.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/io/system_error.hpp"

namespace hurray {

Result<FdHolder> open_regular_file(const std::string& name) {
    // O_NONBLOCK: opening a fifo must not wait for a writer. It means nothing for the regular files that are let through.
    int fd = -1;
    do {
        fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) return std::unexpected(system_error_at("open", name.c_str(), errno));
    FdHolder file(fd, FdOwnership::close);

    struct stat status {};
    if (::fstat(fd, &status) != 0) return std::unexpected(system_error_at("stat", name.c_str(), errno));
    if (!S_ISREG(status.st_mode)) {
        return fail(Status::invalid_format, Error::no_offset, "%s is %s: expected a regular file",
                    Quoted(name, 120).c_str(), file_kind(status.st_mode));
    }
    return file;
}

}  // namespace hurray

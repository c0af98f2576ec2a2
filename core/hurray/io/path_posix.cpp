#include <sys/stat.h>

#include "core/hurray/io/path.hpp"
#include "core/hurray/io/quoted.hpp"

namespace hurray {

Result<std::string> terminated_path(std::string_view path) {
    if (path.empty()) return fail(Status::invalid_argument, Error::no_offset, "path: empty");
    if (path.find('\0') != std::string_view::npos) {
        return fail(Status::invalid_argument, Error::no_offset, "path: %s holds a NUL character", Quoted(path).c_str());
    }
    return std::string(path);
}

const char* file_kind(unsigned int mode) noexcept {
    if (S_ISREG(mode)) return "a regular file";
    if (S_ISDIR(mode)) return "a directory";
    if (S_ISFIFO(mode)) return "a fifo";
    if (S_ISSOCK(mode)) return "a socket";
    if (S_ISCHR(mode)) return "a character device";
    if (S_ISBLK(mode)) return "a block device";
    return "not a regular file";
}

}  // namespace hurray

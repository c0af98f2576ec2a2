#ifndef _WIN32
#include <sys/stat.h>

#include "core/hurray/io/path.hpp"

namespace hurray {

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
#endif

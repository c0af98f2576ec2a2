#ifndef _WIN32
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/hurray/io/path.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/io/system_error.hpp"
#include "core/hurray/io/system_file.hpp"

namespace hurray {
namespace {

// Some systems refuse to move more than 2 GiB at once.
constexpr std::size_t largest_transfer = std::size_t{1} << 30;

}  // namespace

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

Result<std::uint64_t> regular_file_size(int fd, const std::string& name) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return std::unexpected(system_error_at("stat", name.c_str(), errno));
    return static_cast<std::uint64_t>(status.st_size);
}

Result<std::size_t> read_at(int fd, std::uint64_t offset, std::span<std::byte> into, std::uint64_t where) {
    for (;;) {
        const ssize_t count =
            ::pread(fd, into.data(), std::min(into.size(), largest_transfer), static_cast<off_t>(offset));
        if (count >= 0) return static_cast<std::size_t>(count);
        if (errno != EINTR) return std::unexpected(system_error("read", errno, where));
    }
}

Result<const std::byte*> map_for_reading(int fd, std::size_t size, const std::string& name) {
    // MAP_SHARED of a descriptor that is open for reading only: what others write is visible in a defined way (for
    // MAP_PRIVATE POSIX leaves it open), and nobody in this process can ever turn the pages writable (mprotect refuses),
    // so a stray write through a cast pointer faults instead of giving a private page that differs from the file.
    void* const address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    if (address == MAP_FAILED) return std::unexpected(system_error_at("map", name.c_str(), errno));
    return static_cast<const std::byte*>(address);
}

void unmap(const std::byte* base, std::size_t size) noexcept { ::munmap(const_cast<std::byte*>(base), size); }

}  // namespace hurray
#endif

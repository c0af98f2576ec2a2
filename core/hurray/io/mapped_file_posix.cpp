#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <new>
#include <string>

#include "core/hurray/io/fd.hpp"
#include "core/hurray/io/mapped_file.hpp"
#include "core/hurray/io/path.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/io/system_error.hpp"

namespace hurray {
namespace {

class MappingStorage final : public Storage {
public:
    MappingStorage(void* address, std::size_t size) noexcept : address_(address), size_(size) {}

private:
    bool dispose() noexcept override {
        ::munmap(address_, size_);
        delete this;
        return true;
    }

    void* address_;
    std::size_t size_;
};

}  // namespace

Result<MappedFile> MappedFile::open(std::string_view path) {
    auto checked = terminated_path(path);
    if (!checked) return std::unexpected(checked.error());
    const std::string& name = *checked;
    // O_NONBLOCK: opening a fifo must not wait for a writer. It means nothing for the regular files that are let through.
    int fd = -1;
    do {
        fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) return std::unexpected(system_error_at("open", name.c_str(), errno));
    const FdHolder holder(fd, FdOwnership::close);

    struct stat status {};
    if (::fstat(fd, &status) != 0) return std::unexpected(system_error_at("stat", name.c_str(), errno));
    if (!S_ISREG(status.st_mode)) {
        return fail(Status::invalid_format, Error::no_offset, "%s is %s: expected a regular file",
                    Quoted(name, 120).c_str(), file_kind(status.st_mode));
    }
    if (status.st_size == 0) return MappedFile();
    if (static_cast<std::uint64_t>(status.st_size) > std::numeric_limits<std::size_t>::max() / 2) {
        return fail(Status::limit_exceeded, Error::no_offset, "%s is larger than the address space",
                    Quoted(name, 120).c_str());
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    // MAP_SHARED of a descriptor that is open for reading only: what others write is visible in a defined way (for
    // MAP_PRIVATE POSIX leaves it open), and nobody in this process can ever turn the pages writable (mprotect refuses),
    // so a stray write through a cast pointer faults instead of giving a private page that differs from the file.
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    if (address == MAP_FAILED) return std::unexpected(system_error_at("map", name.c_str(), errno));
    auto* storage = new (std::nothrow) MappingStorage(address, size);
    if (storage == nullptr) {
        ::munmap(address, size);
        return fail(Status::out_of_memory, Error::no_offset, "cannot allocate the record of a mapping");
    }
    return MappedFile({static_cast<const std::byte*>(address), size}, Ref<Storage>::adopt(storage));
}

}  // namespace hurray

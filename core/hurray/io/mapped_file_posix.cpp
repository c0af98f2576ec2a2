#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "core/hurray/io/fd.hpp"
#include "core/hurray/io/mapped_file.hpp"
#include "core/hurray/io/path.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/io/regular_file.hpp"
#include "core/hurray/io/system_error.hpp"

namespace hurray {
namespace {

class MappingStorage final : public Storage {
public:
    MappingStorage(void* address, std::size_t size, FdHolder file) noexcept
        : file_(std::move(file)),
          backing_{.fd = file_.get(), .base = static_cast<const std::byte*>(address), .size = size} {}

    const SharedBacking* shared_backing() const noexcept override { return &backing_; }

private:
    bool dispose() noexcept override {
        ::munmap(const_cast<std::byte*>(backing_.base), static_cast<std::size_t>(backing_.size));
        delete this;
        return true;
    }

    FdHolder file_;
    SharedBacking backing_;
};

}  // namespace

Result<MappedFile> MappedFile::open(std::string_view path) {
    auto checked = terminated_path(path);
    if (!checked) return std::unexpected(checked.error());
    const std::string& name = *checked;
    auto file = open_regular_file(name);
    if (!file) return std::unexpected(file.error());
    struct stat status {};
    if (::fstat(file->get(), &status) != 0) return std::unexpected(system_error_at("stat", name.c_str(), errno));
    if (status.st_size == 0) return MappedFile();
    if (static_cast<std::uint64_t>(status.st_size) > std::numeric_limits<std::size_t>::max() / 2) {
        return fail(Status::limit_exceeded, Error::no_offset, "%s is larger than the address space",
                    Quoted(name, 120).c_str());
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    // MAP_SHARED of a descriptor that is open for reading only: what others write is visible in a defined way (for
    // MAP_PRIVATE POSIX leaves it open), and nobody in this process can ever turn the pages writable (mprotect refuses),
    // so a stray write through a cast pointer faults instead of giving a private page that differs from the file.
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file->get(), 0);
    if (address == MAP_FAILED) return std::unexpected(system_error_at("map", name.c_str(), errno));
    auto* storage = new (std::nothrow) MappingStorage(address, size, std::move(*file));
    if (storage == nullptr) {
        ::munmap(address, size);
        return fail(Status::out_of_memory, Error::no_offset, "cannot allocate the record of a mapping");
    }
    return MappedFile({static_cast<const std::byte*>(address), size}, Ref<Storage>::adopt(storage));
}

}  // namespace hurray

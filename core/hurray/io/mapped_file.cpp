#include "core/hurray/io/mapped_file.hpp"

#include <limits>
#include <new>
#include <string>
#include <utility>

#include "core/hurray/io/fd.hpp"
#include "core/hurray/io/path.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/io/system_file.hpp"

namespace hurray {
namespace {

class MappingStorage final : public Storage {
public:
    MappingStorage(const std::byte* base, std::size_t size, FdHolder file) noexcept
        : file_(std::move(file)), backing_{.fd = file_.get(), .base = base, .size = size} {}

    const SharedBacking* shared_backing() const noexcept override { return &backing_; }

private:
    bool dispose() noexcept override {
        unmap(backing_.base, static_cast<std::size_t>(backing_.size));
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
    const auto length = regular_file_size(file->get(), name);
    if (!length) return std::unexpected(length.error());
    if (*length == 0) return MappedFile();
    if (*length > std::numeric_limits<std::size_t>::max() / 2) {
        return fail(Status::limit_exceeded, Error::no_offset, "%s is larger than the address space",
                    Quoted(name, 120).c_str());
    }
    const auto size = static_cast<std::size_t>(*length);
    const auto base = map_for_reading(file->get(), size, name);
    if (!base) return std::unexpected(base.error());
    auto* storage = new (std::nothrow) MappingStorage(*base, size, std::move(*file));
    if (storage == nullptr) {
        unmap(*base, size);
        return fail(Status::out_of_memory, Error::no_offset, "cannot allocate the record of a mapping");
    }
    return MappedFile({*base, size}, Ref<Storage>::adopt(storage));
}

}  // namespace hurray

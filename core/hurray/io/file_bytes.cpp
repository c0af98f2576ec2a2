#include "core/hurray/io/file_bytes.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "core/hurray/io/fd.hpp"
#include "core/hurray/io/mapped_file.hpp"
#include "core/hurray/io/path.hpp"
#include "core/hurray/io/system_file.hpp"
#include "core/hurray/memory/buffer.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

std::unexpected<Error> outside(std::uint64_t offset, std::uint64_t length, std::uint64_t size) {
    return fail(Status::invalid_format, offset, "the file ends at byte %llu: expected %llu bytes from byte %llu",
                static_cast<ull>(size), static_cast<ull>(length), static_cast<ull>(offset));
}

// `where`: the offset to name in errors.
Result<void> read_from(int fd, std::uint64_t offset, std::span<std::byte> into, std::uint64_t where) {
    std::size_t done = 0;
    while (done < into.size()) {
        const auto count = read_at(fd, offset + done, into.subspan(done), where + done);
        if (!count) return std::unexpected(count.error());
        if (*count == 0) {
            return fail(Status::invalid_format, where + done,
                        "the file became shorter while it was open: it ends before byte %llu, expected %llu more bytes",
                        static_cast<ull>(where + done), static_cast<ull>(into.size() - done));
        }
        done += *count;
    }
    return {};
}

}  // namespace

class FileBytes::OpenFile {
public:
    explicit OpenFile(FdHolder file) noexcept : file_(std::move(file)) {}

    [[nodiscard]] Result<void> read(std::uint64_t offset, std::span<std::byte> into) const {
        return read_from(file_.get(), offset, into, offset);
    }

private:
    FdHolder file_;
};

Result<FileBytes> FileBytes::open(std::string_view path, FileAccess access) {
    if (access == FileAccess::map) {
        auto mapped = MappedFile::open(path);
        if (!mapped) return std::unexpected(mapped.error());
        return over(mapped->bytes(), mapped->storage());
    }
    auto name = terminated_path(path);
    if (!name) return std::unexpected(name.error());
    auto file = open_regular_file(*name);
    if (!file) return std::unexpected(file.error());
    const auto size = regular_file_size(file->get(), *name);
    if (!size) return std::unexpected(size.error());
    FileBytes bytes;
    bytes.size_ = *size;
    bytes.file_ = std::make_shared<const OpenFile>(std::move(*file));
    return bytes;
}

FileBytes FileBytes::over(std::span<const std::byte> image, Ref<Storage> storage) noexcept {
    FileBytes bytes;
    bytes.image_ = image;
    bytes.storage_ = std::move(storage);
    bytes.size_ = image.size();
    return bytes;
}

Result<FileWindow> FileBytes::window(std::uint64_t offset, std::uint64_t length) const {
    if (offset > size_ || length > size_ - offset) return outside(offset, length, size_);
    if (file_ == nullptr) {
        return FileWindow{image_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(length)), storage_};
    }
    auto buffer = allocate_buffer(length, minimum_alignment, Contents::undefined);
    if (!buffer) return std::unexpected(buffer.error());
    if (auto read = file_->read(offset, buffer->bytes()); !read) return std::unexpected(read.error());
    return FileWindow{buffer->bytes(), std::move(buffer->storage)};
}

Result<void> FileBytes::read(std::uint64_t offset, std::span<std::byte> into) const {
    if (offset > size_ || into.size() > size_ - offset) return outside(offset, into.size(), size_);
    if (file_ != nullptr) return file_->read(offset, into);
    if (!into.empty()) std::memcpy(into.data(), image_.data() + offset, into.size());
    return {};
}

std::optional<FileBytes::Backing> FileBytes::backing(std::uint64_t offset, std::uint64_t length) const noexcept {
    const SharedBacking* shared = storage_ ? storage_->shared_backing() : nullptr;
    if (shared == nullptr || image_.data() < shared->base) return std::nullopt;
    const std::uint64_t start = static_cast<std::uint64_t>(image_.data() - shared->base) + offset;
    if (start > shared->size || length > shared->size - start) return std::nullopt;
    return Backing{shared->fd, shared->file_offset + start};
}

Result<void> FileBytes::read_detached(std::uint64_t offset, std::span<std::byte> into) const {
    if (offset > size_ || into.size() > size_ - offset) return outside(offset, into.size(), size_);
    if (const auto file = backing(offset, into.size())) return read_from(file->fd, file->offset, into, offset);
    return read(offset, into);
}

Result<FileWindow> FileBytes::detached_window(std::uint64_t offset, std::uint64_t length) const {
    if (offset > size_ || length > size_ - offset) return outside(offset, length, size_);
    if (!backing(offset, length)) return window(offset, length);
    auto buffer = allocate_buffer(length, minimum_alignment, Contents::undefined);
    if (!buffer) return std::unexpected(buffer.error());
    if (auto done = read_detached(offset, buffer->bytes()); !done) return std::unexpected(done.error());
    return FileWindow{buffer->bytes(), std::move(buffer->storage)};
}

}  // namespace hurray

// Random access to the bytes of a regular file: mapped, or read on demand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/memory/storage.hpp"

namespace hurray {

enum class FileAccess : std::uint8_t {
    /// Mapped read-only (see MappedFile for what that asks of others).
    map = 0,
    /// Read at their places into memory of the library when asked for: for network file systems, and for files that somebody
    /// else may cut or must be able to replace. A file that is cut is an error (invalid_format), never a signal.
    read = 1,
};

/// A part of a file. The bytes live as long as `storage` (none: for ever).
struct FileWindow {
    std::span<const std::byte> bytes;
    Ref<Storage> storage;
};

/// Thread rule: immutable; any number of threads may use it and copies of it at once.
class FileBytes {
public:
    /// Errors: those of MappedFile::open. Under FileAccess::read the file stays open as long as a copy of this does.
    static Result<FileBytes> open(std::string_view path, FileAccess access = FileAccess::map);
    /// Bytes in memory that `storage` keeps alive (none: borrowed for ever).
    static FileBytes over(std::span<const std::byte> image, Ref<Storage> storage) noexcept;

    /// Size when the file was opened.
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    /// Whether windows are parts of a mapping (or of memory given to over()): nothing is copied for them.
    [[nodiscard]] bool in_place() const noexcept { return file_ == nullptr; }

    /// `length` bytes from `offset`: in place, or read into new memory that is aligned to 64 bytes.
    /// Errors: invalid_format (the range is not inside the file, or the file became shorter), io, out_of_memory.
    [[nodiscard]] Result<FileWindow> window(std::uint64_t offset, std::uint64_t length) const;

    /// As window(), but bytes of a file, mapped or not, are read into memory of their own: they do not change or vanish
    /// with the file, and the mapped pages do not become resident. Bytes that were in memory already stay there.
    [[nodiscard]] Result<FileWindow> detached_window(std::uint64_t offset, std::uint64_t length) const;

    /// Fills `into` with the bytes from `offset`. Errors: as window().
    Result<void> read(std::uint64_t offset, std::span<std::byte> into) const;

    /// As read(), by a call to the system where the bytes are a file's, mapped or not: a file that was cut is an error
    /// and never a signal, and the mapped pages do not become resident.
    Result<void> read_detached(std::uint64_t offset, std::span<std::byte> into) const;

private:
    class OpenFile;

    /// Where in the file behind a mapping the bytes from `offset` are; nothing when there is none.
    struct Backing {
        int fd;
        std::uint64_t offset;
    };
    [[nodiscard]] std::optional<Backing> backing(std::uint64_t offset, std::uint64_t length) const noexcept;

    std::span<const std::byte> image_;
    Ref<Storage> storage_;
    std::shared_ptr<const OpenFile> file_;
    std::uint64_t size_ = 0;
};

}  // namespace hurray

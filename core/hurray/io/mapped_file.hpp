// A regular file mapped into memory, read-only.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/memory/storage.hpp"

namespace hurray {

/// The whole of a regular file as memory. The mapping belongs to a storage: it is undone when the last reference to
/// that storage goes, however long after the MappedFile itself. The file descriptor stays open with it, so that a channel
/// can pass the file on to another process (Storage::shared_backing).
///
/// Contract: the file does not change while it is mapped. Bytes that somebody else writes into it appear in the
/// mapping at any moment; a file that somebody else cuts short raises SIGBUS in whoever touches the lost pages, which
/// a library may not catch for its host. Files that are replaced (written beside, then renamed over) are safe: the
/// mapping keeps the old file. (Windows does not let a mapped file be replaced.) Where files may be changed in place, read them instead of mapping them.
///
/// Thread rule: immutable; any thread may use it, and copies may be dropped on any thread.
class MappedFile {
public:
    MappedFile() = default;

    /// Opens and maps `path` (bytes as the operating system takes them, not terminated).
    /// Errors: not_found (no such file), io (any other refusal of the system), invalid_argument (the path is empty or
    /// holds a NUL), invalid_format (a directory, fifo, device or socket: only regular files can be mapped).
    /// An empty file maps to an empty span.
    static Result<MappedFile> open(std::string_view path);

    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
    /// Keeps the mapping; empty for an empty file.
    [[nodiscard]] const Ref<Storage>& storage() const noexcept { return storage_; }

private:
    MappedFile(std::span<const std::byte> bytes, Ref<Storage> storage) noexcept
        : bytes_(bytes), storage_(std::move(storage)) {}

    std::span<const std::byte> bytes_;
    Ref<Storage> storage_;
};

}  // namespace hurray

// The members of an archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/file_bytes.hpp"

namespace hurray::zip {

struct Member {
    std::uint32_t name_at = 0;
    std::uint16_t name_length = 0;
    std::uint16_t method = 0;
    std::uint16_t flags = 0;
    std::uint32_t crc = 0;
    std::uint64_t compressed_size = 0;
    std::uint64_t size = 0;
    /// Of the local header, and of the data, in bytes from the start of the file.
    std::uint64_t local_offset = 0;
    std::uint64_t data_offset = 0;

    [[nodiscard]] bool is_compressed() const noexcept { return method != 0; }
};

/// What the central directory says, after it was compared with the local headers. Members lie inside the file, in front
/// of the directory, and do not overlap; no two have one name; stored ones are as large as they are stored, compressed
/// ones no larger than deflate can make them. Gaps between members are allowed, as deleted ones leave them.
class Directory {
public:
    /// The length of the directory is checked against the file and the limit before it is read.
    /// @param limit longest directory accepted, in bytes
    /// @errors invalid_format, limit_exceeded, unsupported (encrypted members, other methods than stored and deflate,
    ///     newer versions, names in a code page); those of FileBytes
    static Result<Directory> read(const FileBytes& bytes, std::uint64_t limit);

    /// In the order of the directory.
    [[nodiscard]] std::span<const Member> members() const noexcept { return members_; }
    [[nodiscard]] std::string_view name(const Member& member) const noexcept {
        return std::string_view(names_).substr(member.name_at, member.name_length);
    }

private:
    Result<void> parse(std::span<const std::byte> directory, std::uint64_t offset, std::uint64_t entries);
    Result<std::size_t> parse_entry(std::span<const std::byte> rest, std::uint64_t offset, std::uint64_t directory_offset);
    Result<void> check_names(std::uint64_t offset) const;
    Result<void> check_local_header(const FileBytes& bytes, std::uint64_t directory_offset, Member& member) const;
    Result<void> check_overlaps() const;

    std::vector<Member> members_;
    std::string names_;
};

}  // namespace hurray::zip

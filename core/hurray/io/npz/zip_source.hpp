// The contents of a member as a sequence of bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/byte_source.hpp"
#include "core/hurray/io/file_bytes.hpp"
#include "core/hurray/io/npz/zip_directory.hpp"

namespace hurray::zip {

/// Unpacks a member while it is read; never more than the directory says. Memory: about 50 KiB, 64 KiB more under
/// FileAccess::read.
class Source final : public ByteSource {
public:
    /// @errors out_of_memory
    static Result<std::unique_ptr<Source>> open(const FileBytes& bytes, const Member& member, std::string_view name);
    ~Source() override;

    /// @errors invalid_format: a stream that is none or ends before its size; those of FileBytes
    Result<std::size_t> read_some(std::span<std::byte> into) override;
    [[nodiscard]] std::optional<std::uint64_t> remaining() const override { return remaining_; }

    /// Reads what is left and checks that the data ends where it should, with the right CRC-32.
    /// @errors invalid_format
    Result<void> finish();

private:
    class Inflater;

    Source(FileBytes bytes, const Member& member, std::string_view name);

    FileBytes bytes_;
    Member member_;
    std::string name_;
    std::unique_ptr<Inflater> inflater_;
    /// Bytes of the contents not handed out yet.
    std::uint64_t remaining_;
    std::uint32_t crc_ = 0;
};

/// Continues a CRC-32 (0 to begin with).
[[nodiscard]] std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes) noexcept;

}  // namespace hurray::zip

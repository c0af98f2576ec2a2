// A part of a file as a sequence of bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/byte_source.hpp"
#include "core/hurray/io/file_bytes.hpp"

namespace hurray {

/// Reads `length` bytes from `offset`, which the caller has checked against the size of the file.
/// Errors: those of FileBytes::read.
class FileRangeSource final : public ByteSource {
public:
    FileRangeSource(FileBytes bytes, std::uint64_t offset, std::uint64_t length) noexcept
        : bytes_(std::move(bytes)), offset_(offset), remaining_(length) {}

    Result<std::size_t> read_some(std::span<std::byte> into) override;
    [[nodiscard]] std::optional<std::uint64_t> remaining() const override { return remaining_; }

private:
    FileBytes bytes_;
    std::uint64_t offset_;
    std::uint64_t remaining_;
};

}  // namespace hurray

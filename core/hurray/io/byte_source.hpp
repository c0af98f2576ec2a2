// Where bytes come from: the one interface that the stream reader knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/fd.hpp"

namespace hurray {

/// A sequence of bytes that is read once, from front to back. Used by one thread at a time.
class ByteSource {
public:
    ByteSource() = default;
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;
    virtual ~ByteSource() = default;

    /// Reads between 1 and into.size() bytes, waiting for the first one; 0 only at the end (or when `into` is empty).
    /// Never reads beyond `into`: what follows is left to whoever reads next.
    virtual Result<std::size_t> read_some(std::span<std::byte> into) = 0;

    /// Passes over up to `count` bytes and returns over how many; fewer only at the end. Reads them, unless the source knows a
    /// cheaper way.
    virtual Result<std::uint64_t> skip(std::uint64_t count);

    /// How many bytes are still to come, where that is known without reading (a regular file, memory).
    [[nodiscard]] virtual std::optional<std::uint64_t> remaining() const { return std::nullopt; }
};

/// Reads until `into` is full or the source ends; returns how many bytes were read.
Result<std::size_t> read_fully(ByteSource& source, std::span<std::byte> into);

/// Reads a file descriptor: file, pipe, socket, terminal; blocking or not (it waits with poll where a non-blocking one
/// has nothing yet). Interrupted calls are resumed.
class FdSource final : public ByteSource {
public:
    /// With FdOwnership::close the descriptor is closed together with the source.
    explicit FdSource(int fd, FdOwnership ownership = FdOwnership::borrow) noexcept : fd_(fd, ownership) {}

    Result<std::size_t> read_some(std::span<std::byte> into) override;
    Result<std::uint64_t> skip(std::uint64_t count) override;
    [[nodiscard]] std::optional<std::uint64_t> remaining() const override;

private:
    FdHolder fd_;
};

/// Reads memory that the caller keeps alive.
class MemorySource final : public ByteSource {
public:
    explicit MemorySource(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

    Result<std::size_t> read_some(std::span<std::byte> into) override;
    Result<std::uint64_t> skip(std::uint64_t count) override;
    [[nodiscard]] std::optional<std::uint64_t> remaining() const override { return rest_.size(); }

private:
    std::span<const std::byte> rest_;
};

}  // namespace hurray

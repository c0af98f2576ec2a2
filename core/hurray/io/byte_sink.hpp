// Where bytes go: the one interface that writers know.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/fd.hpp"

namespace hurray {

/// Takes bytes in order. Used by one thread at a time.
class ByteSink {
public:
    ByteSink() = default;
    ByteSink(const ByteSink&) = delete;
    ByteSink& operator=(const ByteSink&) = delete;
    virtual ~ByteSink() = default;

    /// Writes all pieces, one after the other, or fails; after a failure it is unknown how much was written.
    virtual Result<void> write(std::span<const std::span<const std::byte>> pieces) = 0;

    Result<void> write(std::span<const std::byte> bytes) { return write(std::span(&bytes, 1)); }

    /// Called once, after the last write: makes what was written final, where there is such a thing (AtomicFile).
    virtual Result<void> commit() { return {}; }
};

/// Writes to a file descriptor: file, pipe, socket, terminal; blocking or not (it waits with poll where a non-blocking
/// one is full). Interrupted and short writes are resumed.
///
/// A peer that has gone, or a file size limit, is an io error and never a signal to the host: sockets are written with
/// MSG_NOSIGNAL; around writes to anything else SIGPIPE and SIGXFSZ are blocked in the calling thread, and one that
/// the write raised is taken back. No signal handler or disposition is changed.
class FdSink final : public ByteSink {
public:
    /// With FdOwnership::close the descriptor is closed together with the sink.
    explicit FdSink(int fd, FdOwnership ownership = FdOwnership::borrow) noexcept;

    using ByteSink::write;
    Result<void> write(std::span<const std::span<const std::byte>> pieces) override;

private:
    FdHolder fd_;
    /// Where sockets are written to in another way.
    [[maybe_unused]] bool socket_ = false;
};

/// Appends to memory of its own. A write for which there is not enough (std::bad_alloc) has written nothing.
class MemorySink final : public ByteSink {
public:
    using ByteSink::write;
    Result<void> write(std::span<const std::span<const std::byte>> pieces) override;

    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
    /// Hands the bytes over and starts again with none.
    std::vector<std::byte> take() noexcept { return std::exchange(bytes_, {}); }

private:
    std::vector<std::byte> bytes_;
};

}  // namespace hurray

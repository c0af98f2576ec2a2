// Reading a stream of tensors (format: stream; docs/formats/stream.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/byte_source.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

struct StreamLimits {
    static constexpr std::uint64_t default_descriptor_length = std::uint64_t{16} << 20;
    static constexpr std::uint64_t no_limit = ~std::uint64_t{0};
    static constexpr std::uint32_t default_alignment = std::uint32_t{2} << 20;

    /// Longest descriptor accepted, in bytes.
    std::uint64_t max_descriptor_length = default_descriptor_length;
    /// Largest tensor accepted, in bytes over all its buffers.
    std::uint64_t max_tensor_bytes = no_limit;
    /// Largest buffer alignment accepted, in bytes: what a buffer asks for is what it gets, so it must be affordable.
    std::uint32_t max_alignment = default_alignment;
    /// Private layouts and quantization schemes.
    PrivateTags private_tags = PrivateTags::refuse;
    /// What is done with tags that are not known. A layout that is not known ends the stream with `unsupported` all the
    /// same: nobody knows where the next tensor starts.
    Mode mode = Mode::strict;
};

/// Whether the buffers of a tensor can be read: CPU memory that is complete, within the limits.
/// @param start where the descriptor starts, for errors
/// @errors invalid_sync_mode, unsupported, limit_exceeded
Result<void> check_stream_table(const Descriptor& descriptor, const StreamLimits& limits, std::uint64_t start);

/// Reads tensor after tensor: each into memory of its own that has the alignment its descriptor declares (next), or its
/// descriptor first and then its data as it arrives (begin, read, skip).
///
/// Never reads a byte beyond the tensor that was asked for, and allocates no more than twice what has arrived: a length
/// in the stream is not believed before its bytes are there.
///
/// Thread rule: one thread at a time; tensors live on their own.
class StreamReader {
public:
    explicit StreamReader(std::unique_ptr<ByteSource> source, const StreamLimits& limits = {}) noexcept;

    /// The next tensor, or nothing at a clean end (between tensors).
    /// Errors (offset: bytes from the start of the stream): invalid_format (the stream ends inside a tensor),
    /// limit_exceeded, invalid_sync_mode (anything but PRODUCER_SYNCED), unsupported (a buffer that is not CPU memory),
    /// out_of_memory, io, and those of decoding a descriptor. A stream that failed once answers every further call with
    /// the same error: where the next tensor would start is unknown.
    /// invalid_argument, upon which nothing changes: a tensor that was begun is not complete, or the source calls the reader
    /// that is reading from it.
    Result<std::optional<Tensor>> next();

    /// The descriptor of the next tensor, before any of its data; nothing at a clean end. Its data follows with read() or
    /// skip(), of which one must have reached its end before anything else is read.
    /// Errors: as next().
    Result<std::optional<Descriptor>> begin();

    /// The next bytes of the tensor that was begun: those of its buffers in table order, never of two buffers at once. Waits
    /// for the first one; 0: the tensor is complete (or `into` is empty).
    /// Errors: as next(); invalid_argument: none was begun.
    Result<std::size_t> read(std::span<std::byte> into);

    /// Passes over what is left of the tensor that was begun; nothing if it is complete. Errors: as read().
    Result<void> skip();

    /// Bytes of the tensor that was begun that are still to be read.
    [[nodiscard]] std::uint64_t left() const noexcept;
    /// Whether a call is running: then the source is calling.
    [[nodiscard]] bool busy() const noexcept { return busy_; }

    /// Makes every further next() fail with `error`, unless one has failed before: for a caller that could not keep what
    /// next() gave, so that the tensor is not left out in silence.
    void stop(const Error& error) noexcept;

    /// Bytes read so far.
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }

private:
    /// The tensor that was begun: how many bytes its buffers have, and where in them the stream stands.
    struct Begun {
        std::vector<std::uint64_t> sizes;
        std::size_t buffer = 0;
        std::uint64_t have = 0;
    };

    template <typename Body>
    auto between_tensors(Body&& body) -> decltype(body());
    template <typename Body>
    auto within_tensor(Body&& body) -> decltype(body());
    [[nodiscard]] Result<void> check_usable() const;
    Result<std::optional<Tensor>> read_tensor();
    Result<std::optional<Descriptor>> begin_tensor();
    Result<std::optional<Descriptor>> read_checked_descriptor();
    Result<std::optional<Descriptor>> read_descriptor();
    Result<Buffer> read_buffer(const BufferHandle& handle, std::size_t index);
    Result<std::size_t> read_begun(std::span<std::byte> into);
    Result<void> skip_begun();
    void advance(std::uint64_t count) noexcept;

    std::unique_ptr<ByteSource> source_;
    StreamLimits limits_;
    std::uint64_t offset_ = 0;
    std::optional<Error> failure_;
    std::optional<Begun> begun_;
    bool busy_ = false;
    /// Still set when a call begins: an exception ended the one before, in the middle of a tensor.
    bool torn_ = false;
};

}  // namespace hurray

// Writing a stream of tensors (format: stream; docs/formats/stream.md).
#pragma once

#include <cstdint>
#include <memory>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/busy.hpp"
#include "core/hurray/io/byte_sink.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// Writes tensor after tensor: each descriptor, then its buffers in table order, straight from where they lie. Layouts
/// are kept as they are.
///
/// A buffer whose first bytes belong to somebody else (Buffer::prefix) is re-based: those bytes never leave the process,
/// and the descriptor that is written says so (byte_offset and byte_size less the prefix).
///
/// Thread rule: one thread at a time. A write that failed once bytes may have left breaks the writer: every further
/// write is refused, since the receiver could not make sense of it. A tensor that is refused before that changes nothing.
class StreamWriter {
public:
    explicit StreamWriter(std::unique_ptr<ByteSink> sink) noexcept;

    /// Errors: invalid_argument (number or sizes of the buffers differ from the descriptor's table; a prefix that
    /// byte_offset does not cover or that a buffer other than the first has; a broken writer), invalid_sync_mode
    /// (anything but PRODUCER_SYNCED), unsupported (a buffer that is not CPU memory), io. The sink may not call the writer
    /// that writes to it: invalid_argument, upon which nothing changes.
    Result<void> write(const Tensor& tensor);

    /// Whether a call is running: then the sink is calling.
    [[nodiscard]] bool busy() const noexcept { return busy_; }
    [[nodiscard]] bool broken() const noexcept { return broken_; }
    /// Bytes written so far, whole tensors only.
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
    [[nodiscard]] ByteSink& sink() noexcept { return *sink_; }

private:
    std::unique_ptr<ByteSink> sink_;
    std::uint64_t offset_ = 0;
    bool broken_ = false;
    bool busy_ = false;
};

}  // namespace hurray

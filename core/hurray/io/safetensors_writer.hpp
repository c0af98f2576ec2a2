// Writing safetensors files (docs/formats/safetensors.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// Writes one safetensors file. The target appears, or replaces the old file, in one step at finish(); a writer that is
/// destroyed without it leaves the old file and nothing else. The target may be the very file that tensors are mapped
/// from: they keep the old contents.
///
/// Order in the file: by descending element alignment, then by name (bytes); the data starts at a multiple of 8, so
/// every tensor is aligned to its element. The header lists the tensors in the same order, and the metadata by key.
///
/// Tensors are kept as shares of their buffers until finish(), which writes the data straight from them: no copy of the
/// model is made. Tensors that are not row-major are gathered, and bool is unpacked to a byte each, through a small
/// buffer, and counted.
///
/// Thread rule: one thread at a time. After a failed finish() the writer is of no more use (invalid_argument).
class SafetensorsWriter {
public:
    /// Starts a file beside `path`, in the same folder, without touching what is at `path`.
    /// Errors: invalid_argument (empty path or one with a NUL; a directory, device, fifo or socket is in the way),
    /// not_found (no such folder), io.
    static Result<SafetensorsWriter> create(std::string_view path);

    SafetensorsWriter(SafetensorsWriter&&) noexcept;
    SafetensorsWriter& operator=(SafetensorsWriter&&) noexcept;
    ~SafetensorsWriter();

    /// Sets a metadata entry; the last value of a key counts.
    /// Errors: invalid_argument (invalid UTF-8, or the writer has finished).
    Result<void> set_metadata(std::string_view key, std::string_view value);

    /// Adds a tensor and keeps shares of its buffers until finish().
    /// Errors: invalid_argument (invalid UTF-8, a name that is taken, "__metadata__", buffers that do not fit the
    /// descriptor), unsupported (an element type, layout, section or size that the format cannot hold; memory that the
    /// CPU cannot read), invalid_layout (a dynamic dimension), invalid_sync_mode (anything but PRODUCER_SYNCED).
    Result<void> add(std::string_view name, Tensor tensor);

    /// Writes the file, makes it durable and moves it into place.
    /// Errors: io; limit_exceeded (the header would pass the limit of readers, 100,000,000 bytes).
    Result<void> finish();

    /// Bytes that were gathered or unpacked on their way into the file so far.
    [[nodiscard]] std::uint64_t copied_bytes() const noexcept;

private:
    struct State;
    explicit SafetensorsWriter(std::unique_ptr<State> state) noexcept;

    std::unique_ptr<State> state_;
};

}  // namespace hurray

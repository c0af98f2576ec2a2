// Writing safetensors files (docs/formats/safetensors.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/byte_sink.hpp"
#include "core/hurray/io/model_file_writer.hpp"

namespace hurray {

/// Writes one safetensors file.
///
/// Order in the file: by descending element alignment, then by name (bytes); the data starts at a multiple of 8, so
/// every tensor is aligned to its element. The header lists the tensors in the same order, and the metadata by key.
///
/// Tensors are kept as shares of their buffers until finish(), which writes the data straight from them; announced ones
/// are made there, one after the other, and dropped when they are written. Tensors that are not row-major are gathered,
/// and bool is unpacked to a byte each, through a small buffer, and counted.
///
/// Thread rule: one thread at a time. After a failed finish() the writer is of no more use (invalid_argument).
class SafetensorsWriter final : public ModelFileWriter {
public:
    /// Errors: invalid_argument: options of other formats.
    static Result<std::unique_ptr<SafetensorsWriter>> create(std::unique_ptr<ByteSink> sink,
                                                             const FileWriterOptions& options = {});
    ~SafetensorsWriter() override;

    [[nodiscard]] FileFormat format() const noexcept override { return FileFormat::safetensors; }

    /// Errors, beside those of every format: invalid_argument: "__metadata__" as a name.
    Result<void> add(std::string_view name, const Tensor& tensor) override;
    Result<void> add(std::string_view name, const Descriptor& descriptor, TensorSource source) override;

    /// Strings only; the key may be empty.
    Result<void> set_metadata(std::string_view key, const MetadataValue& value) override;

    /// Errors, beside those of every format: limit_exceeded: the header would pass the limit of readers, 100,000,000 bytes.
    Result<void> finish() override;

    [[nodiscard]] std::uint64_t copied_bytes() const noexcept override;

private:
    struct State;
    explicit SafetensorsWriter(std::unique_ptr<State> state) noexcept;

    std::unique_ptr<State> state_;
};

/// For the table of formats.
Result<std::unique_ptr<ModelFileWriter>> write_safetensors(std::unique_ptr<ByteSink> sink, const FileWriterOptions& options);

}  // namespace hurray

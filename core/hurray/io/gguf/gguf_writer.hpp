// Writing GGUF files (docs/formats/gguf.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/byte_sink.hpp"
#include "core/hurray/io/metadata.hpp"
#include "core/hurray/io/model_file_writer.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// Writes one GGUF file of version 3, little-endian. Metadata and tensors lie in the order in which they were given,
/// each tensor at a multiple of the alignment, the bytes between are 0.
///
/// Tensors are kept as shares of their buffers until finish(), which writes the data straight from them. Tensors that
/// are not row-major are gathered, and schemes are put together to blocks, through a small buffer, and counted.
class GgufWriter final : public ModelFileWriter {
  public:
    /// Longest name of a tensor, in bytes: ggml opens no file with a longer one.
    static constexpr std::size_t longest_name = 63;
    /// The most dimensions that a tensor of ggml has.
    static constexpr std::uint32_t most_dimensions = 4;

    /// Errors: invalid_argument (options that are not GGUF's).
    static Result<std::unique_ptr<GgufWriter>> create(std::unique_ptr<ByteSink> sink,
                                                      const FileWriterOptions& options = {});
    ~GgufWriter() override;

    [[nodiscard]] FileFormat format() const noexcept override { return FileFormat::gguf; }
    Result<void> add(std::string_view name, const Tensor& tensor) override;
    Result<void> add(std::string_view name, const Descriptor& descriptor, TensorSource source) override;
    /// Numbers get the type of 32 bits where that holds them exactly, otherwise that of 64 bits: what ggml's programs
    /// expect. general.alignment sets the alignment unless the options did.
    Result<void> set_metadata(std::string_view key, const MetadataValue& value) override;
    Result<void> finish() override;
    [[nodiscard]] std::uint64_t copied_bytes() const noexcept override;

  private:
    struct State;
    explicit GgufWriter(std::unique_ptr<State> state) noexcept;

    std::unique_ptr<State> state_;
};

/// For the table of formats.
Result<std::unique_ptr<ModelFileWriter>> write_gguf(std::unique_ptr<ByteSink> sink, const FileWriterOptions& options);

}  // namespace hurray

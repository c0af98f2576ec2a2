// Writing .npy files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/byte_sink.hpp"
#include "core/hurray/io/model_file_writer.hpp"
#include "core/hurray/io/npy/npy_elements.hpp"

namespace hurray {

/// Writes one tensor; its name is checked and forgotten, since the format has none. Row-major and column-major data is
/// written from where it lies, other dense layouts are gathered into row-major order, bools unpacked to a byte each.
///
/// The tensor is kept until finish(), which writes the file from front to back.
/// Thread rule: one thread at a time.
class NpyWriter final : public ModelFileWriter {
public:
    /// Errors: invalid_argument: options that are not the format's.
    static Result<std::unique_ptr<NpyWriter>> create(std::unique_ptr<ByteSink> sink, const FileWriterOptions& options);

    [[nodiscard]] FileFormat format() const noexcept override { return FileFormat::npy; }
    /// Errors: as the base class; invalid_argument: a second tensor; those of plan_npy.
    Result<void> add(std::string_view name, const Tensor& tensor) override;
    Result<void> add(std::string_view name, const Descriptor& descriptor, TensorSource source) override;
    /// Errors: unsupported, always.
    Result<void> set_metadata(std::string_view key, const MetadataValue& value) override;
    /// Errors: invalid_argument: no tensor; those of the source; io.
    Result<void> finish() override;
    [[nodiscard]] std::uint64_t copied_bytes() const noexcept override { return copied_bytes_; }

private:
    explicit NpyWriter(std::unique_ptr<ByteSink> sink) noexcept;

    Result<void> check_name(std::string_view name) const;
    Result<void> write(const Tensor& tensor);

    std::unique_ptr<ByteSink> sink_;
    std::string name_;
    NpyPlan plan_;
    std::optional<Tensor> tensor_;
    std::optional<Descriptor> announced_;
    TensorSource source_;
    std::uint64_t copied_bytes_ = 0;
    bool finished_ = false;
};

/// For the table of formats.
Result<std::unique_ptr<ModelFileWriter>> write_npy(std::unique_ptr<ByteSink> sink, const FileWriterOptions& options);

}  // namespace hurray

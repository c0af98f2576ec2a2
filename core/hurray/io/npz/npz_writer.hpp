// Writing .npz files.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/byte_sink.hpp"
#include "core/hurray/io/model_file_writer.hpp"
#include "core/hurray/io/npz/zip_output.hpp"

namespace hurray {

/// Writes an archive with a .npy file for each tensor, at once when it is added. Members are stored, with data that starts
/// at a multiple of 64 in the file, so that it maps in place; or compressed with deflate (FileWriterOptions::compress).
/// The data of stored members is gone through twice, for its CRC-32 and to be written.
///
/// Thread rule: one thread at a time.
class NpzWriter final : public ModelFileWriter {
public:
    /// Errors: invalid_argument: options that are not the format's.
    static Result<std::unique_ptr<NpzWriter>> create(std::unique_ptr<ByteSink> sink, const FileWriterOptions& options);

    [[nodiscard]] FileFormat format() const noexcept override { return FileFormat::npz; }
    [[nodiscard]] bool keeps_tensors() const noexcept override { return false; }
    /// Errors: as the base class; those of plan_npy; invalid_argument: a name that is a path out of the archive, has a NUL
    /// or is longer than 65,531 bytes.
    Result<void> add(std::string_view name, const Tensor& tensor) override;
    /// Makes the tensor in this very call.
    Result<void> add(std::string_view name, const Descriptor& descriptor, TensorSource source) override;
    /// Errors: unsupported, always.
    Result<void> set_metadata(std::string_view key, const MetadataValue& value) override;
    Result<void> finish() override;
    [[nodiscard]] std::uint64_t copied_bytes() const noexcept override { return copied_bytes_; }

private:
    NpzWriter(std::unique_ptr<ByteSink> sink, bool compress) noexcept;

    Result<void> check_name(std::string_view name) const;
    Result<void> write(std::string_view name, const Tensor& tensor);

    std::unique_ptr<ByteSink> sink_;
    zip::Output output_;
    std::set<std::string, std::less<>> names_;
    std::uint64_t copied_bytes_ = 0;
    bool compress_;
    bool failed_ = false;
    bool finished_ = false;
};

/// For the table of formats.
Result<std::unique_ptr<ModelFileWriter>> write_npz(std::unique_ptr<ByteSink> sink, const FileWriterOptions& options);

}  // namespace hurray

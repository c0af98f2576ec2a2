// Reading .npy files (docs/formats/npy.md says what is accepted and what is refused).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/file_bytes.hpp"
#include "core/hurray/io/model_file.hpp"
#include "core/hurray/io/npy/npy_header.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// Whether a file that starts with these bytes is meant to be one.
[[nodiscard]] bool recognises_npy(std::span<const std::byte> start, std::uint64_t file_size) noexcept;

/// An open .npy file: one tensor, which the format gives no name; here it is "data".
///
/// The tensor is a row-major or column-major descriptor and one read-only buffer over the mapping, without copying; data
/// that is not aligned to 64 bytes as the alignment policy says. Bools (a byte each in the file, a bit each here) are
/// checked and packed, big-endian numbers turned round, both counted as copied, at every call; so is everything under
/// FileAccess::read, where data is read into aligned memory.
class NpyFile final : public ModelFile {
public:
    static constexpr std::string_view tensor_name = "data";

    /// Errors: invalid_format (with the byte offset), unsupported (a version, dtype or rank that Hurray cannot hold),
    /// limit_exceeded (the header is longer than the limit, NpyHeader::default_limit unless the options say otherwise), io.
    static Result<std::unique_ptr<NpyFile>> open(FileBytes bytes, const FileOptions& options = {});

    [[nodiscard]] FileFormat format() const noexcept override { return FileFormat::npy; }
    [[nodiscard]] std::uint64_t file_size() const noexcept override { return bytes_.size(); }
    [[nodiscard]] const NpyHeader& header() const noexcept { return header_; }
    /// Bytes behind the data, which are ignored.
    [[nodiscard]] std::uint64_t trailing_bytes() const noexcept {
        return bytes_.size() - header_.data_offset - header_.data_size;
    }

    [[nodiscard]] std::uint64_t tensor_count() const noexcept override { return 1; }
    [[nodiscard]] Result<ModelTensorInfo> tensor_info(std::uint64_t index) const override;
    [[nodiscard]] std::optional<std::uint64_t> find(std::string_view name) const noexcept override;
    [[nodiscard]] Result<Descriptor> descriptor(std::uint64_t index) const override;
    [[nodiscard]] Result<FileRange> buffer_range(std::uint64_t index, std::uint64_t buffer) const override;
    [[nodiscard]] Result<Tensor> tensor(std::uint64_t index) const override;

    /// The format has no metadata.
    [[nodiscard]] std::uint64_t metadata_count() const noexcept override { return 0; }
    [[nodiscard]] Result<MetadataEntry> metadata(std::uint64_t index) const override;
    [[nodiscard]] std::optional<std::uint64_t> find_metadata(std::string_view) const noexcept override {
        return std::nullopt;
    }

    [[nodiscard]] std::uint64_t copied_bytes() const noexcept override {
        return copied_bytes_.load(std::memory_order_relaxed);
    }

private:
    NpyFile(FileBytes bytes, const NpyHeader& header, AlignmentPolicy alignment) noexcept;

    FileBytes bytes_;
    NpyHeader header_;
    AlignmentPolicy alignment_;
    mutable std::atomic<std::uint64_t> copied_bytes_{0};
};

/// For the table of formats.
Result<std::unique_ptr<ModelFile>> open_npy(FileBytes bytes, const FileOptions& options);

}  // namespace hurray

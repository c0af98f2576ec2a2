// Reading safetensors files (docs/formats/safetensors.md says what is accepted and what is refused).
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
#include "core/hurray/io/safetensors/safetensors_index.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// Whether a file that starts with these bytes is meant to be one. The format has no magic number: eight bytes that are
/// the length of a header, and the header's first brace.
[[nodiscard]] bool recognises_safetensors(std::span<const std::byte> start, std::uint64_t file_size) noexcept;

/// An open safetensors file. Opening reads and checks the whole header and nothing of the data; a file that opens has
/// tensors that lie inside it, without overlap and without a gap.
///
/// A tensor is a row-major descriptor and one read-only buffer over the mapping, without copying; data that is not
/// aligned to 64 bytes as the alignment policy says. BOOL (a byte each in the file, a bit each here) is checked, packed
/// and counted as copied, at every call; so is everything under FileAccess::read, where data is read into aligned memory.
class SafetensorsFile final : public ModelFile {
public:
    /// Longest header accepted unless the options say otherwise, in bytes. No header of 4 GiB or more is read, whatever
    /// the limit.
    static constexpr std::uint64_t default_header_limit = 100'000'000;

    /// Errors: invalid_format (with the byte offset in the file); limit_exceeded (the header is longer than the limit);
    /// unsupported (a dtype or rank that Hurray cannot hold exactly); io; out_of_memory.
    static Result<std::unique_ptr<SafetensorsFile>> open(FileBytes bytes, const FileOptions& options = {});

    [[nodiscard]] FileFormat format() const noexcept override { return FileFormat::safetensors; }
    [[nodiscard]] std::uint64_t file_size() const noexcept override { return bytes_.size(); }
    [[nodiscard]] std::uint64_t header_length() const noexcept { return index_.header_length(); }

    [[nodiscard]] std::uint64_t tensor_count() const noexcept override { return index_.entries().size(); }
    [[nodiscard]] Result<ModelTensorInfo> tensor_info(std::uint64_t index) const override;
    [[nodiscard]] std::optional<std::uint64_t> find(std::string_view name) const noexcept override;
    [[nodiscard]] Result<Descriptor> descriptor(std::uint64_t index) const override;
    [[nodiscard]] Result<FileRange> buffer_range(std::uint64_t index, std::uint64_t buffer) const override;
    [[nodiscard]] Result<Tensor> tensor(std::uint64_t index) const override;

    [[nodiscard]] std::uint64_t metadata_count() const noexcept override { return index_.metadata().size(); }
    [[nodiscard]] Result<hurray::MetadataEntry> metadata(std::uint64_t index) const override;
    [[nodiscard]] std::optional<std::uint64_t> find_metadata(std::string_view key) const noexcept override;

    [[nodiscard]] std::uint64_t copied_bytes() const noexcept override {
        return copied_bytes_.load(std::memory_order_relaxed);
    }

private:
    using Entry = SafetensorsIndex::Entry;

    SafetensorsFile(FileBytes bytes, SafetensorsIndex index, AlignmentPolicy alignment) noexcept;

    [[nodiscard]] std::uint64_t file_offset(const Entry& entry) const noexcept { return index_.data_offset() + entry.begin; }
    [[nodiscard]] Result<const Entry*> entry(std::uint64_t index) const;
    [[nodiscard]] Result<Buffer> buffer(const Entry& entry) const;
    [[nodiscard]] Result<Buffer> packed(const Entry& entry) const;

    FileBytes bytes_;
    SafetensorsIndex index_;
    AlignmentPolicy alignment_;
    mutable std::atomic<std::uint64_t> copied_bytes_{0};
};

/// For the table of formats.
Result<std::unique_ptr<ModelFile>> open_safetensors(FileBytes bytes, const FileOptions& options);

}  // namespace hurray

// Reading GGUF files (docs/formats/gguf.md says what is accepted and what is refused).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/file_bytes.hpp"
#include "core/hurray/io/gguf/gguf_index.hpp"
#include "core/hurray/io/model_file.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// Whether a file that starts with these bytes is meant to be one: "GGUF".
[[nodiscard]] bool recognises_gguf(std::span<const std::byte> start, std::uint64_t file_size) noexcept;

/// An open GGUF file of version 2 or 3, little-endian. Opening reads and checks the whole header and nothing of the
/// data; a file that opens has tensors that lie inside it, without overlap.
///
/// Shapes are row-major, the outermost dimension first: the reverse of ggml's order, whose first dimension (ne[0]) is
/// the innermost one. Plain types are handed over in place. Blocks that are a scheme of Hurray are taken apart at every
/// call of tensor(), checked, and counted as copied; what becomes of others says FileOptions::inexact_blocks.
class GgufFile final : public ModelFile {
  public:
    /// Longest header accepted unless the options say otherwise, in bytes. No header of 4 GiB or more is read, whatever
    /// the limit.
    static constexpr std::uint64_t default_header_limit = std::uint64_t{256} << 20;

    /// Errors: invalid_format (with the byte offset in the file); limit_exceeded (the header is longer than the limit);
    /// unsupported (another version or byte order, an unknown type of tensor, arrays in arrays, more than 64
    /// dimensions, blocks that inexact_blocks refuses); invalid_argument (inexact_blocks is none of its values); io;
    /// out_of_memory.
    static Result<std::unique_ptr<GgufFile>> open(FileBytes bytes, const FileOptions& options = {});

    [[nodiscard]] FileFormat format() const noexcept override { return FileFormat::gguf; }
    [[nodiscard]] std::uint64_t file_size() const noexcept override { return bytes_.size(); }
    /// Of the file format: 2 or 3.
    [[nodiscard]] std::uint32_t version() const noexcept { return index_.version(); }
    /// Of the data in the file, in bytes.
    [[nodiscard]] std::uint32_t alignment() const noexcept { return index_.alignment(); }

    [[nodiscard]] std::uint64_t tensor_count() const noexcept override { return index_.entries().size(); }
    [[nodiscard]] Result<ModelTensorInfo> tensor_info(std::uint64_t index) const override;
    [[nodiscard]] std::optional<std::uint64_t> find(std::string_view name) const noexcept override;
    /// Errors: as tensor(), as far as they need no data.
    [[nodiscard]] Result<Descriptor> descriptor(std::uint64_t index) const override;
    /// Codes and scales come from the same bytes, where they lie together.
    [[nodiscard]] Result<FileRange> buffer_range(std::uint64_t index, std::uint64_t buffer) const override;
    /// Errors: as ModelFile::tensor. unsupported: a block that its scheme cannot say exactly (the offset is that of the
    /// block; FileOptions::exact_schemes), blocks whose numbers are looked up in large tables (inexact_blocks).
    [[nodiscard]] Result<Tensor> tensor(std::uint64_t index) const override;

    [[nodiscard]] std::uint64_t metadata_count() const noexcept override { return index_.metadata().size(); }
    [[nodiscard]] Result<hurray::MetadataEntry> metadata(std::uint64_t index) const override;
    [[nodiscard]] Result<MetadataView> metadata_element(std::uint64_t index, std::uint64_t element) const override;
    [[nodiscard]] std::optional<std::uint64_t> find_metadata(std::string_view key) const noexcept override;

    [[nodiscard]] std::uint64_t copied_bytes() const noexcept override {
        return copied_bytes_.load(std::memory_order_relaxed);
    }

  private:
    using Entry = GgufIndex::Entry;

    /// What a tensor becomes under the options.
    enum class Form : std::uint8_t { plain, exact, raw, float32, float16 };

    GgufFile(FileBytes bytes, GgufIndex index, const FileOptions& options);

    [[nodiscard]] Result<const Entry*> entry(std::uint64_t index) const;
    [[nodiscard]] Form form_of(const GgufType& type) const noexcept;
    [[nodiscard]] std::uint8_t type_tag(const GgufType& type) const noexcept;
    [[nodiscard]] std::span<const std::uint64_t> shape(std::uint64_t index, const Entry& entry) const noexcept;
    [[nodiscard]] Result<Descriptor> describe(std::uint64_t index, const Entry& entry,
                                              std::span<const Buffer> buffers) const;

    [[nodiscard]] Result<Buffer> in_place(const Entry& entry) const;
    [[nodiscard]] Result<std::vector<Buffer>> take_apart(const Entry& entry) const;
    [[nodiscard]] Result<Buffer> numbers(const Entry& entry) const;
    /// Calls `each` with whole blocks, one after the other, and the place of the first of them in the tensor.
    template <typename Each>
    [[nodiscard]] Result<void> for_each_piece(const Entry& entry, Each each) const;

    FileBytes bytes_;
    GgufIndex index_;
    AlignmentPolicy alignment_;
    InexactBlocks inexact_blocks_;
    bool exact_schemes_;
    /// Shapes of raw tensors, whose rows are counted in bytes, and where that of each tensor starts among them; the
    /// latter is empty when no tensor is raw.
    std::vector<std::uint64_t> raw_dimensions_;
    std::vector<std::uint32_t> raw_shapes_;
    mutable std::atomic<std::uint64_t> copied_bytes_{0};
};

/// For the table of formats.
Result<std::unique_ptr<ModelFile>> open_gguf(FileBytes bytes, const FileOptions& options);

}  // namespace hurray

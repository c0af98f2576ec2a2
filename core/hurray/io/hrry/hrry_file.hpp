// Reading .hrry files (docs/formats/hrry.md says what is accepted and what is refused). (format: file)
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/composite/composite.hpp"
#include "core/hurray/io/file_bytes.hpp"
#include "core/hurray/io/hrry/format.hpp"
#include "core/hurray/io/hrry/index.hpp"
#include "core/hurray/io/hrry/metadata.hpp"
#include "core/hurray/io/model_file.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// Whether a file that starts with these bytes is meant to be one.
[[nodiscard]] bool recognises_hrry(std::span<const std::byte> start, std::uint64_t file_size) noexcept;

/// An open .hrry file. Opening reads the header, the trailer, the index and the metadata, and checks all that they say:
/// what opens has tensors that lie inside the file, apart from one another. Descriptors are read and checked against
/// the index when they are asked for; nothing else is read. Index, metadata and descriptors are read by calls to the
/// system, also when the file is mapped: a file that is cut meanwhile is an error then, and only the data of tensors
/// can raise a signal.
///
/// A tensor takes its buffers from the mapping, read-only, without copying: they are aligned there. A buffer that is
/// not aligned as its handle says (a handle that asks for more than the file gives, or an image in memory that starts
/// anywhere) is what the alignment policy makes of it: with `offset`, the handle says what is true, and data that is
/// not aligned to 64 bytes has a prefix; where no byte_offset can lead past one it is copied. Under FileAccess::read
/// all data is read into memory that is aligned as the handle asks, and counted. Pinned and unified memory is plain
/// memory here.
class HrryFile final : public ModelFile {
  public:
    /// Longest metadata section accepted unless the options say otherwise. The index may be as long as the file allows.
    static constexpr std::uint64_t default_metadata_limit = std::uint64_t{256} << 20;
    /// Buffers that are copied or read get the alignment that they ask for up to this; more is limit_exceeded.
    static constexpr std::uint32_t greatest_alignment = std::uint32_t{2} << 20;

    /// Errors: invalid_magic, version_mismatch, invalid_format (with the byte offset in the file); limit_exceeded; io;
    /// out_of_memory.
    static Result<std::unique_ptr<HrryFile>> open(FileBytes bytes, const FileOptions& options = {});

    [[nodiscard]] FileFormat format() const noexcept override { return FileFormat::hrry; }
    [[nodiscard]] std::uint64_t file_size() const noexcept override { return bytes_.size(); }
    [[nodiscard]] const hrry::Header& header() const noexcept { return header_; }

    [[nodiscard]] std::uint64_t tensor_count() const noexcept override { return index_.count(); }
    /// Errors: index_out_of_bounds; those of decoding the descriptor, with the offset in the file; invalid_format: the
    /// index says something else; invalid_composite: a head that is not followed by as many tensors as it has members
    /// (not with Mode::permissive); io.
    [[nodiscard]] Result<ModelTensorInfo> tensor_info(std::uint64_t index) const override;
    [[nodiscard]] std::optional<std::uint64_t> find(std::string_view name) const noexcept override {
        return index_.find(name);
    }
    /// The descriptor as it is in the file.
    [[nodiscard]] Result<Descriptor> descriptor(std::uint64_t index) const override;
    [[nodiscard]] Result<FileRange> buffer_range(std::uint64_t index, std::uint64_t buffer) const override;
    /// Errors beside those of ModelFile: invalid_sync_mode (anything but PRODUCER_SYNCED), unsupported (memory of a
    /// device; a layout that is not known, Mode::permissive), limit_exceeded (alignment).
    [[nodiscard]] Result<Tensor> tensor(std::uint64_t index) const override;
    /// Errors beside those of tensor(): invalid_composite: torn, or members that do not fit. With Mode::permissive,
    /// too: the members are still there as tensors.
    [[nodiscard]] Result<std::shared_ptr<const Composite>> composite(std::uint64_t index) const override;
    /// The number of the tensor that comes first in the file; nothing when there is none.
    [[nodiscard]] std::optional<std::uint64_t> first_in_file() const noexcept;
    /// The number of the tensor that comes next in the file: composites are a head and the tensors that follow it.
    [[nodiscard]] std::optional<std::uint64_t> next_in_file(std::uint64_t index) const noexcept;

    [[nodiscard]] std::uint64_t metadata_count() const noexcept override { return metadata_.count(); }
    [[nodiscard]] Result<MetadataEntry> metadata(std::uint64_t index) const override;
    [[nodiscard]] Result<MetadataView> metadata_element(std::uint64_t index, std::uint64_t element) const override;
    [[nodiscard]] std::optional<std::uint64_t> find_metadata(std::string_view key) const noexcept override {
        return metadata_.find(key);
    }

    [[nodiscard]] std::uint64_t copied_bytes() const noexcept override {
        return copied_bytes_.load(std::memory_order_relaxed);
    }

  private:
    // What tensor_info says that is not in the index: a word of type, layout, scheme, rank and bits, then the shape.
    using Listed = const std::uint64_t*;

    HrryFile(FileBytes bytes, const FileOptions& options);

    Result<void> read_parts();
    Result<void> read_index(const hrry::Trailer& trailer, std::uint64_t trailer_offset);
    Result<void> read_metadata(const hrry::Trailer& trailer, std::uint64_t trailer_offset);
    [[nodiscard]] Result<void> check_number(std::uint64_t index) const;
    /// Fills `out`, which is vacant.
    Result<void> load(const hrry::IndexEntry& entry, std::uint64_t index, Descriptor& out) const;
    [[nodiscard]] Result<void> check_descriptor(const hrry::IndexEntry& entry, std::uint64_t index,
                                                const Descriptor& descriptor) const;
    [[nodiscard]] Result<Listed> listed(const hrry::IndexEntry& entry, std::uint64_t index) const;
    Listed keep(std::uint64_t index, const Descriptor& descriptor) const;
    [[nodiscard]] Result<Buffer> buffer_at(std::uint64_t offset, const BufferHandle& handle,
                                           bool may_have_prefix) const;
    [[nodiscard]] Result<Buffer> read_buffer(std::uint64_t offset, const BufferHandle& handle) const;

    FileBytes bytes_;
    FileOptions options_;
    hrry::Header header_;
    FileWindow index_bytes_;
    FileWindow metadata_bytes_;
    hrry::Index index_;
    hrry::Metadata metadata_;
    /// Of each tensor, once it was asked for. Filled by whoever comes first and never changed then.
    std::unique_ptr<std::atomic<Listed>[]> listed_;
    /// Guards what the lists are allocated from.
    mutable std::mutex lists_lock_;
    mutable std::vector<std::unique_ptr<std::uint64_t[]>> lists_;
    mutable std::size_t words_left_ = 0;
    mutable std::atomic<std::uint64_t> copied_bytes_{0};
};

/// For the table of formats: HrryFile::open.
Result<std::unique_ptr<ModelFile>> open_hrry(FileBytes bytes, const FileOptions& options);

}  // namespace hurray

// Reading .npz files: archives of .npy files (docs/formats/npy.md says what is accepted and what is refused).
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
#include "core/hurray/io/model_file.hpp"
#include "core/hurray/io/npy/npy_header.hpp"
#include "core/hurray/io/npz/zip_directory.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// Whether a file that starts with these bytes is meant to be one: any ZIP archive without something in front of it.
[[nodiscard]] bool recognises_npz(std::span<const std::byte> start, std::uint64_t file_size) noexcept;

/// An open .npz file. Every member is a .npy file, and a tensor of that name without the ending. Opening reads the
/// central directory, compares it with the local headers, and reads the header of each .npy; of the data nothing.
///
/// Members that are stored are handed out as those of NpyFile are: in place, converted or copied. Compressed ones are
/// unpacked into memory of their own at every call, and counted. The CRC-32 of a member is checked whenever its bytes are
/// copied, and by check_member(); data in place is not read for it.
class NpzFile final : public ModelFile {
public:
    /// Longest central directory accepted unless the options say otherwise, in bytes. None of 4 GiB or more is read,
    /// whatever the limit. The limit of each .npy header is NpyHeader::default_limit.
    static constexpr std::uint64_t default_header_limit = 256ULL << 20;

    /// Errors: invalid_format (with the byte offset), unsupported (members that are no .npy file or that Hurray cannot
    /// hold, encrypted ones, other methods than stored and deflate), limit_exceeded (the directory is longer than the
    /// limit), io, out_of_memory.
    static Result<std::unique_ptr<NpzFile>> open(FileBytes bytes, const FileOptions& options = {});

    [[nodiscard]] FileFormat format() const noexcept override { return FileFormat::npz; }
    [[nodiscard]] std::uint64_t file_size() const noexcept override { return bytes_.size(); }

    /// Tensors are numbered in the order of the central directory.
    [[nodiscard]] std::uint64_t tensor_count() const noexcept override { return entries_.size(); }
    [[nodiscard]] Result<ModelTensorInfo> tensor_info(std::uint64_t index) const override;
    [[nodiscard]] std::optional<std::uint64_t> find(std::string_view name) const noexcept override;
    [[nodiscard]] Result<Descriptor> descriptor(std::uint64_t index) const override;
    /// Of a compressed member: all of it as it lies in the file.
    [[nodiscard]] Result<FileRange> buffer_range(std::uint64_t index, std::uint64_t buffer) const override;
    [[nodiscard]] Result<Tensor> tensor(std::uint64_t index) const override;

    /// Reads all of a member and checks its length and its CRC-32. Errors: index_out_of_bounds, invalid_format, io,
    /// out_of_memory.
    [[nodiscard]] Result<void> check_member(std::uint64_t index) const;

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
    /// What is needed of a header; NpyHeader has room for 64 dimensions.
    struct Entry {
        NpyType type;
        std::uint8_t version = 1;
        bool fortran_order = false;
        std::uint32_t rank = 0;
        std::uint64_t shape_at = 0;
        std::uint64_t data_offset = 0;
        std::uint64_t data_size = 0;
    };

    NpzFile(FileBytes bytes, zip::Directory directory, AlignmentPolicy alignment) noexcept;

    Result<void> read_headers();
    [[nodiscard]] Result<void> check_index(std::uint64_t index) const;
    [[nodiscard]] const zip::Member& member(std::uint64_t index) const noexcept {
        return directory_.members()[static_cast<std::size_t>(index)];
    }
    [[nodiscard]] std::string_view tensor_name(std::uint64_t index) const noexcept;
    [[nodiscard]] NpyHeader header(std::uint64_t index) const noexcept;
    [[nodiscard]] bool stays(std::uint64_t index, const NpyHeader& header) const noexcept;
    [[nodiscard]] Result<Buffer> unpacked(std::uint64_t index) const;

    FileBytes bytes_;
    zip::Directory directory_;
    AlignmentPolicy alignment_;
    std::vector<Entry> entries_;
    std::vector<std::uint64_t> dimensions_;
    /// Tensors by name; that of the members may be another order.
    std::vector<std::uint32_t> by_name_;
    mutable std::atomic<std::uint64_t> copied_bytes_{0};
};

/// For the table of formats.
Result<std::unique_ptr<ModelFile>> open_npz(FileBytes bytes, const FileOptions& options);

}  // namespace hurray

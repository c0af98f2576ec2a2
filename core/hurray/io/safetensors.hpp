// Reading safetensors files by mapping them (docs/formats/safetensors.md says what is accepted and what is refused).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/alignment_policy.hpp"
#include "core/hurray/io/mapped_file.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

struct SafetensorsOptions {
    static constexpr std::uint64_t default_header_limit = 100'000'000;

    /// Longest header accepted, in bytes. No header of 4 GiB or more is read, whatever the limit.
    std::uint64_t header_limit = default_header_limit;
    AlignmentPolicy alignment = AlignmentPolicy::offset;
};

/// One tensor as the header describes it. The views live as long as the file object.
struct SafetensorsTensorInfo {
    /// UTF-8, may be empty and may hold any character, NUL included.
    std::string_view name;
    /// As in the header: "F32", "BOOL", ...
    std::string_view dtype;
    std::span<const std::uint64_t> shape;
    /// Element type that the tensor will have.
    std::uint8_t type_tag = 0;
    /// Bits of one element of that type (1 for BOOL, which takes 8 in the file).
    std::uint32_t bits = 0;
    /// Where the data starts, in bytes from the start of the file.
    std::uint64_t file_offset = 0;
    /// Bytes that the data takes in the file.
    std::uint64_t byte_size = 0;
};

struct SafetensorsMetadata {
    std::string_view key;
    std::string_view value;
};

/// An open safetensors file. Opening reads and checks the whole header and nothing of the data; a file that opens has
/// tensors that lie inside it, without overlap and without a gap.
///
/// Thread rule: immutable but for the atomic counter of copied bytes; any number of threads may use it at once.
/// Tensors keep the mapping and may outlive the file object; names, shapes and metadata may not.
class SafetensorsFile {
public:
    /// Opens and maps `path`; the file must not change while it is mapped (see MappedFile).
    /// Errors: those of MappedFile::open; invalid_format (with the byte offset in the file); limit_exceeded (the header
    /// is longer than the limit); unsupported (a dtype or rank that Hurray cannot hold exactly).
    static Result<SafetensorsFile> open(std::string_view path, const SafetensorsOptions& options = {});

    /// The same over an image of a file in memory that `storage` keeps alive (none: borrowed for ever).
    static Result<SafetensorsFile> open_memory(std::span<const std::byte> image, Ref<Storage> storage,
                                               const SafetensorsOptions& options = {});

    SafetensorsFile(SafetensorsFile&&) noexcept;
    SafetensorsFile& operator=(SafetensorsFile&&) noexcept;
    ~SafetensorsFile();

    /// Size of the file in bytes.
    [[nodiscard]] std::uint64_t file_size() const noexcept;
    [[nodiscard]] std::uint64_t header_length() const noexcept;

    /// Tensors are numbered in the order of the header.
    [[nodiscard]] std::uint64_t tensor_count() const noexcept;
    /// Errors: index_out_of_bounds.
    [[nodiscard]] Result<SafetensorsTensorInfo> tensor_info(std::uint64_t index) const;
    /// Number of the tensor of that name, in O(log n).
    [[nodiscard]] std::optional<std::uint64_t> find(std::string_view name) const noexcept;

    /// Metadata entries, in the order of the header.
    [[nodiscard]] std::uint64_t metadata_count() const noexcept;
    /// Errors: index_out_of_bounds.
    [[nodiscard]] Result<SafetensorsMetadata> metadata(std::uint64_t index) const;
    /// Value of a metadata key, in O(log n).
    [[nodiscard]] std::optional<std::string_view> find_metadata(std::string_view key) const noexcept;

    /// The tensor as a row-major descriptor and one read-only buffer over the mapping, without copying; data that is
    /// not aligned to 64 bytes as the alignment policy says. BOOL (a byte each in the file, a bit each here) is
    /// checked, packed and counted as copied, at every call.
    /// Errors: index_out_of_bounds; misaligned (AlignmentPolicy::require); invalid_format (a BOOL byte that is neither
    /// 0 nor 1, with its offset in the file); out_of_memory.
    [[nodiscard]] Result<Tensor> tensor(std::uint64_t index) const;

    /// Bytes that tensor() has written into memory of its own so far.
    [[nodiscard]] std::uint64_t copied_bytes() const noexcept;

private:
    struct State;
    explicit SafetensorsFile(std::unique_ptr<State> state) noexcept;

    std::unique_ptr<State> state_;
};

}  // namespace hurray

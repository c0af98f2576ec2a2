// A model file of any supported format, opened: names, types, shapes, places, metadata, tensors. A new format is a class
// of its own and one line in model_formats.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/composite/composite.hpp"
#include "core/hurray/io/alignment_policy.hpp"
#include "core/hurray/io/file_bytes.hpp"
#include "core/hurray/io/metadata.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// The C ABI publishes the same numbers.
enum class FileFormat : std::uint32_t {
    /// Recognised by the content.
    automatic = 0,
    safetensors = 1,
    hrry = 2,
    gguf = 3,
    npy = 4,
    npz = 5,
};

/// What becomes of quantized blocks that are no exact scheme of Hurray (of GGUF: Q4_1, Q5_0, the K-quants, ...). Never
/// changed in silence: what a tensor is says its descriptor.
enum class InexactBlocks : std::uint8_t {
    /// As they lie, without a copy: rows of uint8 under a private quantization scheme that names the block type
    /// (docs/formats/gguf.md).
    raw = 0,
    float32 = 1,
    float16 = 2,
    /// Refused: unsupported.
    refuse = 3,
};

struct FileOptions {
    FileFormat format = FileFormat::automatic;
    AlignmentPolicy alignment = AlignmentPolicy::offset;
    FileAccess access = FileAccess::map;
    InexactBlocks inexact_blocks = InexactBlocks::raw;
    /// Quantized blocks that are a scheme of Hurray (of GGUF: Q4_0, Q8_0, MXFP4) become it; false: they are treated as
    /// inexact_blocks says, too. Needed for the rare block that its scheme cannot say (GGUF: a scale that is NaN).
    bool exact_schemes = true;
    /// Private layouts and quantization schemes (.hrry).
    PrivateTags private_tags = PrivateTags::refuse;
    Mode mode = Mode::strict;
    /// Longest header, index or metadata section accepted, in bytes; 0: the default of the format.
    std::uint64_t header_limit = 0;
};

/// One tensor as the file describes it, without touching its data. The views live as long as the file object.
struct ModelTensorInfo {
    /// UTF-8, may be empty (safetensors) and may hold any character, NUL included.
    std::string_view name;
    /// The format's own word for the type: "F32", "Q4_K", "<f4"; empty for .hrry.
    std::string_view stored_type;
    /// Those that tensor() will have.
    std::uint8_t type_tag = 0;
    std::uint8_t layout_tag = 0;
    /// Quantization scheme that it will have; 0: none.
    std::uint8_t scheme_tag = 0;
    std::span<const std::uint64_t> shape;
    std::uint32_t bits = 0;
    /// Where the data starts, in bytes from the start of the file, and how many bytes it takes there (compressed ones:
    /// as they lie in the file). Padding between buffers is counted.
    std::uint64_t file_offset = 0;
    std::uint64_t byte_size = 0;
};

struct MetadataEntry {
    std::string_view key;
    MetadataView value;
};

struct FileRange {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

/// An open file. Opening reads and checks what describes the tensors and nothing of their data; what opens has tensors
/// that lie inside the file.
///
/// Thread rule: immutable but for the atomic counter of copied bytes; any number of threads may use it at once.
/// Tensors keep the mapping and may outlive the file object; names, shapes and metadata may not.
class ModelFile {
public:
    ModelFile(const ModelFile&) = delete;
    ModelFile& operator=(const ModelFile&) = delete;
    virtual ~ModelFile() = default;

    [[nodiscard]] virtual FileFormat format() const noexcept = 0;
    [[nodiscard]] virtual std::uint64_t file_size() const noexcept = 0;

    /// Tensors are numbered in the order of the header or index.
    [[nodiscard]] virtual std::uint64_t tensor_count() const noexcept = 0;
    /// Errors: index_out_of_bounds; .hrry, whose descriptors are read here: those of decoding.
    [[nodiscard]] virtual Result<ModelTensorInfo> tensor_info(std::uint64_t index) const = 0;
    /// Number of the tensor of that name, in O(log n) or by hash.
    [[nodiscard]] virtual std::optional<std::uint64_t> find(std::string_view name) const noexcept = 0;
    /// The descriptor that tensor() will give, without touching data. Under AlignmentPolicy::offset the real one may
    /// differ in byte_offset and byte_size of buffer 0 (by the prefix), and that of .hrry in alignments that the file does
    /// not give and in the kind of the CPU's memory.
    [[nodiscard]] virtual Result<Descriptor> descriptor(std::uint64_t index) const = 0;
    /// Where the bytes of a buffer of that descriptor come from. Errors: index_out_of_bounds.
    [[nodiscard]] virtual Result<FileRange> buffer_range(std::uint64_t index, std::uint64_t buffer) const = 0;

    /// The tensor, read-only, without copying wherever the bytes allow it; what is copied is counted.
    /// Errors: index_out_of_bounds; misaligned (AlignmentPolicy::require); invalid_format; unsupported; out_of_memory;
    /// io (FileAccess::read).
    [[nodiscard]] virtual Result<Tensor> tensor(std::uint64_t index) const = 0;
    /// The composite whose head is tensor `index`, with all its members. Errors: as tensor(); invalid_argument: not a
    /// composite head.
    [[nodiscard]] virtual Result<std::shared_ptr<const Composite>> composite(std::uint64_t index) const;

    /// Metadata entries, in the order of the file.
    [[nodiscard]] virtual std::uint64_t metadata_count() const noexcept = 0;
    /// Errors: index_out_of_bounds.
    [[nodiscard]] virtual Result<MetadataEntry> metadata(std::uint64_t index) const = 0;
    /// One element of an array. Errors: index_out_of_bounds; invalid_argument: not an array.
    [[nodiscard]] virtual Result<MetadataView> metadata_element(std::uint64_t index, std::uint64_t element) const;
    [[nodiscard]] virtual std::optional<std::uint64_t> find_metadata(std::string_view key) const noexcept = 0;

    /// Bytes that tensor() has written into memory of its own so far (packing, alignment, repacking, decompression,
    /// reading without a map).
    [[nodiscard]] virtual std::uint64_t copied_bytes() const noexcept = 0;

protected:
    ModelFile() = default;
};

/// Opens a file of any format of the table in model_formats.cpp.
/// Errors: those of FileBytes::open; invalid_format (no format that is known, or not well-formed; with the byte offset);
/// limit_exceeded; unsupported (what Hurray cannot hold).
Result<std::unique_ptr<ModelFile>> open_model_file(std::string_view path, const FileOptions& options = {});

/// The same over bytes that are there already.
Result<std::unique_ptr<ModelFile>> open_model_bytes(FileBytes bytes, const FileOptions& options = {});

/// "safetensors", ".hrry", ...: for messages.
const char* format_name(FileFormat format) noexcept;

}  // namespace hurray

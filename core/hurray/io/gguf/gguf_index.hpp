// The header of a GGUF file, parsed and checked against the size of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/gguf/gguf_header.hpp"
#include "core/hurray/io/gguf/gguf_type.hpp"
#include "core/hurray/io/gguf/gguf_value.hpp"

namespace hurray {

/// What a header says. Texts and values stay where they are; beside them it takes a fixed number of bytes a tensor, entry
/// and dimension, and four for every 64 strings of an array: a small multiple of the header's own size.
class GgufIndex {
  public:
    struct Text {
        std::uint32_t offset = 0;
        std::uint32_t length = 0;
    };
    struct Entry {
        /// From the start of the file.
        std::uint64_t file_offset = 0;
        std::uint64_t byte_size = 0;
        Text name;
        std::uint32_t first_dimension = 0;
        std::uint8_t rank = 0;
        /// Position in gguf_types().
        std::uint8_t type = 0;
    };
    struct MetadataEntry {
        Text key;
        GgufValue value;
    };

    /// Alignment of the data where the file does not say any.
    static constexpr std::uint32_t default_alignment = 32;
    static constexpr std::uint32_t least_alignment = 8;
    /// More than that is taken for a mistake: nothing needs it.
    static constexpr std::uint32_t largest_alignment = 1U << 24;
    static constexpr std::string_view alignment_key = "general.alignment";
    /// Longest key that the format allows, in bytes.
    static constexpr std::uint64_t longest_key = 65535;

    /// Errors: invalid_format, unsupported, limit_exceeded, io, out_of_memory; the first fault in file order.
    static Result<GgufIndex> parse(FileBytes file, std::uint64_t header_limit);

    [[nodiscard]] std::uint32_t version() const noexcept { return version_; }
    [[nodiscard]] std::uint32_t alignment() const noexcept { return alignment_; }
    [[nodiscard]] std::span<const Entry> entries() const noexcept { return entries_; }
    [[nodiscard]] std::span<const MetadataEntry> metadata() const noexcept { return metadata_; }

    [[nodiscard]] std::string_view text(const Text& piece) const noexcept {
        return header_.text(piece.offset, piece.length);
    }
    [[nodiscard]] static const GgufType& type(const Entry& entry) noexcept { return gguf_types()[entry.type]; }
    /// Where in the file its type is, behind name, rank and dimensions; its offset follows. For messages.
    [[nodiscard]] static std::uint64_t type_at(const Entry& entry) noexcept {
        return std::uint64_t{entry.name.offset} + entry.name.length + 4 + std::uint64_t{entry.rank} * 8;
    }
    /// In elements, the outermost dimension first: the reverse of the file's order.
    [[nodiscard]] std::span<const std::uint64_t> shape(const Entry& entry) const noexcept {
        return std::span(dimensions_).subspan(entry.first_dimension, entry.rank);
    }
    [[nodiscard]] MetadataView value(const MetadataEntry& entry) const noexcept { return entry.value.view(header_); }
    /// @param element below the count of the array
    [[nodiscard]] MetadataView element(const MetadataEntry& entry, std::uint64_t element) const noexcept {
        return entry.value.element(header_, string_marks_, element);
    }

    [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept;
    [[nodiscard]] std::optional<std::size_t> find_metadata(std::string_view key) const noexcept;

  private:
    explicit GgufIndex(GgufHeader header) noexcept : header_(std::move(header)) {}

    Result<void> parse_counts();
    Result<void> parse_metadata();
    Result<void> parse_alignment();
    Result<void> parse_tensors();
    Result<void> parse_tensor(std::uint64_t index);
    Result<void> place_data();
    Result<void> check_overlaps() const;
    Result<Text> parse_text(const GgufPlace& place, const char* field, std::uint64_t limit);

    GgufHeader header_;
    /// Where parsing is.
    std::uint64_t at_ = 0;
    std::uint32_t version_ = 0;
    std::uint32_t alignment_ = default_alignment;
    std::uint64_t tensor_count_ = 0;
    std::uint64_t metadata_count_ = 0;
    std::vector<Entry> entries_;
    std::vector<MetadataEntry> metadata_;
    std::vector<std::uint64_t> dimensions_;
    /// Where each 64th string of an array starts.
    std::vector<std::uint32_t> string_marks_;
    /// Positions in entries_ and metadata_, ordered by name and key. Sorted rather than hashed: no choice of names
    /// makes a search slow.
    std::vector<std::uint32_t> by_name_;
    std::vector<std::uint32_t> by_key_;
};

}  // namespace hurray

// The header of a safetensors file, parsed and checked against the size of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/file_bytes.hpp"
#include "core/hurray/io/safetensors/safetensors_dtype.hpp"

namespace hurray {

/// What a header says. Takes a fixed number of bytes a tensor, dimension and character: at most a small multiple of the
/// header's own size.
class SafetensorsIndex {
public:
    /// A piece of text_.
    struct Text {
        std::uint32_t offset = 0;
        std::uint32_t length = 0;
    };
    struct Entry {
        /// Range of the data, relative to the data section.
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        Text name;
        std::uint32_t first_dimension = 0;
        std::uint8_t rank = 0;
        /// Position in safetensors_dtypes().
        std::uint8_t dtype = 0;
    };
    struct MetadataEntry {
        Text key;
        Text value;
    };

    /// Bytes before the header: its length as a u64.
    static constexpr std::uint64_t prefix_size = 8;

    /// Parses the header at the start of a file.
    static Result<SafetensorsIndex> parse(const FileBytes& file, std::uint64_t header_limit);

    [[nodiscard]] std::uint64_t header_length() const noexcept { return header_length_; }
    /// Where the data section starts in the file.
    [[nodiscard]] std::uint64_t data_offset() const noexcept { return prefix_size + header_length_; }
    [[nodiscard]] std::span<const Entry> entries() const noexcept { return entries_; }
    [[nodiscard]] std::span<const MetadataEntry> metadata() const noexcept { return metadata_; }

    [[nodiscard]] std::string_view text(Text piece) const noexcept {
        return std::string_view(text_).substr(piece.offset, piece.length);
    }
    [[nodiscard]] std::span<const std::uint64_t> shape(const Entry& entry) const noexcept {
        return std::span(dimensions_).subspan(entry.first_dimension, entry.rank);
    }
    [[nodiscard]] static const SafetensorsDtype& dtype(const Entry& entry) noexcept {
        return safetensors_dtypes()[entry.dtype];
    }

    [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept;
    [[nodiscard]] std::optional<std::size_t> find_metadata(std::string_view key) const noexcept;

private:
    friend class SafetensorsHeaderHandler;

    Result<void> index_names();
    Result<void> index_metadata();
    Result<void> check_coverage(std::uint64_t data_size) const;

    std::uint64_t header_length_ = 0;
    std::vector<Entry> entries_;
    std::vector<MetadataEntry> metadata_;
    std::vector<std::uint64_t> dimensions_;
    /// All names, keys and values, one after the other.
    std::string text_;
    /// Positions in entries_ and metadata_, ordered by name and key. Sorted rather than hashed: no choice of names
    /// makes a search slow.
    std::vector<std::uint32_t> by_name_;
    std::vector<std::uint32_t> by_key_;
};

}  // namespace hurray

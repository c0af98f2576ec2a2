// The metadata section of a .hrry file: keys and typed values. (format: file, KV section)
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/metadata.hpp"

namespace hurray::hrry {

/// A section that was read and checked. Values are read from the bytes again when they are asked for: beside those, an
/// entry takes 32 bytes, and an array of strings or bytes a quarter of a byte for each element.
///
/// Thread rule: immutable.
class Metadata {
  public:
    Metadata() = default;
    /// @param bytes the whole section, at most 2^32-1 bytes; kept by reference
    /// @param offset where it lies in the file, for errors
    /// @errors invalid_format, with the offset of the field in the file
    static Result<Metadata> read(std::span<const std::byte> bytes, std::uint64_t offset);

    [[nodiscard]] std::uint64_t count() const noexcept { return entries_.size(); }
    /// @param i less than count()
    [[nodiscard]] std::string_view key(std::uint64_t i) const noexcept;
    [[nodiscard]] MetadataView value(std::uint64_t i) const noexcept;
    /// @param element less than the count of that value, which is an array
    [[nodiscard]] MetadataView element(std::uint64_t i, std::uint64_t element) const noexcept;
    [[nodiscard]] std::optional<std::uint64_t> find(std::string_view key) const noexcept;

  private:
    class Reader;

    struct Entry {
        std::uint32_t key_at = 0;
        std::uint16_t key_length = 0;
        MetadataType type = MetadataType::string;
        MetadataType element_type = MetadataType::string;
        /// Of the value behind its tag; of an array, of its first element.
        std::uint32_t value_at = 0;
        std::uint32_t elements = 0;
        /// Of an array of strings or bytes: the first of its marks.
        std::uint64_t first_mark = 0;
    };

    [[nodiscard]] std::string_view key_of(const Entry& entry) const noexcept;
    Result<void> order_keys(std::uint64_t offset);

    std::span<const std::byte> bytes_;
    std::vector<Entry> entries_;
    /// Where every 16th element of arrays of strings or bytes starts.
    std::vector<std::uint32_t> marks_;
    /// Entries ordered by key.
    std::vector<std::uint32_t> by_key_;
};

}  // namespace hurray::hrry

// The index of a .hrry file: names, and where in the file each tensor lies. (format: file, index section)
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/io/hrry/format.hpp"

namespace hurray::hrry {

struct IndexEntry {
    std::string_view name;
    std::uint64_t descriptor_offset = 0;
    std::uint32_t descriptor_length = 0;
    /// Of buffer 0.
    std::uint64_t data_offset = 0;
    /// From there to the end of the last buffer.
    std::uint64_t data_length = 0;

    [[nodiscard]] std::uint64_t descriptor_end() const noexcept { return descriptor_offset + descriptor_length; }
    [[nodiscard]] std::uint64_t end() const noexcept {
        return data_length == 0 ? descriptor_end() : data_offset + data_length;
    }
};

/// An index that was read and checked: every name is UTF-8 and there once, every descriptor and all data lie in the
/// tensor region, apart from one another. Entries are read from the bytes again when they are asked for: beside those,
/// a tensor takes 8 bytes, 4 more where the order of names is not that of the tensors, and 4 more where the index is
/// not sorted.
///
/// Thread rule: immutable.
class Index {
  public:
    /// Bytes of an entry beside its name.
    static constexpr std::uint64_t entry_size = 34;
    static constexpr std::uint32_t longest_name = 0xFFFF;

    /// What the rest of the file says about the index.
    struct Place {
        /// Of the index in the file.
        std::uint64_t offset = 0;
        /// Where the tensors end: the start of the metadata section, or of the index.
        std::uint64_t region_end = 0;
        std::uint32_t data_alignment = 0;
        std::uint64_t first_descriptor_offset = 0;
        bool sorted = false;
    };

    /// @param bytes the whole section; kept by reference
    /// @param mode strict: what lies between the tensors must be padding, no longer than up to the next multiple of
    ///     data_alignment
    /// @errors invalid_format, with the offset of the field in the file; limit_exceeded: more than 2^32-1 entries
    static Result<Index> read(std::span<const std::byte> bytes, const Place& place, Mode mode);

    /// The same after a check of the checksum, if the header says that there is one.
    /// @param trailer_offset where the trailer starts, for errors
    static Result<Index> read_checked(std::span<const std::byte> bytes, const Header& header, const Trailer& trailer,
                                      std::uint64_t trailer_offset, Mode mode);

    [[nodiscard]] std::uint64_t count() const noexcept { return at_.size(); }
    /// @param i less than count()
    [[nodiscard]] IndexEntry entry(std::uint64_t i) const noexcept;
    [[nodiscard]] std::optional<std::uint64_t> find(std::string_view name) const noexcept;

    /// The entry of the tensor that is the `position`-th in the file, which is the order of composites.
    [[nodiscard]] std::uint64_t at_position(std::uint64_t position) const noexcept {
        return by_offset_.empty() ? position : by_offset_[static_cast<std::size_t>(position)];
    }
    /// The reverse.
    [[nodiscard]] std::uint64_t position_of(std::uint64_t i) const noexcept;

    /// Where the index, an entry, and the fields of entry i lie in the file, for errors.
    [[nodiscard]] std::uint64_t offset() const noexcept { return place_.offset; }
    [[nodiscard]] std::uint64_t entry_offset(std::uint64_t i) const noexcept {
        return place_.offset + at_[static_cast<std::size_t>(i)];
    }
    [[nodiscard]] std::uint64_t length_field(std::uint64_t i) const noexcept;
    [[nodiscard]] std::uint64_t data_offset_field(std::uint64_t i) const noexcept;
    [[nodiscard]] std::uint64_t data_length_field(std::uint64_t i) const noexcept;

  private:
    Result<void> read_entries();
    Result<void> check_entry(std::uint64_t at, const IndexEntry& entry, Mode mode) const;
    Result<void> order_names();
    void order_offsets();
    Result<void> check_order(Mode mode) const;
    [[nodiscard]] std::string_view name(std::uint64_t i) const noexcept;
    /// Where the fields behind the name of an entry start in the section.
    [[nodiscard]] std::uint64_t fields_at(std::uint64_t i) const noexcept;

    std::span<const std::byte> bytes_;
    Place place_;
    Mode mode_ = Mode::strict;
    /// Where each entry starts in the section.
    std::vector<std::uint64_t> at_;
    /// Entries in the order of their tensors in the file; empty when that is the order of the index.
    std::vector<std::uint32_t> by_offset_;
    /// Entries by hash of the name, then by name; empty when the index is sorted.
    std::vector<std::uint32_t> by_hash_;
};

}  // namespace hurray::hrry

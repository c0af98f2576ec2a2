// The fixed parts of a .hrry file. (format: file)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/base/error.hpp"

namespace hurray::hrry {

inline constexpr std::array<char, 8> magic = {'H', 'R', 'R', 'Y', 'F', 'I', 'L', 'E'};
inline constexpr std::uint64_t header_size = 64;
inline constexpr std::uint64_t trailer_size = 40;
/// Of descriptors, the metadata section and the index.
inline constexpr std::uint64_t part_alignment = 8;
inline constexpr std::uint32_t least_data_alignment = 4096;
inline constexpr std::uint32_t greatest_data_alignment = std::uint32_t{2} << 20;
inline constexpr std::uint64_t unknown_count = ~std::uint64_t{0};

/// The bits of file_flags.
namespace file_flag {
inline constexpr std::uint32_t has_metadata = 1U << 0;
inline constexpr std::uint32_t sorted_index = 1U << 1;
inline constexpr std::uint32_t has_checksum = 1U << 2;
inline constexpr std::uint32_t all = has_metadata | sorted_index | has_checksum;
}  // namespace file_flag

/// `offset` rounded up to a multiple of `alignment`, a power of two; nothing when that is more than 2^64-1.
constexpr std::optional<std::uint64_t> round_up(std::uint64_t offset, std::uint64_t alignment) noexcept {
    const auto sum = checked_add(offset, alignment - 1);
    if (!sum) return std::nullopt;
    return *sum & ~(alignment - 1);
}

/// Whether `alignment` may be the data_buffer_alignment of a file.
constexpr bool is_data_alignment(std::uint32_t alignment) noexcept {
    return alignment >= least_data_alignment && alignment <= greatest_data_alignment &&
           (alignment & (alignment - 1)) == 0;
}

struct Header {
    std::uint32_t flags = 0;
    std::uint32_t data_alignment = least_data_alignment;
    std::uint64_t first_descriptor_offset = header_size;
    /// Not to be relied on.
    std::uint64_t count_hint = unknown_count;
};

struct Trailer {
    std::uint64_t index_offset = 0;
    std::uint64_t index_length = 0;
    /// Both 0 without a metadata section.
    std::uint64_t metadata_offset = 0;
    std::uint32_t metadata_length = 0;
    std::uint32_t index_checksum = 0;
};

/// Reads and checks the first 64 bytes of a file.
/// @errors invalid_magic; version_mismatch; invalid_format: any other field, with its offset
Result<Header> read_header(std::span<const std::byte, header_size> bytes);
void write_header(const Header& header, std::span<std::byte, header_size> out) noexcept;

/// Reads the last 40 bytes and checks them: that the sections lie between the header and the trailer, in order, and fit
/// the flags.
/// @param trailer_offset where they start
/// @errors invalid_magic; invalid_format, with the offset of the field
Result<Trailer> read_trailer(std::span<const std::byte, trailer_size> bytes, std::uint64_t trailer_offset,
                             const Header& header);
void write_trailer(const Trailer& trailer, std::span<std::byte, trailer_size> out) noexcept;

}  // namespace hurray::hrry

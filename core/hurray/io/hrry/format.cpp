#include "core/hurray/io/hrry/format.hpp"

#include <algorithm>
#include <cstring>

#include "core/hurray/base/endian.hpp"

namespace hurray::hrry {
namespace {

using ull = unsigned long long;

constexpr std::array<char, 4> trailer_magic = {'H', 'R', 'R', 'Y'};
constexpr std::uint8_t version_major = 1;

// Where the fields lie.
constexpr std::size_t flags_at = 12;
constexpr std::size_t data_alignment_at = 16;
constexpr std::size_t first_descriptor_at = 20;
constexpr std::size_t count_hint_at = 28;
constexpr std::size_t header_reserved_at = 36;

constexpr std::size_t index_length_at = 8;
constexpr std::size_t metadata_offset_at = 16;
constexpr std::size_t metadata_length_at = 24;
constexpr std::size_t checksum_at = 28;
constexpr std::size_t trailer_reserved_at = 32;
constexpr std::size_t trailer_magic_at = 36;

std::unexpected<Error> reserved_byte(std::uint64_t offset, const char* part, std::byte value) {
    return fail(Status::invalid_format, offset, "%s: reserved byte: expected 00, got %02X", part,
                std::to_integer<unsigned>(value));
}

Result<void> check_zero(std::span<const std::byte> bytes, std::uint64_t offset, const char* part) {
    const auto found = std::ranges::find_if(bytes, [](std::byte byte) { return byte != std::byte{0}; });
    if (found == bytes.end()) return {};
    return reserved_byte(offset + static_cast<std::uint64_t>(found - bytes.begin()), part, *found);
}

// The metadata section: there when the trailer says so, whatever the flag says (other writers forget it).
Result<void> check_metadata(const Trailer& trailer, std::uint64_t trailer_offset, const Header& header) {
    const std::uint64_t offset_at = trailer_offset + metadata_offset_at;
    const std::uint64_t length_at = trailer_offset + metadata_length_at;
    if ((header.flags & file_flag::has_metadata) != 0 && trailer.metadata_offset == 0) {
        return fail(Status::invalid_format, offset_at,
                    "kv_offset: expected a metadata section, as flag bit 0 says, got 0");
    }
    if (trailer.metadata_offset == 0) {
        if (trailer.metadata_length == 0) return {};
        return fail(Status::invalid_format, length_at, "kv_length: expected 0 as kv_offset is 0, got %u",
                    trailer.metadata_length);
    }
    if (trailer.metadata_offset % part_alignment != 0) {
        return fail(Status::invalid_format, offset_at, "kv_offset: expected a multiple of 8, got %llu",
                    static_cast<ull>(trailer.metadata_offset));
    }
    if (trailer.metadata_offset < header.first_descriptor_offset || trailer.metadata_offset > trailer.index_offset) {
        return fail(
            Status::invalid_format, offset_at,
            "kv_offset: expected the section between the tensors, which start at %llu, and the index at %llu, got %llu",
            static_cast<ull>(header.first_descriptor_offset), static_cast<ull>(trailer.index_offset),
            static_cast<ull>(trailer.metadata_offset));
    }
    // A count at least.
    if (trailer.metadata_length < sizeof(std::uint32_t) ||
        trailer.metadata_length > trailer.index_offset - trailer.metadata_offset) {
        return fail(Status::invalid_format, length_at,
                    "kv_length: expected 4 to %llu bytes, which is where the index starts, got %u",
                    static_cast<ull>(trailer.index_offset - trailer.metadata_offset), trailer.metadata_length);
    }
    return {};
}

}  // namespace

Result<Header> read_header(std::span<const std::byte, header_size> bytes) {
    if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) {
        return fail(Status::invalid_magic, 0, "magic: expected HRRYFILE");
    }
    const auto major = std::to_integer<unsigned>(bytes[8]);
    if (major != version_major) {
        return fail(Status::version_mismatch, 8, "container_version_major: expected 1, got %u", major);
    }
    if (auto checked = check_zero(bytes.subspan(10, 2), 10, "header"); !checked)
        return std::unexpected(checked.error());
    Header header;
    header.flags = load_le<std::uint32_t>(&bytes[flags_at]);
    header.data_alignment = load_le<std::uint32_t>(&bytes[data_alignment_at]);
    header.first_descriptor_offset = load_le<std::uint64_t>(&bytes[first_descriptor_at]);
    header.count_hint = load_le<std::uint64_t>(&bytes[count_hint_at]);
    if ((header.flags & ~file_flag::all) != 0) {
        return fail(Status::invalid_format, flags_at, "file_flags: expected bits 0 to 2 only, got %08X", header.flags);
    }
    if (!is_data_alignment(header.data_alignment)) {
        return fail(Status::invalid_format, data_alignment_at,
                    "data_buffer_alignment: expected a power of two from 4096 to 2097152, got %u",
                    header.data_alignment);
    }
    if (header.first_descriptor_offset < header_size || header.first_descriptor_offset % part_alignment != 0) {
        return fail(Status::invalid_format, first_descriptor_at,
                    "first_descriptor_offset: expected a multiple of 8, at least 64, got %llu",
                    static_cast<ull>(header.first_descriptor_offset));
    }
    if (auto checked = check_zero(bytes.subspan(header_reserved_at), header_reserved_at, "header"); !checked) {
        return std::unexpected(checked.error());
    }
    return header;
}

void write_header(const Header& header, std::span<std::byte, header_size> out) noexcept {
    std::ranges::fill(out, std::byte{0});
    std::memcpy(out.data(), magic.data(), magic.size());
    out[8] = std::byte{version_major};
    store_le(&out[flags_at], header.flags);
    store_le(&out[data_alignment_at], header.data_alignment);
    store_le(&out[first_descriptor_at], header.first_descriptor_offset);
    store_le(&out[count_hint_at], header.count_hint);
}

Result<Trailer> read_trailer(std::span<const std::byte, trailer_size> bytes, std::uint64_t trailer_offset,
                             const Header& header) {
    if (std::memcmp(&bytes[trailer_magic_at], trailer_magic.data(), trailer_magic.size()) != 0) {
        return fail(Status::invalid_magic, trailer_offset + trailer_magic_at,
                    "trailer_magic: expected HRRY in the last 4 bytes: the file is cut short, or not a .hrry file");
    }
    Trailer trailer;
    trailer.index_offset = load_le<std::uint64_t>(bytes.data());
    trailer.index_length = load_le<std::uint64_t>(&bytes[index_length_at]);
    trailer.metadata_offset = load_le<std::uint64_t>(&bytes[metadata_offset_at]);
    trailer.metadata_length = load_le<std::uint32_t>(&bytes[metadata_length_at]);
    trailer.index_checksum = load_le<std::uint32_t>(&bytes[checksum_at]);
    if (trailer.index_offset < header.first_descriptor_offset || trailer.index_offset > trailer_offset ||
        trailer.index_offset % part_alignment != 0) {
        return fail(Status::invalid_format, trailer_offset,
                    "index_offset: expected a multiple of 8 from %llu, where the tensors start, to %llu, got %llu",
                    static_cast<ull>(header.first_descriptor_offset), static_cast<ull>(trailer_offset),
                    static_cast<ull>(trailer.index_offset));
    }
    if (trailer.index_length < sizeof(std::uint64_t) || trailer.index_length > trailer_offset - trailer.index_offset) {
        return fail(Status::invalid_format, trailer_offset + index_length_at,
                    "index_length: expected 8 to %llu bytes, which is where the trailer starts, got %llu",
                    static_cast<ull>(trailer_offset - trailer.index_offset), static_cast<ull>(trailer.index_length));
    }
    if (auto checked = check_metadata(trailer, trailer_offset, header); !checked)
        return std::unexpected(checked.error());
    if ((header.flags & file_flag::has_checksum) == 0 && trailer.index_checksum != 0) {
        return fail(Status::invalid_format, trailer_offset + checksum_at,
                    "index_crc32c: expected 0 without flag bit 2, got %08X", trailer.index_checksum);
    }
    if (auto checked =
            check_zero(bytes.subspan(trailer_reserved_at, 4), trailer_offset + trailer_reserved_at, "trailer");
        !checked) {
        return std::unexpected(checked.error());
    }
    return trailer;
}

void write_trailer(const Trailer& trailer, std::span<std::byte, trailer_size> out) noexcept {
    std::ranges::fill(out, std::byte{0});
    store_le(out.data(), trailer.index_offset);
    store_le(&out[index_length_at], trailer.index_length);
    store_le(&out[metadata_offset_at], trailer.metadata_offset);
    store_le(&out[metadata_length_at], trailer.metadata_length);
    store_le(&out[checksum_at], trailer.index_checksum);
    std::memcpy(&out[trailer_magic_at], trailer_magic.data(), trailer_magic.size());
}

}  // namespace hurray::hrry

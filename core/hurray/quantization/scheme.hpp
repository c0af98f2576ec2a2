// The quantization schemes as a table: a scheme is a file with its row and its line in scheme.cpp.
// (format: quantization)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/hurray/quantization/fields.hpp"

namespace hurray {

/// What a scheme's payload consists of behind its first 4 bytes (scheme, version, flags).
enum class SchemeField : std::uint8_t {
    scale,
    zero_point,
    axis,
    block_size,
    scale_buffer,
    zero_point_buffer,
    scale_type,
    /// Bytes that must be 0.
    reserved,
};

inline constexpr std::size_t scheme_field_count = 8;

/// A field and its place in the payload, in bytes.
struct SchemeFieldPlace {
    SchemeField field;
    std::uint8_t offset;
    std::uint8_t size;
};

/// Bytes of scheme, version and flags, which every payload starts with.
inline constexpr std::uint32_t scheme_header_size = 4;
/// The version of every scheme of format 1.0.
inline constexpr std::uint8_t scheme_version = 1;

/// The offset of each field, in the order of SchemeField; 0 for those that are not among the places.
constexpr std::array<std::uint8_t, scheme_field_count> offsets_of(std::span<const SchemeFieldPlace> places) noexcept {
    std::array<std::uint8_t, scheme_field_count> offsets{};
    for (const SchemeFieldPlace& place : places) offsets[static_cast<std::size_t>(place.field)] = place.offset;
    return offsets;
}

/// One scheme.
struct QuantizationScheme {
    std::uint8_t tag;
    const char* name;
    /// Bytes of the payload without padding.
    std::uint32_t size;
    /// The flags that it defines.
    std::uint16_t flags;
    /// In wire order, and the offset of each (see offsets_of).
    std::span<const SchemeFieldPlace> fields;
    std::array<std::uint8_t, scheme_field_count> offsets;
    /// Type tags of the elements that it can be applied to, and the same in words.
    std::span<const std::uint8_t> storage_types;
    const char* storage_type_names;
    /// Type tags of the array of scales; the only one when the payload does not name it.
    std::span<const std::uint8_t> scale_types;
    /// Limits of block_size, a power of two.
    std::uint32_t least_block = 0;
    std::uint32_t largest_block = 0;
    /// Whether the axis must consist of whole blocks, of one at least.
    bool whole_blocks_only = false;

    /// Where a field starts in the payload; 0 for one that the scheme does not have.
    [[nodiscard]] std::uint8_t offset_of(SchemeField field) const noexcept {
        return offsets[static_cast<std::size_t>(field)];
    }
    [[nodiscard]] bool has(SchemeField field) const noexcept { return offset_of(field) != 0; }
    [[nodiscard]] bool has_blocks() const noexcept { return least_block != 0; }
};

extern const QuantizationScheme per_tensor_affine_scheme;
extern const QuantizationScheme per_channel_affine_scheme;
extern const QuantizationScheme per_block_affine_scheme;
extern const QuantizationScheme nf4_scheme;
extern const QuantizationScheme mxfp_scheme;

/// The row of a tag; null for tags that are invalid, reserved or private.
const QuantizationScheme* find_scheme(std::uint8_t tag) noexcept;

/// Reads the fields of a payload.
/// @param scheme null for a private one
/// @param payload at least the scheme's size, or 4 bytes
QuantizationFields read_scheme_fields(const QuantizationScheme* scheme, std::span<const std::byte> payload) noexcept;

/// Bytes that write_scheme_fields writes.
std::uint64_t payload_size(const QuantizationFields& fields) noexcept;

/// Writes the payload of the fields: of a scheme that is neither known nor private the first 4 bytes.
/// @param payload of payload_size(fields) bytes
void write_scheme_fields(const QuantizationFields& fields, std::span<std::byte> payload) noexcept;

}  // namespace hurray

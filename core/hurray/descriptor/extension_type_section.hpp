// The description of a private element type. (format: extension type section)
//
// Words: the 20 bytes of the section as little-endian numbers: bit_width and the four bytes behind it; the next eight
// bytes; the last four.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/hurray/descriptor/section.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {

/// What a private type is made of. The fields of floating-point types are 0 for integers.
struct ExtensionTypeFields {
    /// Bits of an element: 1, 2, 4, or a multiple of 8.
    std::uint32_t bit_width = 0;
    /// Elements in a byte: 8 / bit_width, or 1 for types of whole bytes.
    std::uint8_t packing_factor = 1;
    bool is_float = false;
    /// Of integers.
    bool is_signed = false;
    std::uint8_t sign_bits = 0;
    std::uint8_t exponent_bits = 0;
    std::uint8_t mantissa_bits = 0;
    std::uint32_t exponent_bias = 0;
    bool has_nan = false;
    bool has_inf = false;

    friend bool operator==(const ExtensionTypeFields&, const ExtensionTypeFields&) = default;
};

/// Bytes of the section.
inline constexpr std::uint32_t extension_type_size = 20;

/// The extension type section of a decoded descriptor; nothing when it has none.
///
/// Thread rule: any thread.
std::optional<ExtensionTypeFields> extension_type_fields(const Descriptor& descriptor) noexcept;

/// How the elements of a decoded descriptor are packed, those of private types, too.
///
/// Thread rule: any thread.
ElementTypeInfo element_type_info(const Descriptor& descriptor) noexcept;

/// As above for a section that comes later on the wire than it is needed. Of a section that will be refused nothing is
/// known: elements of no size then, so that what is wrong with it is what is reported.
/// @param section its extension_type_size bytes; null when the descriptor ends before
ElementTypeInfo peek_element_type_info(std::uint8_t tag, const std::byte* section) noexcept;

/// The section's words of the fields, which are not checked.
std::array<std::uint64_t, 3> extension_type_words(const ExtensionTypeFields& fields) noexcept;

extern const SectionCodec extension_type_codec;

}  // namespace hurray

// Element types: what each type tag means and how its elements are packed. (format: element types)
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/base/error.hpp"

namespace hurray {

enum class ElementKind : std::uint8_t {
    boolean,
    signed_integer,
    unsigned_integer,
    floating_point,
    /// A power of two without sign or mantissa (float8_e8m0).
    exponent,
    /// Two floating-point numbers, real part first.
    complex,
};

/// One element type. Elements are packed in groups: 2^group_shift elements fill exactly group_bytes bytes, with the
/// first element in the least significant bits. A type of whole bytes is a group of its own.
struct ElementTypeInfo {
    std::uint8_t tag;
    const char* name;
    /// Bits of one element.
    std::uint32_t bits;
    /// Natural alignment in bytes: the width; that of one half for complex types, 1 for packed ones.
    std::uint32_t alignment;
    ElementKind kind;
    /// Binary logarithm of the elements in a group.
    std::uint8_t group_shift;
    /// Bytes of a group.
    std::uint32_t group_bytes;
};

/// The type of each tag, see element_type_info for those of private tags; null for tags that are invalid, reserved or private.
extern const std::array<const ElementTypeInfo*, 256> element_type_of_tag;

/// The type of a tag; null for tags that are invalid, reserved or private.
inline const ElementTypeInfo* find_element_type(std::uint8_t tag) noexcept {
    return element_type_of_tag[tag];
}

/// Private tags describe themselves in the extension section.
constexpr bool is_private_element_type(std::uint8_t tag) noexcept {
    return tag >= 0xF0 && tag <= 0xFE;
}

/// Groups that `count` elements fill, the last one perhaps in part.
constexpr std::uint64_t packed_groups(const ElementTypeInfo& type, std::uint64_t count) noexcept {
    const std::uint64_t in_last = count & ((std::uint64_t{1} << type.group_shift) - 1);
    return (count >> type.group_shift) + (in_last != 0 ? 1 : 0);
}

/// Bytes that `count` elements take, packed without gaps; nothing when those are more than 2^64-1.
constexpr std::optional<std::uint64_t> packed_size(const ElementTypeInfo& type, std::uint64_t count) noexcept {
    return checked_mul(packed_groups(type, count), type.group_bytes);
}

/// As packed_size, with an error that says what was too much.
/// @errors invalid_layout: more than 2^64-1 bytes
Result<std::uint64_t> packed_byte_size(const ElementTypeInfo& type, std::uint64_t count);

/// As above, by tag.
/// @errors invalid_type: not a known tag
Result<std::uint64_t> packed_byte_size(std::uint8_t tag, std::uint64_t count);

}  // namespace hurray

#include "core/hurray/descriptor/extension_type_section.hpp"

#include <algorithm>
#include <bit>

namespace hurray {
namespace {

constexpr std::uint32_t bit_width_at = 0;
constexpr std::size_t word_count = 3;

enum Byte : std::uint32_t {
    packing_factor_at = 4,
    is_float_at = 5,
    is_signed_at = 6,
    sign_bits_at = 7,
    exponent_bits_at = 8,
    mantissa_bits_at = 9,
    reserved_at = 10,
    exponent_bias_at = 12,
    has_nan_at = 16,
    has_inf_at = 17,
    reserved2_at = 18,
};

const char* name_of(std::uint32_t at) {
    switch (at) {
        case packing_factor_at:
            return "packing_factor";
        case is_float_at:
            return "is_float";
        case is_signed_at:
            return "is_signed";
        case sign_bits_at:
            return "sign_bits";
        case exponent_bits_at:
            return "exponent_bits";
        case mantissa_bits_at:
            return "mantissa_bits";
        case has_nan_at:
            return "has_nan";
        case has_inf_at:
            return "has_inf";
        default:
            return "extension_type reserved";
    }
}

bool is_right_width(std::uint32_t bits) {
    return bits >= 8 ? bits % 8 == 0 : bits == 1 || bits == 2 || bits == 4;
}

unsigned byte_at(const std::byte* section, std::uint32_t at) {
    return static_cast<unsigned>(section[at]);
}

// The largest value that one of the bytes may have, given the fields before it.
unsigned largest(const std::byte* section, std::uint32_t at) {
    const bool is_float = byte_at(section, is_float_at) != 0;
    switch (at) {
        case is_float_at:
            return 1;
        case is_signed_at:
            return is_float ? 0 : 1;
        case sign_bits_at:
        case has_nan_at:
        case has_inf_at:
            return is_float ? 1 : 0;
        case exponent_bits_at:
        case mantissa_bits_at:
            return is_float ? 0xFF : 0;
        default:
            return 0;
    }
}

Result<void> check_byte(const std::byte* section, std::uint32_t at, std::uint64_t offset) {
    const unsigned value = byte_at(section, at);
    if (at == packing_factor_at) {
        const std::uint32_t bits = load_le<std::uint32_t>(section);
        const unsigned expected = bits >= 8 ? 1 : 8 / bits;
        if (value == expected) return {};
        return fail(Status::invalid_type, offset, "packing_factor: expected %u for a bit_width of %u, got %u", expected,
                    bits, value);
    }
    const unsigned most = largest(section, at);
    if (value <= most) return {};
    const char* kind = byte_at(section, is_float_at) != 0 ? "a floating-point type" : "an integer type";
    return fail(Status::invalid_type, offset, "%s: expected %s for %s, got %u", name_of(at), most == 0 ? "0" : "0 or 1",
                kind, value);
}

// Walks the fields of a section of which `present` bytes are there; that it ends early is the last fault.
Result<void> check_section(const std::byte* section, std::uint32_t present, std::uint64_t offset) {
    if (present < 4) return truncated_field("bit_width", offset, 4, present);
    const std::uint32_t bits = load_le<std::uint32_t>(section);
    if (!is_right_width(bits)) {
        return fail(Status::invalid_type, offset + bit_width_at,
                    "bit_width: expected 1, 2, 4 or a multiple of 8, got %u", bits);
    }
    for (std::uint32_t at = packing_factor_at; at < extension_type_size; ++at) {
        if (at == exponent_bias_at) {
            if (present < at + 4) return truncated_field("exponent_bias", offset + at, 4, present - at);
            const std::uint32_t bias = load_le<std::uint32_t>(section + at);
            if (bias != 0 && byte_at(section, is_float_at) == 0) {
                return fail(Status::invalid_type, offset + at, "exponent_bias: expected 0 for an integer type, got %u",
                            bias);
            }
            at += 3;
            continue;
        }
        if (present <= at) return truncated_field(name_of(at), offset + at, 1, 0);
        if (auto checked = check_byte(section, at, offset + at); !checked) return checked;
    }
    return {};
}

std::uint32_t encoded_size(std::uint32_t, std::span<const std::uint64_t>) {
    return extension_type_size;
}

Result<void> decode_section(WireReader& in, DescriptorAssembler& out) {
    const std::uint32_t present = std::min(extension_type_size, in.remaining());
    if (auto checked = check_section(in.here(), present, in.offset()); !checked) [[unlikely]]
        return checked;
    // Four bytes more than the section, and the sections that follow need their room, too.
    out.ensure(in.remaining() + 4);
    std::uint64_t* words = out.claim_words(word_count);
    words[0] = load_le<std::uint64_t>(in.here());
    words[1] = load_le<std::uint64_t>(in.here() + 8);
    words[2] = load_le<std::uint32_t>(in.here() + 16);
    in.skip(extension_type_size);
    return {};
}

void encode_section(std::uint32_t, std::span<const std::uint64_t> words, WireWriter& out) {
    out.u64(words[0]);
    out.u64(words[1]);
    out.u32(static_cast<std::uint32_t>(words[2]));
}

std::uint8_t byte_of(std::uint64_t word, int index) {
    return static_cast<std::uint8_t>(word >> (8 * index));
}

std::uint64_t byte_in(std::uint8_t value, int index) {
    return std::uint64_t{value} << (8 * index);
}

ElementTypeInfo info_of(std::uint8_t tag, std::uint32_t bits, bool is_float, bool is_signed) noexcept {
    const std::uint32_t bytes = bits / 8;
    const ElementKind kind = is_float    ? ElementKind::floating_point
                             : is_signed ? ElementKind::signed_integer
                                         : ElementKind::unsigned_integer;
    return {.tag = tag,
            .name = "private_type",
            .bits = bits,
            .alignment = std::has_single_bit(bytes) ? bytes : 1,
            .kind = kind,
            .group_shift = static_cast<std::uint8_t>(bits >= 8 ? 0 : std::countr_zero(8 / bits)),
            .group_bytes = bits >= 8 ? bytes : 1};
}

}  // namespace

std::optional<ExtensionTypeFields> extension_type_fields(const Descriptor& descriptor) noexcept {
    const auto words = descriptor.section_words(descriptor_flag::extension_type);
    if (words.empty()) return std::nullopt;
    return ExtensionTypeFields{.bit_width = static_cast<std::uint32_t>(words[0]),
                               .packing_factor = byte_of(words[0], 4),
                               .is_float = byte_of(words[0], 5) != 0,
                               .is_signed = byte_of(words[0], 6) != 0,
                               .sign_bits = byte_of(words[0], 7),
                               .exponent_bits = byte_of(words[1], 0),
                               .mantissa_bits = byte_of(words[1], 1),
                               .exponent_bias = static_cast<std::uint32_t>(words[1] >> 32),
                               .has_nan = byte_of(words[2], 0) != 0,
                               .has_inf = byte_of(words[2], 1) != 0};
}

ElementTypeInfo element_type_info(const Descriptor& descriptor) noexcept {
    if (const ElementTypeInfo* known = find_element_type(descriptor.element_type())) return *known;
    const auto fields = extension_type_fields(descriptor);
    if (!fields) return peek_element_type_info(descriptor.element_type(), nullptr);
    return info_of(descriptor.element_type(), fields->bit_width, fields->is_float, fields->is_signed);
}

ElementTypeInfo peek_element_type_info(std::uint8_t tag, const std::byte* section) noexcept {
    const std::uint32_t bits = section == nullptr ? 0 : load_le<std::uint32_t>(section);
    if (bits == 0 || !is_right_width(bits)) {
        return {.tag = tag,
                .name = "private_type",
                .bits = 0,
                .alignment = 1,
                .kind = ElementKind::unsigned_integer,
                .group_shift = 0,
                .group_bytes = 0};
    }
    return info_of(tag, bits, byte_at(section, is_float_at) != 0, byte_at(section, is_signed_at) != 0);
}

std::array<std::uint64_t, word_count> extension_type_words(const ExtensionTypeFields& fields) noexcept {
    return {
        std::uint64_t{fields.bit_width} | byte_in(fields.packing_factor, 4) | byte_in(fields.is_float, 5) |
            byte_in(fields.is_signed, 6) | byte_in(fields.sign_bits, 7),
        byte_in(fields.exponent_bits, 0) | byte_in(fields.mantissa_bits, 1) | std::uint64_t{fields.exponent_bias} << 32,
        byte_in(fields.has_nan, 0) | byte_in(fields.has_inf, 1)};
}

const SectionCodec extension_type_codec = {encoded_size, decode_section, encode_section};

}  // namespace hurray

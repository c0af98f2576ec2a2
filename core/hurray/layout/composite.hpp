// Composite heads: a shape and a type without data of their own, and the number of tensors that follow as their
// members. (format: composite)
//
// Layout words: one, of composition_rule (bits 0 to 7), combine_op (bits 8 to 15) and member_count (the high half).
#pragma once

#include <cstdint>

#include "core/hurray/layout/layout.hpp"

namespace hurray {

extern const LayoutCodec composite_codec;

/// How members make up the head.
namespace composition_rule {
inline constexpr std::uint8_t partition = 0x01;
inline constexpr std::uint8_t overlay = 0x02;
inline constexpr std::uint8_t group = 0x03;
/// The first and the last of the private rules, which are agreed upon outside the format.
inline constexpr std::uint8_t private_first = 0xF0;
inline constexpr std::uint8_t private_last = 0xFE;
}  // namespace composition_rule

constexpr bool is_private_composition_rule(std::uint8_t rule) noexcept {
    return rule >= composition_rule::private_first && rule <= composition_rule::private_last;
}

/// What a correction of an overlay does to what lies below it; none for other rules.
namespace combine_op {
inline constexpr std::uint8_t none = 0x00;
inline constexpr std::uint8_t replace = 0x01;
inline constexpr std::uint8_t add = 0x02;
}  // namespace combine_op

struct CompositeFields {
    /// See composition_rule.
    std::uint8_t rule = 0;
    /// See combine_op; of a private rule it may be anything.
    std::uint8_t combine_op = 0;
    /// Tensors that follow the head, its own members only: those of a member that is a head itself follow that one.
    /// An overlay has one at least.
    std::uint32_t member_count = 0;

    friend bool operator==(const CompositeFields&, const CompositeFields&) = default;
};

/// All 0 for other layouts.
inline CompositeFields composite_fields(const Descriptor& descriptor) noexcept {
    if (descriptor.layout() != layout_tag::composite) return {};
    const std::uint64_t word = descriptor.layout_words()[0];
    return {.rule = static_cast<std::uint8_t>(word),
            .combine_op = static_cast<std::uint8_t>(word >> 8),
            .member_count = static_cast<std::uint32_t>(word >> 32)};
}

/// The layout word of the fields.
constexpr std::uint64_t composite_word(const CompositeFields& fields) noexcept {
    return fields.rule | std::uint64_t{fields.combine_op} << 8 | std::uint64_t{fields.member_count} << 32;
}

}  // namespace hurray

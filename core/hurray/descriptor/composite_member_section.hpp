// The part that a tensor plays in an overlay. (format: composite member section)
//
// Words: the role, and 0.
#pragma once

#include <cstdint>
#include <optional>

#include "core/hurray/descriptor/section.hpp"

namespace hurray {

enum class MemberRole : std::uint8_t {
    correction = 0,
    /// The tensor that the corrections apply to.
    base = 1,
};

struct CompositeMemberFields {
    MemberRole role = MemberRole::correction;

    friend bool operator==(const CompositeMemberFields&, const CompositeMemberFields&) = default;
};

/// The composite member section of a decoded descriptor; nothing when it has none.
///
/// Thread rule: any thread.
std::optional<CompositeMemberFields> composite_member_fields(const Descriptor& descriptor) noexcept;

extern const SectionCodec composite_member_codec;

}  // namespace hurray
